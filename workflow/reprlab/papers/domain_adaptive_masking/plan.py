"""Plan of domain-adaptive masking: curriculum, continued pre-training by masking, held-out losses, named entities."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from reprlab.concepts.settings import BlockSettings
from reprlab.evaluation.settings import MetricName
from reprlab.papers.domain_adaptive_masking.claims import REPLAY
from reprlab.papers.domain_adaptive_masking.plan_curriculum import Curriculum, add_blocks, add_curriculum, thresholds
from reprlab.papers.domain_adaptive_masking.results import (
    MASKS,
    NONE,
    REPLAYED,
    RESULTS,
    SHARES,
    UNIGRAM,
    UNTRAINED,
)
from reprlab.papers.domain_adaptive_masking.schema import Masking
from reprlab.planning import paths
from reprlab.planning.cost_jobs import add_cost
from reprlab.planning.finetuning_jobs import add_finetuning_job, add_trivial
from reprlab.planning.language_model_jobs import (
    add_held_out,
    add_pretraining_run,
    add_scratch_text,
    add_sentences,
    held_out,
)
from reprlab.planning.plan import Job, Plan
from reprlab.planning.result_jobs import add_results
from reprlab.planning.shared_jobs import add_model, add_task
from reprlab.reporting.published import read_printed
from reprlab.results.sources import Missing, Source, Value
from reprlab.settings.base import derive
from reprlab.training.finetuning_settings import FinetuneSettings, TaskSettings
from reprlab.training.settings import (
    EngineSettings,
    EvaluationRun,
    OptimizerSettings,
    PretrainSettings,
    ReplaySettings,
    ScheduleSettings,
)

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.papers.domain_adaptive_masking.schema import DomainAdaptiveMaskingSettings

SLUG, NAME = "domain-adaptive-masking", "domain_adaptive_masking"
_SCORES: list[MetricName] = ["entity_f1", "entity_precision", "entity_recall"]
_LOSSES = ["loss_sum", "count", "correct", "total"]


def add_jobs(plan: Plan, config: "LoadedConfig") -> None:
    """Plan all of the paper at the config's scale."""
    paper = config.papers[SLUG]
    jobs = _Jobs(plan, config, paper)
    entries: list[Source | Missing] = []
    if paper.graph is None:
        entries.append(Missing(factors={"part": "curriculum"}, reason=paper.unavailable))
        entries += [Missing(factors={"masking": name}, reason=paper.unavailable) for name in (*paper.maskings, REPLAY)]
        runs = [_Run(NONE, 0, jobs.initial, "", 0)]
    else:
        runs = jobs.pretraining(entries)
        off = [name for name in get_args(Masking) if name not in paper.maskings]
        entries += [Missing(factors={"masking": name}, reason=f"off: not in papers.{SLUG}.maskings") for name in off]
    for task in paper.compared:
        entries += jobs.tagging(task, runs)
    options: dict[str, Any] = {
        "printed": {name: read_printed(config.root, SLUG, name) for name in ("table1", "table2", "statements")}
    }
    if paper.graph is not None:
        options["tokens_per_update"] = paper.pretraining.batch_size * paper.pretraining.length
        options["curriculum"] = thresholds(paper.curriculum).model_dump()
    add_results(plan, SLUG, RESULTS, entries, root=config.root, scale=config.scale, options=options)
    add_cost(plan, config, SLUG)


@dataclass(frozen=True)
class _Run:
    """A model before it is fine-tuned."""

    masking: str
    seed: int
    made_in: str
    """Folder that a rule depends on: a model's, or a ladder's."""
    name: str
    """Name of its ladder; empty: it has none."""
    steps: int
    replay: float = 0
    """Share of general text in what it reads, percent."""

    @property
    def arm(self) -> str:
        """Name of its masking and replay, which its seeds share."""
        return self.masking + (f"_{self.replay:g}".replace(".", "_") if self.replay else "")

    @property
    def model(self) -> str:
        return paths.checkpoint(self.name, self.steps) if self.name else self.made_in


class _Jobs:
    """The jobs, and the files that hold their results."""

    def __init__(self, plan: Plan, config: "LoadedConfig", paper: "DomainAdaptiveMaskingSettings") -> None:
        self.plan, self.config, self.paper = plan, config, paper
        self.dtype = config.arithmetic(paper.dtype)
        if config.models[paper.model].origin.kind == "scratch":
            _, self.tokenizer = add_scratch_text(
                plan,
                config,
                paper.warm_start.text,
                paper.model,
                setting=f"papers.{SLUG}.warm_start.text",
                passages=NAME,
                tokenizer=NAME,
                sentinels=1,
                sentence_tokens=1,
            )
            self.initial = add_model(plan, config, paper.model, seed=config.workflow.seed, tokenizer=self.tokenizer)
        else:
            self.initial = self.tokenizer = add_model(plan, config, paper.model, seed=config.workflow.seed)

    def pretraining(self, entries: list[Source | Missing]) -> list[_Run]:
        """Every masking of every seed from the same start; the results go to `entries`."""
        paper, recipe = self.paper, self.paper.pretraining
        blocks = BlockSettings(length=recipe.length, documents=paper.documents)
        curriculum = add_curriculum(self.plan, self.config, paper, self.tokenizer, blocks)
        entries += curriculum.entries
        start = self._general_run()
        # The start as a ladder of its own, so that every masking is evaluated in one way.
        runs = [self._run(NONE, 0, start, curriculum)]
        runs += [self._run(masking, seed, start, curriculum) for masking in paper.maskings for seed in recipe.seeds]
        replayed = self._replayed(start, curriculum, entries)
        for run in runs[1:]:
            about: dict[str, Value] = {"part": "training", "masking": run.masking, "pretraining_seed": run.seed}
            # Random tokens are in every batch.
            wide = [name for name in SHARES if name != "empty_share" or run.masking != "random"]
            entries.append(
                Source(
                    path=Path(paths.pretraining_metrics(run.name)),
                    factors=about,
                    keys={"step": "step"},
                    wide=["loss", *wide],
                    data=curriculum.title,
                )
            )
        entries += self._held_out([*runs, *replayed], curriculum)
        for masks in ("tokens", "concepts"):
            entries += self._controls(runs, masks, curriculum)
        untrained = self.config.models[paper.model].origin.kind == "scratch"
        return [*([_Run(UNTRAINED, 0, self.initial, "", 0)] if untrained else []), *runs]

    def _engine(
        self, steps: int, ladder: list[int], seed: int, schedule: ScheduleSettings, recipe: Any, **own: Any
    ) -> EngineSettings:
        return derive(
            EngineSettings,
            recipe,
            **own,
            steps=steps,
            ladder=ladder,
            seed=seed,
            schedule=schedule,
            dtype=self.dtype,
            log_every=max(steps // 20, 1),
        )

    def _settings(
        self, masking: str, engine: EngineSettings, init_step: int | None, shares: Any, length: int | None = None
    ) -> PretrainSettings:
        """`shares` say how much is masked: those of the training, or of the evaluation."""
        recipe = self.paper.pretraining
        if masking in ("concept", "random_span"):
            objective = "masked_concepts"
            own: dict[str, Any] = {
                "selection": "concepts" if masking == "concept" else "spans",
                "budget": shares.budget,
            }
        else:
            objective, own = "masked_lm", {"mask_probability": shares.mask_probability}
        tokens = length or recipe.length
        return PretrainSettings(
            objective=objective,
            objective_settings=own,
            engine=engine,
            init_step=init_step,
            input_length=tokens,
            target_length=tokens,
        )

    def _general_run(self) -> tuple[str, int | None]:
        """The start of continued pre-training: a published model, or the ladder of a run on general text."""
        if self.config.models[self.paper.model].is_complete:
            return self.initial, None
        wanted, recipe = self.paper.warm_start, self.paper.pretraining
        tokens = self._general(wanted.length)
        engine = self._engine(
            wanted.steps,
            [wanted.steps],
            self.config.workflow.seed,
            ScheduleSettings(name=recipe.schedule, warmup_steps=wanted.warmup_steps),
            wanted,
            optimizer=derive(OptimizerSettings, recipe.optimizer, learning_rate=wanted.learning_rate),
            accumulation=recipe.accumulation,
        )
        settings = self._settings("random", engine, None, recipe, wanted.length)
        ladder = add_pretraining_run(
            self.plan, f"{NAME}_general", settings, tokens=tokens, tokenizer=self.tokenizer, init=self.initial
        )
        return ladder, wanted.steps

    def _general(self, length: int) -> str:
        """Plan the general text in blocks of some tokens, as the warm start or the domain has; returns the file."""
        blocks = BlockSettings(length=length, documents=self.paper.documents)
        name = f"{NAME}_general" + (f"_{length}" if length != self.paper.warm_start.length else "")
        return add_blocks(self.plan, self.config, name, self.paper.general, self.tokenizer, blocks)

    def _replayed(
        self, start: tuple[str, int | None], curriculum: Curriculum, entries: list[Source | Missing]
    ) -> list[_Run]:
        """The paper's masking with each share of replay; what was read of it goes to `entries`."""
        shares = self.paper.neighbours.replay.shares if "concept" in self.paper.maskings else []
        if not shares:
            reason = f"off: no papers.{SLUG}.neighbours.replay.shares, or no masking that they stand beside"
            entries.append(Missing(factors={"part": "replay"}, reason=reason))
        seeds = self.paper.pretraining.seeds
        runs = [self._run(REPLAY, seed, start, curriculum, share) for share in shares for seed in seeds]
        entries += [
            Source(
                path=Path(paths.pretraining_metrics(run.name)),
                factors=self._beside(run, run.replay),
                keys={"step": "step"},
                wide=[*REPLAYED],
                data=curriculum.title,
            )
            for run in runs
        ]
        return runs

    @staticmethod
    def _beside(run: _Run, replay: float) -> dict[str, Value]:
        """Factors of a run with replay, or of the one without that stands beside it."""
        percent = int(replay) if replay == int(replay) else replay
        about: dict[str, Value] = {"part": "replay", "masking": run.masking, "replay": percent}
        return {**about, "pretraining_seed": run.seed, "seed": run.seed}

    def _run(
        self, masking: str, seed: int, start: tuple[str, int | None], curriculum: Curriculum, share: float = 0
    ) -> _Run:
        recipe = self.paper.pretraining
        steps = 0 if masking == NONE else recipe.steps
        schedule = ScheduleSettings(name=recipe.schedule, warmup_steps=recipe.warmup_steps)
        engine = self._engine(steps, recipe.ladder if steps else [0], seed, schedule, recipe)
        # Random tokens need no marks: another threshold does not train them again.
        settings = self._settings("concept" if share else masking, engine, start[1], recipe)
        tokens = curriculum.marked if settings.objective == "masked_concepts" else curriculum.blocks
        run, replay = _Run(masking, seed, "", "", steps, round(100 * share, 6)), ""
        if share:
            # General text has next to no concepts of the domain: its random tokens are masked, as when it was learned.
            own = {"mask_probability": recipe.mask_probability}
            asked = ReplaySettings(share=share, objective="masked_lm", objective_settings=own)
            settings, replay = settings.model_copy(update={"replay": asked}), self._general(recipe.length)
        name, given = f"{NAME}_{run.arm}_s{seed}", {"tokens": tokens, "init": start[0], "replay": replay}
        ladder = add_pretraining_run(self.plan, name, settings, tokenizer=self.tokenizer, **given)
        return dataclasses.replace(run, made_in=ladder, name=name)

    def _held_out(self, runs: list[_Run], curriculum: Curriculum) -> list[Source]:
        """Losses of every step on the same blocks of each kind, a job for each masking, whose cost is its own."""
        found = []
        for arm in dict.fromkeys(run.arm for run in runs):
            own = [run for run in runs if run.arm == arm]
            evaluated = {
                (run, masks): self._evaluated(run, masks, f"{run.name}_{masks}", curriculum)
                for run in own
                for masks in MASKS
            }
            table = Path(add_held_out(self.plan, f"{NAME}_{arm}", list(evaluated.values()), self.tokenizer))
            for (run, masks), one in evaluated.items():
                for about in self._places(run):
                    found.append(
                        Source(
                            path=table,
                            factors={**about, "masks": masks},
                            keys={"step": "step", "batch": "batch"},
                            where={"run": one.name},
                            wide=_LOSSES,
                            data=self._title(curriculum, masks),
                        )
                    )
        return found

    def _places(self, run: _Run) -> list[dict[str, Value]]:
        """Factors of the held-out losses of a run: it may stand in several places."""
        if run.replay:
            return [self._beside(run, run.replay)]
        about: dict[str, Value] = {"part": "held_out", "masking": run.masking}
        # The common start is beside every seed, the masking without replay beside each share of it.
        seeds = self.paper.pretraining.seeds if run.masking == NONE else [run.seed]
        shares = self.paper.neighbours.replay.shares if run.masking == "concept" else []
        beside = [self._beside(run, round(100 * share, 6)) for share in shares]
        return [*({**about, "pretraining_seed": seed} for seed in seeds), *beside]

    def _evaluated(self, run: _Run, masks: str, name: str, curriculum: Curriculum) -> EvaluationRun:
        """Losses of a run on one kind of held-out text, under a name."""
        masking, text = MASKS[masks]
        recipe, wanted = self.paper.pretraining, self.paper.held_out
        engine = self._engine(max(run.steps, 1), [], 0, ScheduleSettings(), recipe)
        # Shares of its own: runs that were trained with others are compared on the same masks.
        trained = self._settings(masking, engine, None, wanted)
        files = {"marked": curriculum.marked, "blocks": curriculum.blocks, "general": self._general(recipe.length)}
        own = {"batches": wanted.batches, "batch_size": wanted.batch_size}
        return held_out(name, run.name, trained, recipe.ladder if run.steps else [0], files[text], seed=0, **own)

    def _title(self, curriculum: Curriculum, masks: str) -> str:
        corpora = self.config.datasets.corpora
        return "; ".join(corpora[one].title for one in self.paper.general) if masks == "general" else curriculum.title

    def _controls(self, runs: list[_Run], masks: str, curriculum: Curriculum) -> list[Source]:
        """The same masks at the last step: by word frequencies alone, and by each model with its output bias refitted
        to what these masks hide in the training text."""
        evaluated = [self._evaluated(run, masks, run.name, curriculum) for run in runs]
        last = [run.model_copy(update={"steps": run.steps[-1:]}) for run in evaluated]
        settings = {"fit_batches": self.paper.held_out.fit_batches}
        table = Path(
            add_held_out(self.plan, f"{NAME}_{masks}", last, self.tokenizer, "evaluate_mask_controls", settings)
        )
        named = [(run.name, run.masking, run.seed) for run in runs] + [(UNIGRAM, UNIGRAM, 0)]
        return [
            Source(
                path=table,
                factors={"part": "controls", "masks": masks, "masking": masking, "pretraining_seed": seed},
                keys={"step": "step", "batch": "batch", "control": "control"},
                where={"run": name},
                wide=[*_LOSSES, "hidden_correct", "hidden"],
                data=curriculum.title,
            )
            for name, masking, own in named
            # What has no seed of pre-training is beside every one.
            for seed in (self.paper.pretraining.seeds if masking in (NONE, UNIGRAM) else [own])
        ]

    def tagging(self, task: str, runs: list[_Run]) -> list[Source | Missing]:
        """Every model fine-tuned on a data set, beside what the words alone say, and the entities of the set."""
        recipe, dataset = self.paper.finetuning, self.paper.tasks[task]
        entry = self.config.datasets.tasks[dataset]
        sentences = {
            corpus: add_sentences(self.plan, self.config, corpus, NAME, self.paper.warm_start.text.segmentation)
            for corpus in entry.documents
        }
        examples = add_task(self.plan, self.config, dataset, sentences)
        cut: dict[str, Any] = {"splits": ["test"], "train_limit": recipe.examples, "eval_limit": recipe.scored}
        baselines = add_trivial(self.plan, entry, dataset, examples, metrics=_SCORES, **cut)
        counts = Path(self.plan.add("count_entities", dataset, Job({"examples": examples}))["out"])
        factors: dict[str, Value] = {"part": "entities", "task": task}
        found: list[Source | Missing] = [
            Source(path=counts, factors=factors, keys={"counted": "split"}, data=entry.title)
        ]
        beside_untrained: dict[str, Value] = (
            {"masking": UNTRAINED, "task": task} if any(run.masking == UNTRAINED for run in runs) else {}
        )
        tagged = self.paper.pretraining.seeds[: recipe.pretrained]
        for run in [run for run in runs if run.seed in tagged or run.masking not in self.paper.maskings]:
            for seed in recipe.seeds:
                key = f"{NAME}_{run.masking}/{dataset}/p{run.seed}_s{seed}"
                out = self._tagged(key, run, examples, seed)
                about: dict[str, Value] = {
                    "part": "tagging",
                    "task": task,
                    "masking": run.masking,
                    "pretraining_seed": run.seed,
                }
                found.append(
                    Source(
                        path=Path(out["out_metrics"]),
                        factors={**about, "seed": seed},
                        data=entry.title,
                        **baselines,
                        untrained=beside_untrained if run.masking != UNTRAINED else {},
                    )
                )
        return found

    def _tagged(self, key: str, run: _Run, examples: str, seed: int) -> dict[str, str]:
        recipe = self.paper.finetuning
        engine = self._engine(
            1,
            [],
            seed,
            ScheduleSettings(name=recipe.schedule),
            recipe,
            optimizer=derive(OptimizerSettings, recipe.optimizer, learning_rate=recipe.learning_rate),
        )
        task = TaskSettings(kind="tags", metrics=_SCORES, input_length=recipe.length, tag_pieces=recipe.pieces)
        settings = derive(
            FinetuneSettings,
            recipe,
            task=task,
            engine=engine,
            learning_rates=[recipe.learning_rate],
            splits=["test"],
            train_limit=recipe.examples,
            eval_limit=recipe.scored,
            keep=self.config.workflow.keep_finetuned,
        )
        return add_finetuning_job(
            self.plan, key, {run.masking: run.model}, [run.made_in], self.tokenizer, examples, settings
        )
