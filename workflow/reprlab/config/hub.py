"""Models of the hub among a paper's settings: their place is taken by the names of entries that are made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reprlab.registry.hub_models import PREFIX, HubModel, parse
from reprlab.runtime.errors import ReprlabError
from reprlab.settings.errors import setting_error
from reprlab.settings.overrides import Merged
from reprlab.settings.yaml_text import Key


@dataclass(frozen=True)
class Adopted:
    """A model of the hub that a setting names."""

    model: HubModel
    path: Key
    """The setting, below the paper."""
    place: str
    """Where it was set."""
    beside: tuple[str, ...] = ()
    """What the shipped setting names, at the scale or as published."""


def adopt(merged: Merged, shipped: Sequence[Mapping[str, Any]], prefix: Key) -> tuple[Merged, dict[str, Adopted]]:
    """Settings with names in place of `hub:owner/name@revision`, and the models of the hub by these names.

    `shipped` are the settings of the scale and those as published, which say of what kind a model is that the scale
    leaves out.

    Raises:
        ReprlabError: a text that begins so is of another form.
    """
    found: dict[str, Adopted] = {}

    def named(value: Any, path: Key) -> Any:
        if isinstance(value, Mapping):
            return {key: named(inner, (*path, key)) for key, inner in value.items()}
        if isinstance(value, list):
            return [named(inner, path) for inner in value]
        if not isinstance(value, str) or not value.startswith(PREFIX):
            return value
        place = merged.place(path)
        try:
            model = parse(value)
        except ReprlabError as error:
            raise setting_error((*prefix, *path), value, place, str(error)) from None
        beside = next(filter(None, (tuple(_texts(_at(values, path))) for values in shipped)), ())
        found[model.name] = Adopted(model, path, place, beside)
        return model.name

    values = named(merged.values, ())
    return (replace(merged, values=values), found) if found else (merged, found)


def restored(values: Any, hub: Mapping[str, Adopted]) -> Any:
    """Plain values as they were given."""
    if isinstance(values, Mapping):
        return {key: restored(value, hub) for key, value in values.items()}
    if isinstance(values, list):
        return [restored(value, hub) for value in values]
    return str(hub[values].model) if isinstance(values, str) and values in hub else values


def _at(values: Any, path: Key) -> Any:
    """The value at a path, or at the longest part of it that there is."""
    for key in path:
        if not isinstance(values, Mapping) or key not in values:
            break
        values = values[key]
    return values


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _texts(inner)
