"""Settings of the paper on intrinsic dimension (slug `intrinsic-dimension`).

Janapati and Ji: A Comparative Study of Learning Paradigms in Large Language Models via Intrinsic Dimension. Upstream
code: https://github.com/saahithjanapati/intrinsic-dimension-of-learning-paradigms, commit de35a47, 2025-09-03.
"""

# ruff: noqa: RUF012 (pydantic copies mutable defaults)

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from reprlab.config.settings import (
    Computed,
    CorpusName,
    Course,
    Distinct,
    Ladder,
    ModelName,
    NonNegativeInt,
    OpenProbability,
    PositiveFloat,
    PositiveInt,
    SafeName,
    Seed,
    Settings,
    TaskDataName,
)
from reprlab.geometry.settings import Duplicates, EstimatorRecipe
from reprlab.reporting.cost_layout import Accelerator
from reprlab.representations.settings import AdapterRecipe, LabelIds
from reprlab.text.segmentation import SegmentationSettings
from reprlab.training.settings import OptimizerSettings


def _sorted(values: list[int]) -> list[int]:
    if values != sorted(set(values)):
        raise ValueError("must increase from each number to the next")
    return values


Shots = Annotated[list[NonNegativeInt], Field(min_length=1), AfterValidator(_sorted)]
Models = Annotated[list[ModelName], Field(min_length=1), Distinct]
Names = Annotated[list[SafeName], Distinct]


class PromptedDataset(Settings):
    """A data set and the form of its prompts."""

    dataset: TaskDataName | None
    template: Annotated[str, StringConstraints(min_length=1, max_length=2_000)] = "{text}"
    words: list[Annotated[str, StringConstraints(min_length=1, max_length=100)]] = []
    validation_splits: Annotated[list[Literal["validation", "test"]], Field(min_length=1)] = ["validation"]
    max_words: PositiveInt | None = None


class ScratchText(Settings):
    """Text and vocabulary of models that are drawn at random."""

    corpus: CorpusName | None
    segmentation: SegmentationSettings
    pieces: Annotated[PositiveInt, Field(ge=64)]


class PromptDataSettings(Settings):
    """Data sets and the size of their splits."""

    train_items: PositiveInt
    validation_items: PositiveInt
    demonstration_seed: Seed
    scratch: ScratchText
    datasets: dict[SafeName, PromptedDataset]


class CollectionSettings(Settings):
    """Forward passes whose last-token states are kept."""

    dtype: Computed
    label_ids: LabelIds
    batch_tokens: PositiveInt
    precision_items: NonNegativeInt


class EstimationSettings(Settings):
    """Estimators of intrinsic dimension."""

    estimators: Annotated[dict[SafeName, EstimatorRecipe], Field(min_length=1)]
    duplicates: Duplicates
    norm: Literal["paper", "upstream"]
    halves: NonNegativeInt
    halved: Names
    confidence: OpenProbability
    seed: Seed

    @model_validator(mode="after")
    def _halved_exist(self) -> Self:
        if unknown := sorted(set(self.halved) - set(self.estimators)):
            raise ValueError(f"halved names {unknown[0]}; estimators has {', '.join(self.estimators)}")
        return self


class LoraSettings(AdapterRecipe, Settings):
    """Low-rank adapters and their training."""

    batch_size: PositiveInt
    accumulation: PositiveInt
    optimizer: OptimizerSettings
    schedule: Course
    dtype: Computed
    seed: Seed

    @model_validator(mode="after")
    def _parts_are_equal(self) -> Self:
        if self.batch_size % self.accumulation:
            raise ValueError(f"batch_size ({self.batch_size}) must be a multiple of accumulation ({self.accumulation})")
        return self


class ComparisonSettings(Settings):
    """In-context learning against fine-tuning (section 7)."""

    models: Models
    shots: Shots
    steps: PositiveInt
    warmup_steps: NonNegativeInt


class SftDynamicsSettings(Settings):
    """Fine-tuning step by step (section 5)."""

    models: Models
    steps: PositiveInt
    warmup_steps: NonNegativeInt
    ladder: Ladder

    @model_validator(mode="after")
    def _ladder_ends_with_the_run(self) -> Self:
        if self.ladder[-1] > self.steps:
            raise ValueError(f"ladder goes to {self.ladder[-1]}, beyond steps ({self.steps})")
        return self


class IclDynamicsSettings(Settings):
    """In-context learning by the number of demonstrations (section 6)."""

    models: Models
    datasets: Names
    shots: Shots


class IclUniqueSettings(Settings):
    """No demonstration in two prompts (appendix D)."""

    models: Models
    shots: Shots
    pool: PositiveInt
    datasets: dict[SafeName, PromptedDataset]


class ReplicationSettings(Settings):
    """Conditions of the comparison again with other seeds of demonstrations and adapters."""

    seeds: Annotated[list[Seed], Distinct]
    datasets: Names
    shots: list[PositiveInt]


class PublishedRuns(Settings):
    """What the published runs are reckoned for."""

    accelerator: Accelerator
    characters: dict[SafeName, PositiveInt]
    characters_otherwise: PositiveInt
    characters_of_token: PositiveFloat


class IntrinsicDimensionSettings(Settings):
    """Intrinsic dimension of hidden states under in-context learning and under fine-tuning."""

    data: PromptDataSettings
    collection: CollectionSettings
    estimation: EstimationSettings
    finetuning: LoraSettings
    comparison: ComparisonSettings
    sft_dynamics: SftDynamicsSettings
    icl_dynamics: IclDynamicsSettings
    icl_unique: IclUniqueSettings
    replication: ReplicationSettings
    cost: PublishedRuns

    @model_validator(mode="after")
    def _named_datasets_exist(self) -> Self:
        known = {name for name, entry in self.data.datasets.items() if entry.dataset}
        for section, names in (
            ("icl_dynamics", self.icl_dynamics.datasets),
            ("replication", self.replication.datasets),
        ):
            for name in names:
                if name not in known:
                    raise ValueError(f"{section}.datasets: {name} is not in data.datasets, or has no data there")
        return self

    @model_validator(mode="after")
    def _seeds_are_further_ones(self) -> Self:
        taken = {self.data.demonstration_seed, self.finetuning.seed}.intersection(self.replication.seeds)
        if taken:
            raise ValueError(f"replication.seeds: {min(taken)} is the seed of the main run")
        return self

    @model_validator(mode="after")
    def _precision_fits(self) -> Self:
        if self.collection.precision_items > self.data.validation_items:
            raise ValueError("collection.precision_items is larger than data.validation_items")
        return self
