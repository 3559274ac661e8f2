"""Groups of settings and checks that papers share."""

from collections.abc import Iterable
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from reprlab.reporting.cost_layout import Accelerator
from reprlab.settings.base import (
    CorpusName,
    Course,
    Distinct,
    Dropout,
    Ladder,
    ModelName,
    NonNegativeInt,
    OpenProbability,
    PositiveFloat,
    PositiveInt,
    SafeName,
    Seeds,
    Settings,
)
from reprlab.text.segmentation import SegmentationSettings
from reprlab.training.settings import UpdateSettings

Models = Annotated[list[ModelName], Field(min_length=1), Distinct]
Names = Annotated[list[SafeName], Distinct]
Split = Literal["train", "validation", "test"]
Splits = Annotated[list[Split], Field(min_length=1), Distinct]
Limit = PositiveInt | None
"""At most this many; null takes all."""


class Batches(Settings):
    """The batch of an update, and the parts into which it is cut to save memory."""

    batch_size: PositiveInt
    accumulation: PositiveInt

    @model_validator(mode="after")
    def _parts_are_equal(self) -> Self:
        if self.batch_size % self.accumulation:
            raise ValueError(f"batch_size ({self.batch_size}) must be a multiple of accumulation ({self.accumulation})")
        return self


class Finetuning(Batches):
    """Passes over labelled examples."""

    learning_rate: PositiveFloat
    epochs: PositiveFloat
    schedule: Course
    optimizer: UpdateSettings
    length: Annotated[PositiveInt, Field(ge=8)]
    dropout: Dropout
    seeds: Seeds


class Length(Settings):
    """How long to train: optimizer steps or passes over the data."""

    steps: PositiveInt | None = None
    epochs: PositiveFloat | None = None

    @model_validator(mode="after")
    def _steps_or_epochs(self) -> Self:
        if (self.steps is None) == (self.epochs is None):
            raise ValueError("give either steps or epochs, and null for the other")
        return self


class LadderRun(Settings):
    """A training run, some of whose steps are kept."""

    steps: PositiveInt
    ladder: Ladder

    @model_validator(mode="after")
    def _ladder_within_steps(self) -> Self:
        if self.ladder[-1] > self.steps:
            raise ValueError(f"ladder goes to {self.ladder[-1]}, beyond steps ({self.steps})")
        return self


class ScratchText(Settings):
    """Text and vocabulary of models that are drawn at random."""

    corpus: CorpusName | None
    segmentation: SegmentationSettings
    pieces: Annotated[PositiveInt, Field(ge=64)]


class WarmStart(Settings):
    """Pre-training of models that are drawn at random, before what the paper does with them."""

    text: ScratchText
    steps: PositiveInt
    batch_size: PositiveInt
    length: Annotated[PositiveInt, Field(ge=8)]
    learning_rate: PositiveFloat
    warmup_steps: NonNegativeInt


class Intervals(Settings):
    """Intervals over examples and over batches."""

    bootstrap: Annotated[PositiveInt, Field(ge=100)]
    confidence: OpenProbability


class Published(Settings):
    """Hardware that the published runs are reckoned with."""

    accelerator: Accelerator
    hours: dict[SafeName, PositiveFloat | str]


class PublishedEncoder(Settings):
    """A sentence encoder of others that is scored as it is, with the words before its texts."""

    model: ModelName
    pooling: Literal["first", "mean", "pooler"]
    max_length: PositiveInt
    query: str
    passage: str
    text: str


def require(where: str, names: Iterable[str], known: Iterable[str], table: str) -> None:
    """Refuse names that `table` does not have.

    Raises:
        ValueError: the first such name, with `where` it stands.
    """
    have = list(known)
    for name in names:
        if name not in have:
            raise ValueError(f"{where} names {name}; {table} has {', '.join(have) or 'nothing'}")
