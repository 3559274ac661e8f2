"""Settings of amuro-char.

Sun and Dredze: Amuro & Char: Analyzing the Relationship between Pre-Training and Fine-Tuning of Large Language Models.
Upstream code: https://github.com/KaiserWhoLearns/AmuroCharPTFTRelationship, 2025-03-18.
"""

# ruff: noqa: RUF012 (pydantic copies mutable defaults)

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from reprlab.config.settings import (
    Computed,
    CorpusName,
    Distinct,
    LearningRates,
    ModelName,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    SafeName,
    Seed,
    Settings,
    TaskDataName,
)
from reprlab.evaluation.completion_settings import AnswerSettings
from reprlab.text.segmentation import SegmentationSettings
from reprlab.training.completion_settings import CompletionRecipe
from reprlab.training.settings import OptimizerSettings, ScheduleSettings

CheckpointName = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if type(value) is int else value),
    Field(pattern=r"^(main|[0-9]{1,8})$"),
]
Checkpoints = Annotated[list[CheckpointName], Distinct]
Names = Annotated[list[SafeName], Distinct]
Pairs = Annotated[list[Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+<-[a-z0-9_]+$")]], Distinct]
Revision = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]+$")]
Split = Literal["train", "validation", "test"]
Words = list[Annotated[str, StringConstraints(pattern=r"^[^=]+=[a-z]+$")]]


class Family(Settings):
    """A model with its checkpoints, and how they are fine-tuned."""

    model: ModelName
    checkpoints: Annotated[Checkpoints, Field(min_length=1)]
    revisions: list[Revision] = []
    main_step: NonNegativeInt = 0
    tokens_per_step: PositiveInt | None = None
    trainings: Names
    batch_size: PositiveInt
    epochs: PositiveInt
    chat_epochs: PositiveInt
    candidates: LearningRates
    chosen: dict[SafeName, PositiveFloat | None] = {}
    max_length: PositiveInt

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if "main" in self.checkpoints[:-1]:
            raise ValueError("checkpoints: main is the last one")
        if self.revisions and len(self.revisions) != len(self.checkpoints):
            raise ValueError(f"{len(self.revisions)} revisions for {len(self.checkpoints)} checkpoints")
        return self


class LadderPretraining(Settings):
    """Pre-training of a decoder on the spot, for families whose checkpoints no hub is asked for."""

    corpus: CorpusName
    segmentation: SegmentationSettings
    pieces: Annotated[PositiveInt, Field(ge=300)]
    context: Annotated[PositiveInt, Field(ge=16)]
    steps: PositiveInt
    batch_size: PositiveInt
    optimizer: OptimizerSettings
    schedule: ScheduleSettings
    dtype: Computed
    evaluation_batches: PositiveInt
    seed: Seed


class EvaluationSet(Settings):
    """One evaluation set."""

    kind: Literal["generation", "classification", "choice"]
    template: Literal["summary", "question", "nli", "paraphrase", "choice"]
    dataset: TaskDataName | None
    splits: Annotated[list[Split], Field(min_length=1)]
    subset: str = ""
    words: Words = []
    threshold: NonNegativeFloat | None = None
    normalisation: Literal["none", "tokens", "characters"] = "none"
    max_rows: PositiveInt | None = None
    unlabelled_upstream: bool = False


class TrainingSet(Settings):
    """One set that checkpoints are fine-tuned on."""

    form: Literal["completion", "chat"]
    template: Literal["summary", "question", "nli", "paraphrase", ""] = ""
    dataset: TaskDataName | None = None
    mixture: Names = []
    subset: str = ""
    words: Words = []
    rows: PositiveInt | None = None
    share: Annotated[float, Field(gt=0, le=1)] = 1.0
    in_domain: Names = []
    out_of_domain: Names = []


class CompletionTuning(CompletionRecipe, Settings):
    """Fine-tuning with the loss on completions only."""

    dtype: Computed  # type: ignore[assignment]
    held_out: PositiveInt
    job: Literal["checkpoint", "training"]


class PromptSettings(Settings):
    """Prompts (section 3 and table 5)."""

    further_formats: Annotated[list[Literal["io", "instruct"]], Distinct]
    spacing: Literal["upstream", "clean"]
    end: Literal["as_written", "stripped"]
    input_words: PositiveInt | None
    shots: NonNegativeInt
    shots_source: Literal["train", "eval_head"]
    seed: Seed


class PredictionSettings(AnswerSettings, Settings):
    """From prompts to predictions and scores (section 3, appendix C)."""

    dtype: Computed  # type: ignore[assignment]
    unlabelled_gold_as_no: bool


class Sweep(Settings):
    """A further dimension of the grid: which sets and checkpoints it covers."""

    evaluations: Names
    checkpoints: Checkpoints


class GridSettings(Settings):
    """Which cells are made besides each training set's own evaluations (default format, default shots)."""

    families: Names
    tuned: Checkpoints
    everywhere: Names
    cross: Sweep
    formats: Sweep
    methods: Sweep
    few_shot: Sweep
    further_shots: list[NonNegativeInt]
    tuned_shots: list[NonNegativeInt]


class TransferGroups(Settings):
    """Pairs of the mean ratio of change (section 4.3), by direction."""

    class_to_generation: Pairs
    generation_to_class: Pairs


class DomainGroups(Settings):
    """Pairs of the change out of domain (figures 5 and 15), by task."""

    nli: Pairs
    summary: Pairs
    question_generation: Pairs
    paraphrase: Pairs


class LearningGroups(Settings):
    """Pairs of Table 6."""

    learned_in_pretrain: Pairs
    learned_in_finetune: Pairs
    counted_twice: Names


class GroupSettings(Settings):
    """Which pairs (evaluation set<-training set) the summaries average over; pairs without data are left out."""

    mrc: TransferGroups
    ood: DomainGroups
    table6: LearningGroups


class AmuroCharSettings(Settings):
    """Fine-tuning of checkpoints along pre-training."""

    families: dict[SafeName, Family]
    pretraining: LadderPretraining
    evaluations: dict[SafeName, EvaluationSet]
    trainings: dict[SafeName, TrainingSet]
    finetuning: CompletionTuning
    prompts: PromptSettings
    prediction: PredictionSettings
    grid: GridSettings
    groups: GroupSettings

    @model_validator(mode="after")
    def _names_exist(self) -> Self:
        for name in self.grid.families:
            if name not in self.families:
                raise ValueError(f"grid.families: {name} is not in families")
        for name in self.grid.families:
            for train in self.families[name].trainings:
                if train not in self.trainings:
                    raise ValueError(f"families.{name}.trainings: {train} is not in trainings")
        for name, training in self.trainings.items():
            for part in training.mixture:
                if part not in self.trainings or self.trainings[part].mixture:
                    raise ValueError(f"trainings.{name}.mixture: {part} is no training set with data of its own")
        sweeps = (self.grid.cross, self.grid.formats, self.grid.methods, self.grid.few_shot)
        named = [name for sweep in sweeps for name in sweep.evaluations]
        for training in self.trainings.values():
            named += [*training.in_domain, *training.out_of_domain]
        for name in named:
            if name not in self.evaluations:
                raise ValueError(f"the evaluation set {name} is not in evaluations")
        return self
