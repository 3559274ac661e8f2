"""What every settings model shares: the base class, where a value comes from, and the types of values."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints


class Settings(BaseModel):
    """A frozen group of settings: unknown keys and values of another type are refused.

    The string under a field is its description; `render.py` writes it into the YAML files.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


@dataclass(frozen=True)
class Source:
    """Where a default comes from: a place in the paper, a file upstream, or a decision of ours.

    On a field that holds a group, it covers the leaves of the group; `leaves` names those that come from elsewhere.
    """

    text: str
    leaves: dict[str, "Source"] = field(default_factory=dict)


def paper(place: str, **leaves: Source) -> Source:
    """The value is printed in the paper at `place` (section, table or figure)."""
    return Source(f"paper, {place}", leaves)


def upstream(place: str, **leaves: Source) -> Source:
    """The value was read in the authors' released code at `place`."""
    return Source(f"upstream code, {place}", leaves)


def decision(reason: str, **leaves: Source) -> Source:
    """The value is ours; `reason` says why."""
    return Source(f"[decision] {reason}", leaves)


@dataclass(frozen=True)
class NameIn:
    """Marks a string as the name of an entry: of `models` in models.yaml, of `corpora` or `tasks` in datasets.yaml."""

    registry: str


def _whole(value: Any) -> Any:
    # 1e6 is a float in YAML; a count may be written so.
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _text_of_number(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _increasing(values: list[int]) -> list[int]:
    if any(later <= earlier for earlier, later in pairwise(values)):
        raise ValueError("must increase from each number to the next")
    return values


def _distinct(values: list[Any]) -> list[Any]:
    if any(value in values[:place] for place, value in enumerate(values)):
        raise ValueError("must not repeat a value")
    return values


_LARGEST = 2**53

SafeName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_]{0,63}$")]
"""A name that becomes part of paths, wildcards and commands: small letters, digits and `_`."""

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z-]{0,63}$")]

RunName = Annotated[
    str, BeforeValidator(_text_of_number), StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")
]
ColumnName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_]{0,63}$")]
ModelName = Annotated[SafeName, NameIn("models")]
CorpusName = Annotated[SafeName, NameIn("corpora")]
TaskDataName = Annotated[SafeName, NameIn("tasks")]

Int = Annotated[int, BeforeValidator(_whole)]
PositiveInt = Annotated[Int, Field(gt=0, le=_LARGEST)]
NonNegativeInt = Annotated[Int, Field(ge=0, le=_LARGEST)]
Seed = Annotated[Int, Field(ge=0, lt=2**31)]
PositiveFloat = Annotated[float, Field(gt=0)]
NonNegativeFloat = Annotated[float, Field(ge=0)]
Probability = Annotated[float, Field(ge=0, le=1)]
OpenProbability = Annotated[float, Field(gt=0, lt=1)]

Ladder = Annotated[list[PositiveInt], Field(min_length=1), AfterValidator(_increasing)]
"""Steps at which a checkpoint is kept, in increasing order."""

Seeds = Annotated[list[Seed], Field(min_length=1), AfterValidator(_distinct)]
LearningRates = Annotated[list[PositiveFloat], Field(min_length=1), AfterValidator(_distinct)]
Distinct = AfterValidator(_distinct)
