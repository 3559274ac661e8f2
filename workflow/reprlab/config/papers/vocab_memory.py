"""Settings of the PEMA paper (slug `vocab-memory`).

Williams and Aletras: Vocabulary-level Memory Efficiency for Language Model Fine-tuning.
Upstream code: https://github.com/mlsw/partial-embedding-matrix-adaptation, last commit 2025-02-20.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from reprlab.config.settings import (
    Computed,
    CorpusName,
    Distinct,
    Dropout,
    ModelName,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    SafeName,
    Seed,
    Seeds,
    Settings,
    TaskDataName,
)
from reprlab.reporting.cost_layout import Accelerator
from reprlab.training.settings import OptimizerSettings, ScheduleSettings

Models = Annotated[list[ModelName], Field(min_length=1), Distinct]
Names = Annotated[list[SafeName], Distinct]
Splits = Annotated[list[Literal["train", "validation", "test"]], Field(min_length=1), Distinct]


class GlueTask(Settings):
    """One column of the GLUE tables."""

    dataset: TaskDataName | None
    metric: Literal["accuracy", "matthews", "f1", "spearman"]


class XnliColumn(Settings):
    """One column of the XNLI table."""

    datasets: Annotated[list[TaskDataName], Distinct]


class StandIn(Settings):
    """The tokenizer that counts for a model."""

    tokenizer: ModelName


class CountingSettings(Settings):
    """Token counts behind Figure 2 and Tables 1 to 4."""

    max_length: PositiveInt
    splits: Annotated[list[Splits], Field(min_length=1)]
    compared: Splits
    further: Annotated[list[TaskDataName], Distinct]
    stand_ins: dict[SafeName, StandIn]

    @model_validator(mode="after")
    def _compared_is_shown(self) -> Self:
        if self.compared not in self.splits:
            raise ValueError(f"compared ({', '.join(self.compared)}) must be one of splits")
        return self


class TrendSettings(Settings):
    """Figure 2: unique tokens by tokens."""

    tokenizers: Models


class UnseenSettings(Settings):
    """Table 1: tokens that do not occur in a corpus."""

    corpus: CorpusName | None
    tokenizers: Models
    examples: NonNegativeInt


class ModelException(Settings):
    """What is different for one model: settings of the optimizer."""

    learning_rate: PositiveFloat


class PemaFinetuningSettings(Settings):
    """Table 10: each model on each task, with and without PEMA."""

    models: Annotated[list[ModelName], Distinct]
    tasks: Names
    seeds: Seeds
    batch_size: PositiveInt
    input_length: PositiveInt
    epochs: PositiveFloat | None
    steps: PositiveInt | None
    optimizer: OptimizerSettings
    exceptions: dict[SafeName, ModelException]
    schedule: ScheduleSettings
    dropout: Dropout
    dtype: Computed
    partial_splits: Splits
    train_examples: PositiveInt | None
    evaluation_examples: PositiveInt | None

    @model_validator(mode="after")
    def _one_length(self) -> Self:
        if (self.epochs is None) == (self.steps is None):
            raise ValueError("give either epochs or steps, and null for the other")
        return self


class RuntimeTableSettings(Settings):
    """Table 9: seconds of PEMA beside those of fine-tuning, and peak memory with and without it."""

    model: ModelName | None
    tasks: Names
    repeats: PositiveInt
    steps: PositiveInt | None


class PublishedRuns(Settings):
    """What the published runs are reckoned for."""

    accelerator: Accelerator
    timed_model: ModelName


class PemaStatisticsSettings(Settings):
    """Intervals of the claims."""

    bootstrap: Annotated[PositiveInt, Field(ge=100)]
    seed: Seed


class VocabMemorySettings(Settings):
    """PEMA: fine-tuning with the rows of the embedding matrix that the data uses."""

    tasks: dict[SafeName, GlueTask]
    xnli: dict[SafeName, XnliColumn]
    reduction_models: Models
    size_models: Models
    multilingual_models: Models
    listed_models: Models
    family_models: Models
    counting: CountingSettings
    trend: TrendSettings
    unseen: UnseenSettings
    finetuning: PemaFinetuningSettings
    runtime_table: RuntimeTableSettings
    cost: PublishedRuns
    statistics: PemaStatisticsSettings

    @model_validator(mode="after")
    def _tasks_are_known(self) -> Self:
        for name, chosen in (("finetuning", self.finetuning.tasks), ("runtime_table", self.runtime_table.tasks)):
            if unknown := sorted(set(chosen) - set(self.tasks)):
                raise ValueError(f"{name}.tasks names {unknown[0]}; tasks has {', '.join(self.tasks)}")
        return self
