"""Conditions of settings: beside which others they are read or may have another value, as a paper's schema says."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from pydantic import BaseModel

from reprlab.settings.base import ReadBeside
from reprlab.settings.errors import model_at
from reprlab.settings.overrides import split_edits
from reprlab.settings.yaml_text import Key


def condition(model: type[BaseModel], setting: Key) -> list[str]:
    """The edits, `name=value` with the name below the paper, beside which a setting is read.

    Args:
        model: the paper's settings.
        setting: path below them.
    """
    name = ".".join(setting)
    fitting = (
        mark.edits
        for length in range(len(setting), 0, -1)
        for mark in _marks(model, setting[:length])
        if not mark.of or fnmatchcase(name, f"*.{mark.of}")
    )
    return [edit for edit in _written_out(model, setting, next(fitting, "")) if edit.partition("=")[0] != name]


def _marks(model: type[BaseModel], setting: Key) -> list[ReadBeside]:
    group = model_at(model, setting[:-1])
    field = group.model_fields.get(setting[-1]) if group else None
    return [mark for mark in field.metadata if isinstance(mark, ReadBeside)] if field else []


def _written_out(model: type[BaseModel], setting: Key, edits: str) -> Iterator[str]:
    """Each edit with its whole name, and in place of a name without a value the edits of that setting."""
    for edit in map(str.strip, split_edits(edits)):
        full = ".".join((*setting[:-1], edit[1:])) if edit.startswith(".") else edit
        other, equals, _ = full.partition("=")
        if equals:
            yield full
        elif other:
            yield from condition(model, tuple(other.split(".")))
