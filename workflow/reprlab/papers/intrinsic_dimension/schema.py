"""Settings of the paper on intrinsic dimension (slug `intrinsic-dimension`).

Janapati and Ji: A Comparative Study of Learning Paradigms in Large Language Models via Intrinsic Dimension. Upstream
code: https://github.com/saahithjanapati/intrinsic-dimension-of-learning-paradigms, commit de35a47, 2025-09-03.
"""

# ruff: noqa: RUF012 (pydantic copies mutable defaults)

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from reprlab.config import groups
from reprlab.geometry.settings import Duplicates, EstimatorRecipe
from reprlab.representations.settings import AdapterRecipe, LabelIds
from reprlab.settings import base as t
from reprlab.training.settings import OptimizerSettings

Shots = Annotated[list[t.NonNegativeInt], Field(min_length=1), t.Increasing]


class PromptedDataset(t.Settings):
    """A data set and the form of its prompts."""

    dataset: t.TaskDataName | None
    template: Annotated[str, StringConstraints(min_length=1, max_length=2_000)] = "{text}"
    words: list[Annotated[str, StringConstraints(min_length=1, max_length=100)]] = []
    validation_splits: Annotated[list[Literal["validation", "test"]], Field(min_length=1)] = ["validation"]
    max_words: t.PositiveInt | None = None


class PromptDataSettings(t.Settings):
    """Data sets and the size of their splits."""

    train_items: t.PositiveInt
    validation_items: t.PositiveInt
    demonstration_seed: t.Seed
    scratch: Annotated[
        groups.ScratchText, t.ReadBeside("comparison.models=[llama_nano]; data.scratch.corpus=wikipedia_sample")
    ]
    datasets: dict[t.SafeName, PromptedDataset]


class CollectionSettings(t.Settings):
    """Forward passes whose last-token states are kept."""

    dtype: t.Computed
    label_ids: LabelIds
    batch_tokens: t.PositiveInt
    precision_items: t.NonNegativeInt


class EstimationSettings(t.Settings):
    """Estimators of intrinsic dimension."""

    estimators: Annotated[dict[t.SafeName, EstimatorRecipe], Field(min_length=1)]
    duplicates: Duplicates
    norm: Literal["paper", "upstream"]
    halves: t.NonNegativeInt
    halved: groups.Names
    confidence: t.OpenProbability
    seed: t.Seed

    @model_validator(mode="after")
    def _halved_exist(self) -> Self:
        groups.require("halved", self.halved, self.estimators, "estimators")
        return self


class LoraSettings(AdapterRecipe, groups.Batches):
    """Low-rank adapters and their training."""

    optimizer: OptimizerSettings
    schedule: t.Course
    dtype: t.Computed
    seed: t.Seed


class ComparisonSettings(t.Settings):
    """In-context learning against fine-tuning (section 7)."""

    models: groups.Models
    drawn: t.ModelName
    shots: Shots
    steps: t.PositiveInt
    warmup_steps: t.NonNegativeInt


class SftDynamicsSettings(groups.LadderRun):
    """Fine-tuning step by step (section 5)."""

    models: groups.Models
    warmup_steps: t.NonNegativeInt


class IclDynamicsSettings(t.Settings):
    """In-context learning by the number of demonstrations (section 6)."""

    models: groups.Models
    datasets: groups.Names
    shots: Shots


class IclUniqueSettings(t.Settings):
    """No demonstration in two prompts (appendix D)."""

    models: groups.Models
    shots: Shots
    pool: t.PositiveInt
    datasets: dict[t.SafeName, PromptedDataset]


class TokenGeometry(t.Settings):
    """Clouds of the tokens of single prompts, and of the same tokens in a random order."""

    models: Annotated[list[t.ModelName], t.Distinct]
    datasets: groups.Names
    shots: t.NonNegativeInt
    prompts: t.PositiveInt
    tokens: Annotated[t.PositiveInt, Field(ge=8)]
    neighbours: t.PositiveInt
    estimator: t.SafeName
    seed: t.Seed

    @model_validator(mode="after")
    def _neighbours_exist(self) -> Self:
        if self.neighbours >= self.tokens:
            raise ValueError(f"neighbours: {self.neighbours} of {self.tokens} tokens; lower it, or raise tokens")
        return self


class Neighbours(t.Settings):
    """Published measures beside the paper's."""

    token_geometry: TokenGeometry


class ReplicationSettings(t.Settings):
    """Conditions of the comparison again with other seeds of demonstrations and adapters."""

    seeds: Annotated[list[t.Seed], t.Distinct]
    datasets: groups.Names
    shots: list[t.PositiveInt]


class IntrinsicDimensionSettings(t.Settings):
    """Intrinsic dimension of hidden states under in-context learning and under fine-tuning."""

    data: PromptDataSettings
    collection: CollectionSettings
    estimation: EstimationSettings
    finetuning: LoraSettings
    comparison: ComparisonSettings
    sft_dynamics: SftDynamicsSettings
    icl_dynamics: IclDynamicsSettings
    icl_unique: IclUniqueSettings
    replication: Annotated[
        ReplicationSettings,
        t.ReadBeside(".seeds=[7]", of="datasets"),
        t.ReadBeside(".seeds=[7]; .datasets=[sst2]", of="shots"),
    ]
    neighbours: Neighbours
    cost: groups.Published

    @model_validator(mode="after")
    def _named_datasets_exist(self) -> Self:
        known = [name for name, entry in self.data.datasets.items() if entry.dataset]
        beside = self.neighbours.token_geometry
        sections = {
            "icl_dynamics": self.icl_dynamics.datasets,
            "replication": self.replication.datasets,
            "neighbours.token_geometry": beside.datasets,
        }
        for section, chosen in sections.items():
            groups.require(f"{section}.datasets", chosen, known, "data.datasets (with data)")
        where, estimators = "neighbours.token_geometry.estimator", self.estimation.estimators
        groups.require(where, [beside.estimator], estimators, "estimation.estimators")
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
