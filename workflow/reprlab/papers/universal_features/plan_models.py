"""Text, language models and autoencoders of universal features."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.features.settings import AutoencoderSettings, AutoencoderShape, QualitySettings
from reprlab.models.merging import WAYS, MergeSettings
from reprlab.planning import paths
from reprlab.planning.language_model_jobs import (
    add_pretraining_run,
    add_sentences,
    add_tokens,
    add_trained_tokenizer,
)
from reprlab.planning.plan import Job, Plan
from reprlab.planning.shared_jobs import add_model
from reprlab.runtime.errors import ReprlabError
from reprlab.settings.base import derive
from reprlab.text.segmentation import SegmentationSettings
from reprlab.text.token_settings import TokenStorageSettings
from reprlab.text.tokenizers import TokenizerSettings
from reprlab.training.merge_settings import SWEEP, MergeEvaluation, Sweep
from reprlab.training.settings import (
    EngineSettings,
    EvaluationSettings,
    OptimizerSettings,
    PretrainSettings,
    ScheduleSettings,
)

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.papers.universal_features.schema import Training, UniversalFeaturesSettings

SLUG, _NAME = "universal-features", "universal_features"
ROLES = ("base", "lua", "stories", "merged")
UNTRAINED = "untrained"
CHILDREN = ("lua", "stories")
# What the autoencoder of each model is trained on beside the base's text: what its model was.
_BESIDE = {"base": (), "lua": ("lua",), "stories": ("stories",), "merged": ("lua", "stories")}


@dataclass(frozen=True)
class Model:
    """A language model, and the folder that a rule depends on."""

    folder: str
    made_in: str


class Models:
    """Adds text, models and autoencoders to the plan; what several lineages read is made once."""

    def __init__(self, plan: Plan, config: "LoadedConfig", paper: "UniversalFeaturesSettings") -> None:
        self.plan, self.config, self.paper = plan, config, paper
        self.dtype = config.arithmetic(paper.dtype)
        whole = SegmentationSettings(splitter="none")
        sentences = {
            name: add_sentences(plan, config, corpus, _NAME, whole, limit=paper.text.documents)
            for name, corpus in paper.text.corpora().items()
        }
        self.tokenizer, stored = self._tokenizer([sentences[name] for name in paper.text.base])
        self.tokens = {
            name: add_tokens(plan, f"{_NAME}_{name}", path, self.tokenizer, stored) for name, path in sentences.items()
        }

    def _tokenizer(self, base: list[str]) -> tuple[str, TokenStorageSettings]:
        text = self.paper.text
        if text.tokenizer is not None:
            entry = self.config.models[text.tokenizer]
            job = Job({"receipts": []}, {"entry": entry})
            folder = self.plan.add("extract_tokenizer", text.tokenizer, job)["out"]
            return folder, TokenStorageSettings(format="causal", max_length=1 << 20, start_token=True)
        # A decoder has no use for sentinels and sentence tokens: one of each is the least that the layout has.
        layout = TokenizerSettings(source="trained_bytes", pieces=text.pieces, sentinels=1, sentence_tokens=1)
        folder = add_trained_tokenizer(self.plan, _NAME, self._mixed("base_text", base), layout)
        return folder, TokenStorageSettings(format="causal", max_length=1 << 20)

    def _mixed(self, name: str, tables: list[str]) -> str:
        if len(tables) == 1:
            return tables[0]
        return self.plan.add("mix_corpora", f"{_NAME}_{name}", Job({"tables": tables}))["out"]

    def mixture(self, role: str) -> str:
        """Tokens of the text of a model: the base's, and what it or its parents were trained on beside."""
        names = [*self.paper.text.base, *_BESIDE[role]]
        return self._mixed(role, [self.tokens[name] for name in names])

    def mixture_title(self, role: str) -> str:
        """True name of that text."""
        corpora = self.paper.text.corpora()
        names = [corpora[name] for name in (*self.paper.text.base, *_BESIDE[role])]
        return " + ".join(self.config.datasets.corpora[name].title for name in names)

    def model(self, role: str, seed: int) -> Model:
        """Plan a language model of the lineage of a seed."""
        run = f"{_NAME}_{role}_s{seed}"
        if role == UNTRAINED:
            scratch = self.paper.text.tokenizer is None
            tokenizer = self.tokenizer if scratch else ""
            folder = add_model(self.plan, self.config, self.paper.model, seed=seed, tokenizer=tokenizer)
            return Model(folder, folder)
        if role == "merged":
            first, second = self.model("lua", seed), self.model("stories", seed)
            merging = self.paper.merging
            settings = MergeSettings(options={"fraction": merging.fraction}, dtype=merging.dtype)
            job = Job(
                {"after": [first.made_in, second.made_in]},
                {"first": first.folder, "second": second.folder, "settings": settings},
                plugins=(f"{WAYS}.{settings.method}",),
            )
            folder = self.plan.add("merge_models", run, job)["out"]
            return Model(folder, folder)
        if role == "base":
            wanted, start, tokens = self.paper.pretraining, self.model(UNTRAINED, seed).folder, self.mixture("base")
            init_step = None
        else:
            wanted, start, tokens = self.paper.finetuning, self.model("base", seed).made_in, self.tokens[role]
            init_step = self.paper.pretraining.steps
        trained = self._training(wanted, seed, init_step)
        ladder = add_pretraining_run(self.plan, run, trained, tokens=tokens, tokenizer=self.tokenizer, init=start)
        return Model(paths.checkpoint(run, wanted.steps), ladder)

    def _training(self, wanted: "Training", seed: int, init_step: int | None) -> PretrainSettings:
        engine = derive(
            EngineSettings,
            wanted,
            ladder=[wanted.steps],
            optimizer=derive(OptimizerSettings, wanted),
            schedule=ScheduleSettings(name=wanted.schedule, warmup_steps=min(wanted.warmup_steps, wanted.steps - 1)),
            dtype=self.dtype,
            seed=seed,
            log_every=max(wanted.steps // 20, 1),
        )
        lengths: dict[str, Any] = {"input_length": wanted.block, "target_length": wanted.block}
        return PretrainSettings(objective="causal_lm", packing=True, engine=engine, init_step=init_step, **lengths)

    def sweeps(self) -> dict[str, Sweep]:
        """The paper's points along the arc, and those of other ways to merge."""
        paper = self.paper.merging
        own = Sweep(method="slerp", over="fraction", values=paper.sweep)
        return {SWEEP: own, **{name: derive(Sweep, way) for name, way in paper.rivals.items()}}

    def add_losses(self, seed: int) -> str:
        """Plan the losses of all models of a lineage on every corpus; returns the table."""
        models = {role: self.model(role, seed) for role in (UNTRAINED, *ROLES)}
        return self._evaluated(f"{_NAME}_s{seed}", models, {}, scored=list(models), corpora=list(self.tokens))

    def add_ways(self, seed: int) -> dict[str, str]:
        """Plan the losses of each way to merge on the corpora of the children; returns the tables by way.

        Each is a job of its own, so that its cost is its own."""
        models = {role: self.model(role, seed) for role in ("base", *CHILDREN)}
        return {
            way: self._evaluated(f"{_NAME}_{way}_s{seed}", models, {way: sweep}, scored=[], corpora=[*CHILDREN])
            for way, sweep in self.sweeps().items()
        }

    def _evaluated(
        self, key: str, models: dict[str, Model], sweeps: dict[str, Sweep], *, scored: list[str], corpora: list[str]
    ) -> str:
        paper, tokens = self.paper, {name: self.tokens[name] for name in corpora}
        block = paper.pretraining.block
        evaluation = derive(
            EvaluationSettings,
            paper.held_out,
            objective="causal_lm",
            input_length=block,
            target_length=block,
            packing=True,
            dtype=self.dtype,
        )
        runs = MergeEvaluation(
            models={role: Path(model.folder) for role, model in models.items()},
            scored=scored,
            first="lua",
            second="stories",
            base="base",
            sweeps=sweeps,
            dtype=paper.merging.dtype,
            texts={name: Path(path) for name, path in tokens.items()},
            swept=[*CHILDREN],
            evaluation=evaluation,
        )
        after = list(dict.fromkeys([*(model.made_in for model in models.values()), *tokens.values()]))
        inputs: dict[str, Any] = {"after": after, "tokenizer": self.tokenizer}
        ways = dict.fromkeys(f"{WAYS}.{sweep.method}" for sweep in sweeps.values())
        job = Job(inputs, {"runs": runs}, plugins=("objectives.causal_lm", *ways))
        return self.plan.add("evaluate_merges", key, job)["out"]

    def add_autoencoder(self, role: str, seed: int, autoencoder_seed: int) -> str:
        """Plan an autoencoder of a model on the text of that model; returns its folder."""
        model, wanted = self.model(role, seed), self.paper.autoencoder
        width = self.config.models[self.paper.model].config.get("intermediate_size")
        if width is None:
            raise ReprlabError(
                f"papers.{SLUG}.model: {self.paper.model} has no gated MLP (intermediate_size), whose inner state is "
                "encoded; name a decoder of Mistral's or LLaMA's form"
            )
        shape = derive(AutoencoderShape, wanted, features=wanted.expansion * width, l1=wanted.l1[role])  # type: ignore[index]
        engine = derive(
            EngineSettings,
            wanted,
            optimizer=derive(OptimizerSettings, wanted, clip_norm=None),
            schedule=ScheduleSettings(name=wanted.schedule),
            seed=autoencoder_seed,
            log_every=max(wanted.steps // 20, 1),
        )
        settings = AutoencoderSettings(shape=shape, block=wanted.block, engine=engine)
        inputs: dict[str, Any] = {"after": [model.made_in], "tokens": self.mixture(role)}
        key = f"{_NAME}_{role}_s{seed}/a{autoencoder_seed}"
        job = Job(inputs, {"model": model.folder, "settings": settings})
        return self.plan.add("train_autoencoder", key, job)["out"]

    def add_quality(self, role: str, seed: int, autoencoder_seed: int, coder: str) -> dict[str, str]:
        """Plan the quality of an autoencoder; returns the table and the densities of its features."""
        model, wanted = self.model(role, seed), self.paper.autoencoder
        settings = QualitySettings(block=wanted.block, blocks=self.paper.held_out.quality_blocks)
        inputs: dict[str, Any] = {"after": [model.made_in], "autoencoder": coder, "tokens": self.mixture(role)}
        job = Job(inputs, {"model": model.folder, "settings": settings})
        return self.plan.add("evaluate_autoencoder", f"{_NAME}_{role}_s{seed}/a{autoencoder_seed}", job)
