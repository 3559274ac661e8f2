"""Settings of the DEPTH paper (slug `depth`).

Bamberger, Glick, Baskin and Belinkov: DEPTH: Discourse Education through Pre-Training Hierarchically.
Upstream code: https://github.com/zbambergerNLP/depth, last commit 2024-05-09.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from reprlab.config.settings import (
    ColumnName,
    Computed,
    CorpusName,
    Course,
    Distinct,
    Dropout,
    Ladder,
    LearningRates,
    ModelName,
    NonNegativeInt,
    OpenProbability,
    PositiveInt,
    SafeName,
    Seed,
    Seeds,
    Settings,
    TaskDataName,
)
from reprlab.objectives.settings import AttentionSettings, CorruptionSettings, LossSettings
from reprlab.reporting.cost_layout import Accelerator
from reprlab.text.segmentation import SegmentationSettings
from reprlab.text.tokenizers import TokenizerRecipe
from reprlab.training.settings import OptimizerSettings, UpdateSettings

Objective = Literal["t5", "depth"]
Split = Literal["train", "validation", "test"]
Table = Literal["glue", "discoeval", "ni"]


class CorpusSettings(Settings):
    """The pre-training text."""

    corpus: CorpusName
    shards: PositiveInt


class VocabularySettings(TokenizerRecipe, Settings):
    """Vocabulary: pieces, sentinels and the sentence tokens of DEPTH."""

    source: Literal["model", "trained"]


class LengthSettings(Settings):
    """Sequence lengths in pre-training, in tokens."""

    input: PositiveInt
    target: PositiveInt


class PretrainingSchedule(Settings):
    """The learning rate over the steps, one course per objective; all start with a linear warm-up."""

    warmup_steps: NonNegativeInt
    depth: Course
    t5: Course


class RunSettings(Settings):
    """One pre-training run, made once for each objective."""

    init: Literal["random", "published", "t5_fs"]
    steps: PositiveInt
    horizon_steps: PositiveInt
    ladder: Ladder

    @model_validator(mode="after")
    def _ladder_within_steps(self) -> Self:
        if self.ladder[-1] > self.steps:
            raise ValueError(f"ladder goes to {self.ladder[-1]}, beyond steps ({self.steps})")
        return self


class RunsSettings(Settings):
    """Pre-training from scratch (fs) and continued pre-training (cpt)."""

    fs: RunSettings
    cpt: RunSettings


class PretrainingSettings(Settings):
    """Pre-training of T5 and DEPTH: the same model, data and optimizer, two objectives."""

    model: ModelName
    published_weights: ModelName
    published_steps: PositiveInt
    objectives: Annotated[list[Objective], Field(min_length=1), Distinct]
    dropout: Dropout
    batch_size: PositiveInt
    accumulation: PositiveInt
    packing: bool
    dtype: Computed
    evaluation_every: PositiveInt
    seeds: Seeds
    collator_seed: Seed
    optimizer: OptimizerSettings
    schedule: PretrainingSchedule
    runs: RunsSettings

    @model_validator(mode="after")
    def _parts_are_equal(self) -> Self:
        if self.batch_size % self.accumulation:
            raise ValueError(f"batch_size ({self.batch_size}) must be a multiple of accumulation ({self.accumulation})")
        return self

    @model_validator(mode="after")
    def _runs_fit(self) -> Self:
        for name, run in (("fs", self.runs.fs), ("cpt", self.runs.cpt)):
            if run.horizon_steps <= self.schedule.warmup_steps:
                raise ValueError(
                    f"runs.{name}.horizon_steps ({run.horizon_steps}) must exceed "
                    f"schedule.warmup_steps ({self.schedule.warmup_steps})"
                )
        if self.runs.fs.init == "t5_fs":
            raise ValueError("runs.fs.init is t5_fs: the run from scratch cannot start from itself")
        if self.runs.cpt.init == "t5_fs" and "t5" not in self.objectives:
            raise ValueError("runs.cpt.init is t5_fs, but objectives lacks t5")
        return self


class EvaluationSettings(Settings):
    """Validation loss of the checkpoints, on shuffled and on unshuffled batches."""

    examples: PositiveInt
    seed: Seed
    jobs: Literal["run", "group"]


class FinetuningTask(Settings):
    """One task, text to text: its data, its form and its recipe."""

    table: Table
    columns: Annotated[list[ColumnName], Field(min_length=1), Distinct]
    dataset: TaskDataName | None
    template: Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
    template_task: Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{0,32}$")] = ""
    labels: Annotated[list[Annotated[str, StringConstraints(min_length=1, max_length=200)]], Distinct]
    metric: Literal["accuracy", "matthews", "rouge_l"]
    input_length: PositiveInt
    target_length: PositiveInt
    batch_size: PositiveInt
    steps: PositiveInt | None = None
    epochs: PositiveInt | None = None
    warmup_steps: NonNegativeInt
    schedule: Course
    eval_modes: Annotated[list[Literal["generate", "teacher_forced"]], Field(min_length=1), Distinct]
    learning_rates: LearningRates | None = None
    instances_per_task: PositiveInt | None = None
    report_split: Split | None = None

    @model_validator(mode="after")
    def _steps_or_epochs(self) -> Self:
        if (self.steps is None) == (self.epochs is None):
            raise ValueError("give either steps or epochs, and null for the other")
        return self


class BaselineSettings(Settings):
    """Rows that a trained row is compared with."""

    published: bool
    untrained: bool
    trivial: Annotated[list[Literal["majority", "tfidf"]], Distinct]


class FinetuningSettings(Settings):
    """Fine-tuning of the checkpoints."""

    learning_rates: LearningRates
    checkpoints: Literal["all", "first_and_last", "last"]
    jobs: Literal["checkpoint", "ladder", "task"]
    tables: Annotated[list[Table], Distinct]
    select_split: Split
    report_split: Split
    mnli_field_order: Literal["right", "upstream"]
    train_examples: PositiveInt | None
    evaluation_examples: PositiveInt | None
    seeds: Seeds
    dropout: Dropout
    group_by_length: bool
    optimizer: UpdateSettings
    baselines: BaselineSettings
    tasks: dict[SafeName, FinetuningTask]

    @model_validator(mode="after")
    def _never_select_on_test(self) -> Self:
        if self.select_split == "test":
            raise ValueError("select_split is test: a learning rate chosen on the test split makes its score worthless")
        return self


class PackingAblation(Settings):
    """Figure 7: T5 with and without packing at a high and a low learning rate."""

    enabled: bool
    packing: Annotated[list[bool], Field(min_length=1), Distinct]
    learning_rates: LearningRates
    batch_size: PositiveInt
    steps: PositiveInt


class SentenceWeightAblation(Settings):
    """Figure 10: weight of the sentence loss in DEPTH, from scratch."""

    enabled: bool
    weights: Annotated[list[Annotated[float, Field(gt=0, le=1000)] | None], Field(min_length=1), Distinct]
    steps: PositiveInt


class DefectAblation(Settings):
    """A defect of the upstream code, switched on beside the correct run."""

    enabled: bool
    steps: PositiveInt
    input_length: PositiveInt


class AblationsSettings(Settings):
    """Side experiments."""

    packing_lr: PackingAblation
    sentence_weight: SentenceWeightAblation
    padding_in_loss: DefectAblation
    int8_bug: DefectAblation


class SampleSettings(Settings):
    """Predictions that are put out for annotation by hand (tables 3 and 4)."""

    examples: PositiveInt
    seed: Seed


class PublishedRuns(Settings):
    """What the published runs are reckoned for."""

    accelerator: Accelerator
    pretraining_devices: PositiveInt
    hours: dict[SafeName, str]
    scored: dict[SafeName, PositiveInt]
    scored_otherwise: PositiveInt
    trained: dict[SafeName, PositiveInt]


class StatisticsSettings(Settings):
    """Intervals of the claims."""

    bootstrap: PositiveInt
    confidence: OpenProbability
    seed: Seed


class DepthSettings(Settings):
    """DEPTH: span corruption plus sentence un-shuffling for encoder-decoders."""

    data: CorpusSettings
    segmentation: SegmentationSettings
    tokenizer: VocabularySettings
    lengths: LengthSettings
    corruption: CorruptionSettings
    attention: AttentionSettings
    loss: LossSettings
    pretraining: PretrainingSettings
    evaluation: EvaluationSettings
    finetuning: FinetuningSettings
    ablations: AblationsSettings
    error_sample: SampleSettings
    cost: PublishedRuns
    statistics: StatisticsSettings

    @model_validator(mode="after")
    def _sentence_tokens_suffice(self) -> Self:
        if self.segmentation.max_sentences > self.tokenizer.sentence_tokens:
            raise ValueError(
                f"segmentation.max_sentences ({self.segmentation.max_sentences}) is more than "
                f"tokenizer.sentence_tokens ({self.tokenizer.sentence_tokens}): each sentence needs its own token"
            )
        return self
