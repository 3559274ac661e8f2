"""The models that are fine-tuned: T5, T5 after restoration, and after as many updates of each control."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.planning import paths
from reprlab.planning.language_model_jobs import (
    add_pretraining_run,
    add_sentences,
    add_tokens,
    add_trained_tokenizer,
)
from reprlab.planning.plan import Job, Plan
from reprlab.planning.seq2seq_jobs import add_answers, add_pair_scores, add_pair_training, add_pairs
from reprlab.planning.shared_jobs import add_model
from reprlab.results.sources import Missing, Source, Value, rivals
from reprlab.runtime.errors import ReprlabError
from reprlab.settings.base import derive
from reprlab.structure.pair_scores import MODEL
from reprlab.structure.seq2seq_settings import ChatAnswers, GenerationSettings, PairSettings, PairTraining
from reprlab.text.token_settings import TokenStorageSettings
from reprlab.text.tokenizers import TokenizerSettings
from reprlab.training.settings import EngineSettings, OptimizerSettings, PretrainSettings, ScheduleSettings

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.papers.punctuation_restoration.schema import PunctuationRestorationSettings

SLUG, NAME = "punctuation-restoration", "punctuation_restoration"


@dataclass(frozen=True)
class Init:
    """A model before it is fine-tuned."""

    made_in: str
    """Folder that a rule depends on: a model's, or a ladder's."""
    step: int | None
    """Step of the ladder; None: it is a model."""

    @property
    def model(self) -> str:
        return self.made_in if self.step is None else f"{self.made_in}/{paths.checkpoint_name(self.step)}"


class Models:
    """Jobs up to the models, and the results on the way."""

    def __init__(self, plan: Plan, config: "LoadedConfig", paper: "PunctuationRestorationSettings") -> None:
        self.plan, self.config, self.paper = plan, config, paper
        self.dtype = config.arithmetic(paper.dtype)
        self.passages = self._passages()
        self.tokenizer = self._tokenizer()
        first = self._start(paper.compared)
        self.inits: dict[str, Init] = {"t5": first}
        self.restored: dict[str, dict[str, str]] = {}
        # Logs of the training before the tasks.
        self.logs: dict[str, str] = {}
        if self.passages:
            self.pairs = self._pairs()
            self.restored = {name: self._restoration(name) for name in paper.restored}
            after = self.restored[paper.compared]["out"]
            steps = paper.sizes[paper.compared].steps
            self.inits |= {"pr": Init(after, steps), "mlm": self._control(first)}
            control = paths.pretraining_metrics(f"{NAME}_{paper.compared}_mlm")
            self.logs = {"pr": self.restored[paper.compared]["metrics"], "mlm": control}
            if "copy" in paper.inits:
                copied = self._restoration(paper.compared, copied=True)
                self.inits["copy"], self.logs["copy"] = Init(copied["out"], steps), copied["metrics"]
        self.inits = {name: self.inits[name] for name in paper.inits if name in self.inits}

    def engine(self, recipe: Any, steps: int, ladder: list[int], seed: int, warmup_steps: int = 0) -> EngineSettings:
        """The loop of a recipe of the paper's settings."""
        return derive(
            EngineSettings,
            recipe,
            steps=steps,
            ladder=ladder,
            seed=seed,
            optimizer=derive(OptimizerSettings, recipe.optimizer, learning_rate=recipe.learning_rate),
            schedule=ScheduleSettings(name=recipe.schedule, warmup_steps=warmup_steps),
            dtype=self.dtype,
            log_every=max(steps // 40, 1),
        )

    def generation(self, step: int | None = None) -> GenerationSettings:
        """How answers are searched: of restoration at a step of its ladder, else of a fine-tuned model at its end.

        What restoration reads and writes is as long as what it is trained on, and all test excerpts are restored.
        """
        wanted, tuned, length = self.paper.generation, self.paper.finetuning, self.paper.restoration.length
        own: dict[str, Any] = (
            {"input_length": tuned.length, "max_length": wanted.length, "limit": tuned.scored}
            if step is None
            else {"input_length": length, "max_length": length}
        )
        return GenerationSettings(step=step, beams=wanted.beams, dtype=self.dtype, **own)

    def entries(self) -> list[Source | Missing]:
        """Entries of restoration, by size and update, and of a chat model."""
        paper, found = self.paper, list[Source | Missing]()
        chat: dict[str, Value] = {"part": "restoration", "size": "chat", "init": "chat"}
        asked = (
            f"the weights of {paper.zero_shot.chat.model} are not released; its answers cost money: set "
            f"papers.{SLUG}.zero_shot.enabled=true"
        )
        unasked = [] if paper.zero_shot.enabled else [Missing(factors=chat, reason=asked)]
        if not self.passages:
            absent: list[dict[str, Value]] = [{"part": "pairs", "task": "restoration"}]
            absent += [{"part": "restoration", "size": name} for name in paper.restored]
            return [*(Missing(factors=one, reason=paper.unavailable) for one in absent), *unasked]
        title = self.config.datasets.corpora[str(paper.corpus)].title
        text = str(paper.corpus)
        counted: dict[str, Value] = {"part": "pairs", "task": "restoration", "train_set": text, "eval_set": text}
        found.append(Source(path=Path(self.pairs["metrics"]), factors=counted, keys={"counted": "split"}, data=title))
        for init in (one for one in self.inits if one in self.logs):
            arm: dict[str, Value] = {"part": "arms", "init": init}
            log = Source(path=Path(self.logs[init]), factors=arm, keys={"update": "step"}, wide=["tokens"], data=title)
            found.append(log)
        for name, trained in self.restored.items():
            for step in paper.sizes[name].ladder:
                key = f"{NAME}_{name}/restoration/step{step}"
                answering = self.generation(step)
                scores = add_answers(
                    self.plan, key, self.pairs["out"], self.tokenizer, trained, answering, self.pairs["out"]
                )
                where: dict[str, Value] = {"part": "restoration", "size": name, "init": "pr", "update": step}
                found.append(_restored(scores, where, title))
        if paper.zero_shot.enabled:
            settings = ChatAnswers(chat=paper.zero_shot.chat, limit=paper.zero_shot.excerpts)
            key = f"restoration/{NAME}"
            job = Job({"pairs": self.pairs["out"]}, {"settings": settings})
            answers = self.plan.add("ask_seq2seq", key, job)["out"]
            scores = add_pair_scores(
                self.plan, f"{NAME}_chat/restoration/zero_shot", {"answers": answers, "seen": self.pairs["out"]}
            )
            found.append(_restored(scores, {**chat, "update": 0}, title))
        return [*found, *unasked]

    def _scratch(self, name: str) -> bool:
        return self.config.models[self.paper.sizes[name].model].origin.kind == "scratch"

    def _passages(self) -> str:
        if self.paper.corpus is None:
            return ""
        asked, cut = self.paper.excerpts, self.paper.segmentation
        limits: dict[str, Any] = {"least_characters": asked.characters, "limit": asked.documents}
        return add_sentences(self.plan, self.config, self.paper.corpus, NAME, cut, **limits)

    def _tokenizer(self) -> str:
        name, pieces = self.paper.sizes[self.paper.compared].model, self.paper.warm_start.pieces
        if not self._scratch(self.paper.compared):
            origin: Any = self.config.models[name].origin
            published = TokenizerSettings(
                source="model", pieces=pieces, model=origin.repository, revision=origin.revision
            )
            return add_trained_tokenizer(self.plan, f"{NAME}_{name}", "", published)
        if not self.passages:
            raise ReprlabError(
                f"papers.{SLUG}.corpus is null, but {name} is drawn at random and needs text; name a corpus of "
                "datasets.yaml"
            )
        settings = TokenizerSettings(source="trained", pieces=pieces)
        return add_trained_tokenizer(self.plan, NAME, self.passages, settings)

    def _start(self, name: str) -> Init:
        """T5 before restoration: published, or drawn at random and trained by span corruption."""
        model, wanted, recipe = self.paper.sizes[name].model, self.paper.warm_start, self.paper.restoration
        if not self._scratch(name):
            return Init(add_model(self.plan, self.config, model, seed=0), None)
        initial = add_model(self.plan, self.config, model, seed=self.config.workflow.seed, tokenizer=self.tokenizer)
        steps = wanted.steps
        engine = self.engine(recipe, steps, [steps], self.config.workflow.seed, wanted.warmup_steps).model_copy(
            update={
                "batch_size": wanted.batch_size,
                "accumulation": 1,
                "optimizer": derive(OptimizerSettings, recipe.optimizer, learning_rate=wanted.learning_rate),
            }
        )
        return self._corrupted(f"{NAME}_{name}_t5", engine, Init(initial, None), NAME, self.passages)

    def _control(self, start: Init) -> Init:
        """As many updates of span corruption as restoration has, on the excerpts that are restored and no others."""
        size, recipe = self.paper.sizes[self.paper.compared], self.paper.restoration
        engine = self.engine(recipe, size.steps, [size.steps], recipe.seed, recipe.warmup_steps)
        return self._corrupted(
            f"{NAME}_{self.paper.compared}_mlm", engine, start, f"{NAME}_excerpts", self.pairs["out"]
        )

    def _corrupted(self, name: str, engine: EngineSettings, start: Init, cell: str, text: str) -> Init:
        """Span corruption of `text`, passages or pairs, whose tokens are stored in `cell`."""
        length = self.paper.restoration.length
        stored = TokenStorageSettings(format="t5", max_length=length)
        tokens = add_tokens(self.plan, cell, text, self.tokenizer, stored)
        settings = PretrainSettings(
            objective="t5",
            objective_settings=self.paper.corruption.model_dump(),
            engine=engine,
            init_step=start.step,
            dropout=self.paper.restoration.dropout,
            input_length=length,
            target_length=length,
        )
        ladder = add_pretraining_run(
            self.plan, name, settings, tokens=tokens, tokenizer=self.tokenizer, init=start.made_in
        )
        return Init(ladder, engine.steps)

    def _pairs(self) -> dict[str, str]:
        words, limits = (
            self.paper.segmentation.passage_words,
            self.paper.excerpts.model_dump(exclude={"characters", "documents"}),
        )
        settings = PairSettings.model_validate({"tasks": ["restoration"], "words": words, "limits": limits})
        return add_pairs(self.plan, f"{self.paper.corpus}/{NAME}", [self.passages], self.tokenizer, settings)

    def _restoration(self, name: str, copied: bool = False) -> dict[str, str]:
        """Restoration of a size; `copied`: the same pairs, of which the source is written back."""
        size, recipe, start = self.paper.sizes[name], self.paper.restoration, self._start(name)
        settings = derive(
            PairTraining,
            recipe,
            engine=self.engine(recipe, size.steps, size.ladder, recipe.seed, recipe.warmup_steps),
            input_length=recipe.length,
            target_length=recipe.length,
            init_step=start.step,
            copied=copied,
        )
        resumed = self.paper.finetuning.course == "upstream_resume" and name == self.paper.compared and not copied
        return add_pair_training(
            self.plan,
            f"{NAME}_{name}/{'copying' if copied else 'restoration'}/s{recipe.seed}",
            self.pairs["out"],
            self.tokenizer,
            start.made_in,
            settings,
            keep_moments=resumed,
        )


def _restored(scores: str, factors: dict[str, Value], title: str) -> Source:
    about: dict[str, Value] = {**factors, "task": "restoration"}
    return Source(path=Path(scores), factors=about, where={"name": MODEL}, data=title, **rivals("restored", scores))
