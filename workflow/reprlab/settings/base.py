"""Base of every settings model: the class, the types of values, and a stage's settings out of a paper's."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints


class Settings(BaseModel):
    """A frozen group of settings: unknown keys and values of another type are refused.

    The values are in `config/papers/<slug>.yaml`, with what each key means and where its value comes from; a model
    holds the types. Groups that a stage has settings for are that stage's models.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


Model = TypeVar("Model", bound=BaseModel)


def derive(model: type[Model], /, *groups: BaseModel, **own: Any) -> Model:
    """A stage's settings: `own`, and for its other fields the values of the same names in `groups` (the first wins).

    Raises:
        pydantic.ValidationError: a field without a default has no value, or the values do not go together.
    """
    values = dict(own)
    for group in groups:
        shared = type(group).model_fields.keys() & model.model_fields.keys()
        values = {**{name: getattr(group, name) for name in shared}, **values}
    return model.model_validate(values)


@dataclass(frozen=True)
class NameIn:
    """Marks a string as the name of an entry: of `models` in models.yaml, of `corpora` or `tasks` in datasets.yaml."""

    registry: str


@dataclass(frozen=True)
class ReadBeside:
    """Marks a setting, and all below it, as read beside other settings only, or as free to vary there only.

    Args:
        edits: of the form ``model=bert_mini; .steps=null``. A name is that of a setting of the paper or, after a dot,
            one of the same group as the setting that is read. A name without a value stands for the edits beside which
            that setting is read. Empty: it is read beside nothing, whatever is said of the groups around it.
        of: the settings below the marked one that are meant, by the end of their names; all where it is empty.
    """

    edits: str
    of: str = ""


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
Dropout = Annotated[float, Field(ge=0, lt=1)]
Course = Literal["constant", "linear", "inverse_sqrt", "cosine"]
"""Learning rate after the warm-up."""

Computed = Literal["auto", "float32", "bfloat16"]
"""Arithmetic; auto takes numerics.dtype of config.yaml."""

Increasing = AfterValidator(_increasing)
Ladder = Annotated[list[PositiveInt], Field(min_length=1), Increasing]
"""Steps at which a checkpoint is kept, in increasing order."""

Seeds = Annotated[list[Seed], Field(min_length=1), AfterValidator(_distinct)]
LearningRates = Annotated[list[PositiveFloat], Field(min_length=1), AfterValidator(_distinct)]
Distinct = AfterValidator(_distinct)
