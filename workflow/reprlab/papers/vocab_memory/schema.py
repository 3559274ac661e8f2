"""Settings of the PEMA paper (slug `vocab-memory`).

Williams and Aletras: Vocabulary-level Memory Efficiency for Language Model Fine-tuning.
Upstream code: https://github.com/mlsw/partial-embedding-matrix-adaptation, last commit 2025-02-20.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from reprlab.config import groups
from reprlab.settings import base as t
from reprlab.training.settings import OptimizerSettings, ScheduleSettings


class GlueTask(t.Settings):
    """One column of the GLUE tables."""

    dataset: t.TaskDataName | None
    metric: Literal["accuracy", "matthews", "f1", "spearman"]


class CountingSettings(t.Settings):
    """Token counts behind Figure 2 and Tables 1 to 4."""

    max_length: t.PositiveInt
    splits: Annotated[list[groups.Splits], Field(min_length=1)]
    compared: groups.Splits
    further: Annotated[list[t.TaskDataName], t.Distinct]
    stand_ins: dict[t.SafeName, t.ModelName]

    @model_validator(mode="after")
    def _compared_is_shown(self) -> Self:
        if self.compared not in self.splits:
            raise ValueError(f"compared ({', '.join(self.compared)}) must be one of splits")
        return self


class TrendSettings(t.Settings):
    """Figure 2: unique tokens by tokens."""

    tokenizers: groups.Models


class UnseenSettings(t.Settings):
    """Table 1: tokens that do not occur in a corpus."""

    corpus: t.CorpusName | None
    tokenizers: groups.Models
    examples: t.NonNegativeInt


class PemaFinetuningSettings(groups.Length):
    """Table 10: each model on each task, with and without PEMA."""

    models: Annotated[list[t.ModelName], t.Distinct]
    tasks: groups.Names
    seeds: t.Seeds
    batch_size: t.PositiveInt
    input_length: t.PositiveInt
    optimizer: OptimizerSettings
    learning_rates: dict[t.SafeName, t.PositiveFloat]
    schedule: ScheduleSettings
    dropout: t.Dropout
    dtype: t.Computed
    partial_splits: groups.Splits
    train_examples: groups.Limit
    evaluation_examples: groups.Limit


class RuntimeTableSettings(t.Settings):
    """Table 9: seconds of PEMA beside those of fine-tuning, and peak memory with and without it."""

    model: t.ModelName | None
    published_model: t.ModelName
    tasks: groups.Names
    repeats: t.PositiveInt
    steps: t.PositiveInt | None


class TrimmedSettings(t.Settings):
    """Rows of tokens outside some splits go for good."""

    splits: groups.Splits


class FactorisedSettings(t.Settings):
    """A product of two matrices stands for the embedding."""

    rank: t.PositiveInt


class Neighbours(t.Settings):
    """Published rivals of PEMA, which leave the embedding smaller for good."""

    models: Annotated[list[t.ModelName], t.Distinct]
    trimmed: TrimmedSettings
    factorised: FactorisedSettings


class VocabMemorySettings(t.Settings):
    """PEMA: fine-tuning with the rows of the embedding matrix that the data uses."""

    tasks: dict[t.SafeName, GlueTask]
    xnli: dict[t.SafeName, Annotated[list[t.TaskDataName], t.Distinct]]
    reduction_models: groups.Models
    size_models: groups.Models
    multilingual_models: groups.Models
    listed_models: groups.Models
    family_models: groups.Models
    counting: CountingSettings
    trend: TrendSettings
    unseen: UnseenSettings
    finetuning: Annotated[PemaFinetuningSettings, t.ReadBeside(".epochs=null", of="steps")]
    runtime_table: RuntimeTableSettings
    neighbours: Neighbours
    cost: groups.Published

    @model_validator(mode="after")
    def _tasks_are_known(self) -> Self:
        for name, chosen in (("finetuning", self.finetuning.tasks), ("runtime_table", self.runtime_table.tasks)):
            groups.require(f"{name}.tasks", chosen, self.tasks, "tasks")
        run = [*self.finetuning.models, *filter(None, [self.runtime_table.model])]
        groups.require("neighbours.models", self.neighbours.models, run, "finetuning.models and runtime_table.model")
        return self
