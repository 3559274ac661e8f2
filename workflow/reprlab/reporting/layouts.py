"""The JSON options of papers that have no frame of results yet: which file feeds which row and column of a table.

The plan of a paper makes these models and hands each to its stage as one JSON option; every path in them is an input of
that stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reprlab.runtime.errors import ReprlabError

_STRICT = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

Scale = Literal["nano", "mini", "small", "paper"]
Layout = TypeVar("Layout", bound=BaseModel)


class Statistics(BaseModel):
    """The bootstrap behind intervals."""

    model_config = _STRICT

    resamples: int = Field(default=2000, ge=100)
    """Bootstrap samples."""
    confidence: float = Field(default=0.95, gt=0.5, lt=1)
    """Level of the intervals."""
    seed: int = Field(default=0, ge=0)
    """Seed of the resampling."""


def paths_of(value: object) -> Iterator[Path]:
    """Every path in a layout: what its rule must declare as input."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from paths_of(getattr(value, name))
    elif isinstance(value, dict):
        for item in value.values():
            yield from paths_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from paths_of(item)


def read_layout(
    model: type[Layout],
    layout: str,
    inputs: Sequence[Path],
    what: str,
    files: Callable[[Layout], Iterable[Path]] = paths_of,
) -> Layout:
    """The layout of `what`, given as JSON; its `files` must all be inputs.

    Raises:
        ReprlabError: it is not valid or names a file that is no input.
    """
    try:
        parsed = model.model_validate_json(layout)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ReprlabError(f"layout of {what}: {where}: {first['msg']}") from None
    undeclared = sorted(str(path) for path in set(files(parsed)) - set(inputs))
    if undeclared:
        raise ReprlabError(f"layout of {what}: {undeclared[0]} is not among the inputs; add it to the rule's input")
    return parsed
