"""Settings of L3Prune (slug `overparameterized-encoders`).

Thennal, Fischer and Biemann: Large Language Models Are Overparameterized Text Encoders. Code: thennal10/l3prune.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from reprlab.config import groups
from reprlab.sentences.settings import Category
from reprlab.settings import base as t
from reprlab.training.settings import UpdateSettings

Depth = Annotated[str, StringConstraints(pattern=r"^(p[0-9][05]|one|small|large)$")]
"""Percent of the layers that are dropped, one layer, or a depth that the untrained losses choose."""
_Words = Annotated[list[str], Field(min_length=1), t.Distinct]


class Backbone(t.Settings):
    """A decoder, its chat format, and what is done with it."""

    model: t.ModelName
    before: str
    after: str
    partial: bool
    depths: Annotated[list[Depth], Field(min_length=1), t.Distinct]
    steps: t.PositiveInt
    warmup_steps: t.NonNegativeInt
    learning_rate: t.PositiveFloat


class Sample(t.Settings):
    """Triples whose untrained losses choose the depths."""

    batch_size: t.PositiveInt
    batches: t.PositiveInt
    seed: t.Seed


class Adapter(t.Settings):
    """Low-rank adapters."""

    rank: t.PositiveInt
    alpha: t.PositiveInt
    dropout: t.Dropout
    targets: Annotated[
        dict[t.SafeName, groups.Names],
        Field(min_length=1),
        t.ReadBeside("backbones.llama_3_8b.model=opt_125m", of="opt"),
    ]


class Training(t.Settings):
    """Contrastive training, alike for all."""

    adapter: Adapter
    batch_size: t.PositiveInt
    part_size: t.PositiveInt
    temperature: t.PositiveFloat
    schedule: t.Course
    optimizer: UpdateSettings
    mixed: bool
    both_sides: list[t.TaskDataName]
    seeds: t.Seeds
    log_every: t.PositiveInt


class Task(t.Settings):
    """One task of the evaluation."""

    category: Category
    dataset: t.TaskDataName
    instruction: str
    limit: groups.Limit = None
    """Examples; null takes all."""
    passages: groups.Limit = None
    """Passages of retrieval, those of the queries first; null takes all."""
    train_limit: groups.Limit = None
    """Training examples that classification draws from; null takes all."""
    per_label: groups.Limit = None
    """Examples of a label that classification draws; null: the number of all tasks."""


class Scoring(t.Settings):
    """How tasks are scored."""

    scored: Annotated[groups.Names, Field(min_length=1)]
    tasks: dict[t.SafeName, Task]
    per_label: t.PositiveInt
    draws: t.PositiveInt
    resamples: Annotated[t.PositiveInt, Field(ge=2)]
    loss_split: groups.Split
    loss_batches: t.PositiveInt


class Echo(t.Settings):
    """Texts that are read twice."""

    depths: Annotated[list[Depth], t.Distinct]
    between: str
    pooling: Literal["weighted_mean", "mean", "last"]
    part_size: t.PositiveInt


class WhitenedVectors(t.Settings):
    """Vectors without mean, and with covariance one."""

    depths: Annotated[list[Depth], t.Distinct]
    fit_on: Literal["train", "test"]
    texts: t.PositiveInt
    dimensions: t.PositiveInt | None
    seed: t.Seed
    both_ends: bool


class PrunedBlocks(t.Settings):
    """Other layers than the last ones that are removed."""

    ways: Annotated[list[Literal["block_cosine", "replace_me"]], t.Distinct]
    depths: Annotated[list[Depth], t.Distinct]
    texts: t.PositiveInt
    alpha: t.NonNegativeFloat
    first_tokens: bool
    seed: t.Seed


class Matryoshka(t.Settings):
    """One training for all depths."""

    depths: Annotated[list[Depth], t.Distinct]
    narrowest: t.PositiveInt
    weight: t.NonNegativeFloat
    alignment: t.NonNegativeFloat
    temperature: t.PositiveFloat


class Neighbours(t.Settings):
    """Published rivals, each beside the plain encoder of the same depth."""

    echo: Echo
    whitening: WhitenedVectors
    pruning: PrunedBlocks
    matryoshka: Matryoshka


class OverparameterizedEncodersSettings(t.Settings):
    """Decoders pruned from the top before they are trained as sentence encoders."""

    backbones: dict[t.SafeName, Backbone]
    compared: Annotated[groups.Names, Field(min_length=1)]
    published: dict[t.SafeName, groups.PublishedEncoder]
    beside: groups.Names
    triples: Annotated[list[t.TaskDataName], Field(min_length=1), t.Distinct]
    instructions: dict[t.SafeName, _Words]
    max_length: t.PositiveInt
    pooling: Literal["weighted_mean", "mean", "last"]
    sample: Sample
    training: Training
    neighbours: Neighbours
    evaluation: Scoring
    dtype: t.Computed
    warm_start: Annotated[
        groups.WarmStart, t.ReadBeside("backbones.llama_3_8b.model=llama_deep_nano; warm_start.text.corpus=squad_text")
    ]
    cost: groups.Published

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        groups.require("compared", self.compared, self.backbones, "backbones")
        groups.require("beside", self.beside, self.published, "published")
        groups.require("training.both_sides", self.training.both_sides, self.triples, "triples")
        groups.require("evaluation.scored", self.evaluation.scored, self.evaluation.tasks, "evaluation.tasks")
        return self
