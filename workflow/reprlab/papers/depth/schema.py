"""Settings of the DEPTH paper (slug `depth`).

Bamberger, Glick, Baskin and Belinkov: DEPTH: Discourse Education through Pre-Training Hierarchically.
Upstream code: https://github.com/zbambergerNLP/depth, last commit 2024-05-09.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from reprlab.config import groups
from reprlab.objectives.settings import AttentionSettings, CorruptionSettings, LossSettings
from reprlab.settings import base as t
from reprlab.text.segmentation import SegmentationSettings
from reprlab.text.token_settings import TokenizerRecipe
from reprlab.training.settings import OptimizerSettings, UpdateSettings

Objective = Literal["t5", "depth"]
Table = Literal["glue", "discoeval", "ni"]


class CorpusSettings(t.Settings):
    """The pre-training text."""

    corpus: t.CorpusName
    shards: t.PositiveInt


class VocabularySettings(TokenizerRecipe, t.Settings):
    """Vocabulary: pieces, sentinels and the sentence tokens of DEPTH."""

    source: Literal["model", "trained"]


class LengthSettings(t.Settings):
    """Sequence lengths in pre-training, in tokens."""

    input: t.PositiveInt
    target: t.PositiveInt


class PretrainingSchedule(t.Settings):
    """The learning rate over the steps, one course per objective; all start with a linear warm-up."""

    warmup_steps: t.NonNegativeInt
    depth: t.Course
    t5: t.Course


class RunSettings(groups.LadderRun):
    """One pre-training run, made once for each objective."""

    init: Literal["random", "published", "t5_fs"]
    horizon_steps: t.PositiveInt


class RunsSettings(t.Settings):
    """Pre-training from scratch (fs) and continued pre-training (cpt)."""

    fs: RunSettings
    cpt: RunSettings


class PretrainingSettings(groups.Batches):
    """Pre-training of T5 and DEPTH: the same model, data and optimizer, two objectives."""

    model: t.ModelName
    published_weights: t.ModelName
    published_steps: t.PositiveInt
    objectives: Annotated[list[Objective], Field(min_length=1), t.Distinct]
    dropout: t.Dropout
    packing: bool
    dtype: t.Computed
    evaluation_every: t.PositiveInt
    seeds: t.Seeds
    collator_seed: t.Seed
    optimizer: OptimizerSettings
    schedule: PretrainingSchedule
    runs: RunsSettings

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


class EvaluationSettings(t.Settings):
    """Validation loss of the checkpoints, on shuffled and on unshuffled batches."""

    examples: t.PositiveInt
    seed: t.Seed
    jobs: Literal["run", "group"]


class FinetuningTask(groups.Length):
    """One task, text to text: its data, its form and its recipe."""

    table: Table
    columns: Annotated[list[t.ColumnName], Field(min_length=1), t.Distinct]
    dataset: t.TaskDataName | None
    template: Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
    template_task: Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{0,32}$")] = ""
    labels: Annotated[list[Annotated[str, StringConstraints(min_length=1, max_length=200)]], t.Distinct]
    metric: Literal["accuracy", "matthews", "rouge_l"]
    input_length: t.PositiveInt
    target_length: t.PositiveInt
    batch_size: t.PositiveInt
    warmup_steps: t.NonNegativeInt
    schedule: t.Course
    eval_modes: Annotated[list[Literal["generate", "teacher_forced"]], Field(min_length=1), t.Distinct]
    learning_rates: t.LearningRates | None = None
    instances_per_task: t.PositiveInt | None = None
    report_split: groups.Split | None = None


class BaselineSettings(t.Settings):
    """Rows that a trained row is compared with."""

    published: bool
    untrained: bool


class FinetuningSettings(t.Settings):
    """Fine-tuning of the checkpoints."""

    form: Literal["text_to_text", "encoder"]
    learning_rates: t.LearningRates
    checkpoints: Literal["all", "first_and_last", "last"]
    jobs: Literal["checkpoint", "ladder", "task"]
    tables: Annotated[list[Table], t.Distinct]
    select_split: groups.Split
    report_split: groups.Split
    mnli_field_order: Literal["right", "upstream"]
    train_examples: groups.Limit
    evaluation_examples: groups.Limit
    seeds: t.Seeds
    dropout: t.Dropout
    group_by_length: bool
    optimizer: UpdateSettings
    baselines: BaselineSettings
    tasks: Annotated[
        dict[t.SafeName, FinetuningTask],
        t.ReadBeside(".epochs=null", of="steps"),
        t.ReadBeside(".steps=null", of="epochs"),
    ]

    def has_head(self, task: FinetuningTask) -> bool:
        """Whether a task is answered by a head on the encoder; one without labels is always text to text."""
        return self.form == "encoder" and bool(task.labels)

    @model_validator(mode="after")
    def _never_select_on_test(self) -> Self:
        if self.select_split == "test":
            raise ValueError("select_split is test: a learning rate chosen on the test split makes its score worthless")
        return self


class Ablation(t.Settings):
    """A side experiment."""

    enabled: bool
    steps: t.PositiveInt


class PackingAblation(Ablation):
    """Figure 7: T5 with and without packing at a high and a low learning rate."""

    packing: Annotated[list[bool], Field(min_length=1), t.Distinct]
    learning_rates: t.LearningRates
    batch_size: t.PositiveInt


class SentenceWeightAblation(Ablation):
    """Figure 10: weight of the sentence loss in DEPTH, from scratch."""

    weights: Annotated[list[Annotated[float, Field(gt=0, le=1000)] | None], Field(min_length=1), t.Distinct]


class DefectAblation(Ablation):
    """A defect of the upstream code, switched on beside the correct run."""

    input_length: t.PositiveInt


class AblationsSettings(t.Settings):
    """Side experiments."""

    packing_lr: PackingAblation
    sentence_weight: SentenceWeightAblation
    padding_in_loss: Annotated[DefectAblation, t.ReadBeside("ablations.padding_in_loss.enabled=true")]
    int8_bug: Annotated[DefectAblation, t.ReadBeside("ablations.int8_bug.enabled=true")]


class SampleSettings(t.Settings):
    """Predictions that are put out for annotation by hand (tables 3 and 4)."""

    examples: t.PositiveInt
    seed: t.Seed


class PublishedRuns(groups.Published):
    """Hardware that the published runs are costed for."""

    pretraining_devices: t.PositiveInt


class DepthSettings(t.Settings):
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
    statistics: groups.Intervals

    @model_validator(mode="after")
    def _sentence_tokens_suffice(self) -> Self:
        if self.segmentation.max_sentences > self.tokenizer.sentence_tokens:
            raise ValueError(
                f"segmentation.max_sentences ({self.segmentation.max_sentences}) is more than "
                f"tokenizer.sentence_tokens ({self.tokenizer.sentence_tokens}): each sentence needs its own token"
            )
        return self
