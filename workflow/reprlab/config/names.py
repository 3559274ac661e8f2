"""Check that the entries which settings name exist in the registries."""

import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from reprlab.config.hub import Adopted
from reprlab.settings.base import NameIn
from reprlab.settings.errors import nearest, setting_error
from reprlab.settings.overrides import Merged
from reprlab.settings.yaml_text import Key, read_keys

_SECTIONS = {
    "models": ("config/models.yaml", ""),
    "corpora": ("config/datasets.yaml", "corpora"),
    "tasks": ("config/datasets.yaml", "tasks"),
}


def check_names(root: Path, settings: BaseModel, merged: Merged, prefix: Key, hub: Mapping[str, Adopted]) -> None:
    """Refuse a name that its registry does not hold, and a model of the hub where no model is named.

    Only the keys of the registries are read here; their entries are checked when they are loaded.

    Raises:
        ReprlabError: an unknown name, with the nearest known one.
    """
    files: dict[str, dict[str, list[str]]] = {}
    named = {name for _, name, registry in _named(settings, ()) if registry == "models"}
    for one in (one for name, one in hub.items() if name not in named):
        raise setting_error(
            (*prefix, *one.path), str(one.model), merged.place(one.path), "takes no model of the registry"
        )
    for path, name, registry in _named(settings, ()):
        file, section = _SECTIONS[registry]
        if not (root / file).exists():
            continue  # the registry's loader says so to whoever needs it
        if file not in files:
            files[file] = read_keys(root / file, name=file)
        keys = files[file]
        known = keys.get(section, []) if section else list(keys)
        if name not in known and name not in hub:
            where = f"{file}, {section}" if section else file
            problem = f"there is no such entry in {where}{nearest(name, known)}"
            raise setting_error((*prefix, *path), name, merged.place(path), problem)


def _named(settings: BaseModel, path: Key) -> Iterator[tuple[Key, str, str]]:
    """Path, name and registry of every setting that names an entry, and of every key that does."""
    for field, info in type(settings).model_fields.items():
        yield from _within(getattr(settings, field), info.annotation, info.metadata, (*path, field))


def _within(value: Any, annotation: Any, marks: Sequence[Any], path: Key) -> Iterator[tuple[Key, str, str]]:
    """Those of a value, with its groups, entries and lists, by what `annotation` and `marks` say of it."""
    if isinstance(value, BaseModel):
        yield from _named(value, path)
        return
    if not isinstance(value, dict | list | str):
        return  # most settings are numbers
    for kind, inner in _alternatives(annotation, marks):
        arguments = typing.get_args(kind)
        if isinstance(value, dict) and typing.get_origin(kind) is dict:
            for key, entry in value.items():
                yield from _within(key, arguments[0], (), (*path, key))
                yield from _within(entry, arguments[1], (), (*path, key))
        elif isinstance(value, list) and typing.get_origin(kind) is list:
            for entry in value:
                yield from _within(entry, arguments[0], (), path)
        elif isinstance(value, str):
            yield from ((path, value, mark.registry) for mark in inner if isinstance(mark, NameIn))


def _alternatives(annotation: Any, marks: Sequence[Any]) -> Iterator[tuple[Any, Sequence[Any]]]:
    """Types that a value may have, each with its marks."""
    if typing.get_origin(annotation) is typing.Annotated:
        yield from _alternatives(annotation.__origin__, (*marks, *annotation.__metadata__))
    elif typing.get_origin(annotation) in (typing.Union, types.UnionType):
        for one in typing.get_args(annotation):
            yield from _alternatives(one, marks)
    else:
        yield annotation, marks
