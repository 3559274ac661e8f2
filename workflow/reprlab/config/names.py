"""Check that the entries which settings name exist in the registries."""

import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from reprlab.config.errors import nearest, setting_error
from reprlab.config.overrides import Merged
from reprlab.config.settings import NameIn
from reprlab.config.yaml_text import Key, read_keys

_SECTIONS = {
    "models": ("config/models.yaml", ""),
    "corpora": ("config/datasets.yaml", "corpora"),
    "tasks": ("config/datasets.yaml", "tasks"),
}


def check_names(root: Path, settings: BaseModel, merged: Merged, prefix: Key) -> None:
    """Refuse a name that its registry does not hold.

    Only the keys of the registries are read here; their entries are checked when they are loaded.

    Raises:
        ReprlabError: an unknown name, with the nearest known one.
    """
    files: dict[str, dict[str, list[str]]] = {}
    for path, name, registry in _named(settings, ()):
        file, section = _SECTIONS[registry]
        if not (root / file).exists():
            continue  # the registry's loader says so to whoever needs it
        if file not in files:
            files[file] = read_keys(root / file, name=file)
        keys = files[file]
        known = keys.get(section, []) if section else list(keys)
        if name not in known:
            where = f"{file}, {section}" if section else file
            problem = f"there is no such entry in {where}{nearest(name, known)}"
            raise setting_error((*prefix, *path), name, merged.place(path), problem)


def _named(settings: BaseModel, path: Key) -> Iterator[tuple[Key, str, str]]:
    """Path, name and registry of every setting that names an entry."""
    for field, info in type(settings).model_fields.items():
        registries = [mark.registry for mark in (*info.metadata, *_marks(info.annotation)) if isinstance(mark, NameIn)]
        for here, value in _within(getattr(settings, field), (*path, field)):
            if isinstance(value, BaseModel):
                yield from _named(value, here)
            elif isinstance(value, str):
                yield from ((here, value, registry) for registry in registries)


def _within(value: Any, path: Key) -> Iterator[tuple[Key, Any]]:
    """The groups and texts of a value, in its entries and lists too."""
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from _within(entry, (*path, key))
    elif isinstance(value, list):
        for entry in value:
            yield from _within(entry, path)
    else:
        yield path, value


def _marks(annotation: Any) -> Iterator[Any]:
    if typing.get_origin(annotation) is typing.Annotated:
        yield from annotation.__metadata__
    for argument in typing.get_args(annotation):
        if not isinstance(argument, str):
            yield from _marks(argument)
