"""Settings of amuro-char.

Sun and Dredze: Amuro & Char: Analyzing the Relationship between Pre-Training and Fine-Tuning of Large Language Models.
Upstream code: https://github.com/KaiserWhoLearns/AmuroCharPTFTRelationship, 2025-03-18.
"""

# ruff: noqa: RUF012 (pydantic copies mutable defaults)

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from reprlab.config import groups
from reprlab.config.groups import Published
from reprlab.evaluation.completion_settings import AnswerSettings
from reprlab.settings import base as t
from reprlab.training.completion_settings import CompletionRecipe
from reprlab.training.settings import OptimizerSettings, ScheduleSettings

CheckpointName = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if type(value) is int else value),
    Field(pattern=r"^(main|[0-9]{1,8})$"),
]
Checkpoints = Annotated[list[CheckpointName], t.Distinct]
Pairs = Annotated[list[Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+<-[a-z0-9_]+$")]], t.Distinct]
Revision = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]+$")]
Words = list[Annotated[str, StringConstraints(pattern=r"^[^=]+=[a-z]+$")]]


class Family(t.Settings):
    """A model with its checkpoints, and how they are fine-tuned."""

    model: t.ModelName
    checkpoints: Annotated[Checkpoints, Field(min_length=1)]
    revisions: list[Revision] = []
    main_step: t.NonNegativeInt = 0
    tokens_per_step: t.PositiveInt | None = None
    trainings: groups.Names
    batch_size: t.PositiveInt
    epochs: t.PositiveInt
    chat_epochs: t.PositiveInt
    candidates: t.LearningRates
    chosen: dict[t.SafeName, t.PositiveFloat | None] = {}
    max_length: t.PositiveInt

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if "main" in self.checkpoints[:-1]:
            raise ValueError("checkpoints: main is the last one")
        if self.revisions and len(self.revisions) != len(self.checkpoints):
            raise ValueError(f"{len(self.revisions)} revisions for {len(self.checkpoints)} checkpoints")
        return self


class LadderPretraining(groups.ScratchText):
    """Pre-training of a decoder on the spot, for families whose checkpoints no hub is asked for."""

    corpus: t.CorpusName
    pieces: Annotated[t.PositiveInt, Field(ge=300)]
    context: Annotated[t.PositiveInt, Field(ge=16)]
    steps: t.PositiveInt
    batch_size: t.PositiveInt
    optimizer: OptimizerSettings
    schedule: ScheduleSettings
    dtype: t.Computed
    evaluation_batches: t.PositiveInt
    seed: t.Seed


class EvaluationSet(t.Settings):
    """One evaluation set."""

    kind: Literal["generation", "classification", "choice"]
    template: Literal["summary", "question", "nli", "paraphrase", "choice"]
    dataset: t.TaskDataName | None
    splits: Annotated[list[groups.Split], Field(min_length=1)]
    subset: str = ""
    words: Words = []
    threshold: t.NonNegativeFloat | None = None
    normalisation: Literal["none", "tokens", "characters"] = "none"
    max_rows: t.PositiveInt | None = None
    unlabelled_upstream: bool = False


class TrainingSet(t.Settings):
    """One set that checkpoints are fine-tuned on."""

    form: Literal["completion", "chat"]
    template: Literal["summary", "question", "nli", "paraphrase", ""] = ""
    dataset: t.TaskDataName | None = None
    mixture: groups.Names = []
    subset: str = ""
    words: Words = []
    rows: t.PositiveInt | None = None
    share: Annotated[float, Field(gt=0, le=1)] = 1.0
    in_domain: groups.Names = []
    out_of_domain: groups.Names = []


class CompletionTuning(CompletionRecipe, t.Settings):
    """Fine-tuning with the loss on completions only."""

    dtype: t.Computed  # type: ignore[assignment]
    held_out: t.PositiveInt
    job: Literal["checkpoint", "training"]


class PromptSettings(t.Settings):
    """Prompts (section 3 and table 5)."""

    further_formats: Annotated[list[Literal["io", "instruct"]], t.Distinct]
    spacing: Literal["upstream", "clean"]
    end: Literal["as_written", "stripped"]
    input_words: t.PositiveInt | None
    shots: t.NonNegativeInt
    shots_source: Literal["train", "eval_head"]
    seed: t.Seed


class PredictionSettings(AnswerSettings, t.Settings):
    """From prompts to predictions and scores (section 3, appendix C)."""

    dtype: t.Computed  # type: ignore[assignment]
    unlabelled_gold_as_no: bool


class Sweep(t.Settings):
    """A further dimension of the grid: which sets and checkpoints it covers."""

    evaluations: groups.Names
    checkpoints: Checkpoints


class GridSettings(t.Settings):
    """Which cells are made besides each training set's own evaluations (default format, default shots)."""

    families: groups.Names
    tuned: Checkpoints
    everywhere: Annotated[groups.Names, t.ReadBeside(".tuned=[main]")]
    cross: Sweep
    formats: Sweep
    methods: Sweep
    few_shot: Sweep
    further_shots: list[t.NonNegativeInt]
    tuned_shots: list[t.NonNegativeInt]


class ReAdapt(t.Settings):
    """What fine-tuning changed of one checkpoint, added to the last one of its ladder; in whole and in a low rank."""

    start: CheckpointName
    rank: t.PositiveInt


class Neighbours(t.Settings):
    """Published rivals of fine-tuning the last checkpoint."""

    re_adapt: ReAdapt


class GroupSettings(t.Settings):
    """Which pairs (evaluation set<-training set) the summaries average over; pairs without data are left out."""

    mrc: dict[Literal["class_to_generation", "generation_to_class"], Pairs]
    ood: dict[t.SafeName, Pairs]
    table6: dict[Literal["learned_in_pretrain", "learned_in_finetune"], Pairs]
    counted_twice: groups.Names


class AmuroCharSettings(t.Settings):
    """Fine-tuning of checkpoints along pre-training."""

    families: Annotated[
        dict[t.SafeName, Family],
        t.ReadBeside(".main_step=5", of="llama3_8b.tokens_per_step"),
        t.ReadBeside(".trainings=[xsum, tulu]", of="llama3_8b.chat_epochs"),
        t.ReadBeside(".revisions=[]", of="olmo1b.checkpoints"),
        t.ReadBeside(".checkpoints=[main]", of="olmo1b.revisions"),
        t.ReadBeside(".chosen.xsum=null", of="candidates"),
    ]
    pretraining: Annotated[
        LadderPretraining,
        t.ReadBeside(
            "families.olmo1b.model=olmo_mini; families.olmo1b.checkpoints=[main]; families.olmo1b.revisions=[]"
        ),
    ]
    evaluations: Annotated[dict[t.SafeName, EvaluationSet], t.ReadBeside(".kind=choice", of="normalisation")]
    trainings: dict[t.SafeName, TrainingSet]
    finetuning: CompletionTuning
    prompts: PromptSettings
    prediction: PredictionSettings
    grid: GridSettings
    groups: GroupSettings
    neighbours: Neighbours
    published_hours: dict[t.SafeName, dict[t.SafeName, t.PositiveFloat]]
    cost: Published

    @model_validator(mode="after")
    def _names_exist(self) -> Self:
        grid, trainings = self.grid, self.trainings
        groups.require("grid.families", grid.families, self.families, "families")
        for name in grid.families:
            groups.require(f"families.{name}.trainings", self.families[name].trainings, trainings, "trainings")
        own = [name for name, training in trainings.items() if not training.mixture]
        for name, training in trainings.items():
            groups.require(f"trainings.{name}.mixture", training.mixture, own, "trainings (with data of their own)")
            groups.require(f"trainings.{name}.in_domain", training.in_domain, self.evaluations, "evaluations")
            groups.require(f"trainings.{name}.out_of_domain", training.out_of_domain, self.evaluations, "evaluations")
        for name in ("cross", "formats", "methods", "few_shot"):
            groups.require(f"grid.{name}", getattr(grid, name).evaluations, self.evaluations, "evaluations")
        return self
