"""Layers of settings: dotted edits, numbers from the command line, and a merge that remembers origins."""

import datetime
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reprlab.runtime.errors import ReprlabError
from reprlab.settings.yaml_text import Key, parse_scalar, parse_value

COMMAND_LINE = "command line"
_DEEPEST = 20
_DOTTED = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\Z")


@dataclass(frozen=True)
class Layer:
    """Settings from one place. `lines` gives the line of a key where the place is a file."""

    origin: str
    values: Mapping[str, Any]
    lines: Mapping[Key, int] = field(default_factory=dict)

    def place(self, path: Key) -> str:
        """Where `path` is set: the file with the line, or the name of the layer."""
        line = self.lines.get(path)
        return f"{self.origin}:{line}" if line else self.origin


@dataclass(frozen=True)
class Merged:
    """The merged values and, for each leaf, the layer that it comes from (the first, where several agree)."""

    values: dict[str, Any]
    layers: dict[Key, Layer]

    def place(self, path: Key) -> str:
        """Where the value at `path` (or the first one below it) was set."""
        for length in range(len(path), 0, -1):
            layer = self.layers.get(path[:length])
            if layer:
                return layer.place(path[:length])
        below = [(leaf, layer) for leaf, layer in self.layers.items() if leaf[: len(path)] == path]
        return below[-1][1].place(path) if below else "defaults"


def merge(layers: Iterable[Layer]) -> Merged:
    """Merge layers, the later over the earlier: mappings key by key, all else (lists too) as a whole."""
    values: dict[str, Any] = {}
    origins: dict[Key, Layer] = {}
    for layer in layers:
        _merge_into(values, layer.values, (), layer, origins)
    return Merged(values, origins)


def _merge_into(
    target: dict[str, Any], source: Mapping[str, Any], path: Key, layer: Layer, origins: dict[Key, Layer]
) -> None:
    for key, value in source.items():
        here = (*path, key)
        if isinstance(value, Mapping) and value:
            if not isinstance(target.get(key), dict):
                target[key] = {}
                origins.pop(here, None)
            _merge_into(target[key], value, here, layer, origins)
        elif isinstance(value, Mapping) and isinstance(target.get(key), dict):
            continue
        elif here in origins and repr(target[key]) == repr(value):
            continue  # said twice: the first place counts; repr because True equals 1
        else:
            # A look through all leaves for each new one would take time by the square of their number.
            for leaf in [leaf for leaf in origins if leaf[: len(here)] == here] if key in target else []:
                del origins[leaf]
            target[key] = dict(value) if isinstance(value, Mapping) else value
            origins[here] = layer


def normalise(values: Any) -> Any:
    """Plain values out of what another workflow or program hands over, where `3e-4` may be a string.

    Raises:
        ReprlabError: a value that is not a setting (an object, a key that is not a string), too deep nesting, or a
            group or list in two places, of which a few may stand for more than memory holds.
    """
    return _plain(values, (), set())


def _plain(values: Any, path: Key, seen: set[int]) -> Any:
    if len(path) > _DEEPEST:
        raise ReprlabError(f"{'.'.join(path[:4])}: nested too deeply ({COMMAND_LINE})")
    if isinstance(values, Mapping | list | tuple) and values:
        if id(values) in seen:
            where = ".".join(path[:4])
            raise ReprlabError(f"{where}: YAML aliases are not supported; write the value out ({COMMAND_LINE})")
        seen.add(id(values))
    if isinstance(values, Mapping):
        return {_name(key, path): _plain(value, (*path, str(key)), seen) for key, value in values.items()}
    if isinstance(values, list | tuple):
        return [_plain(value, (*path, str(place)), seen) for place, value in enumerate(values)]
    if isinstance(values, str):
        return parse_scalar(values) if values else values
    if isinstance(values, datetime.date):
        return values.isoformat()  # YAML 1.1 takes a run named 2026-11-21 for a date
    if values is None or isinstance(values, bool | int | float):
        return values
    raise ReprlabError(f"{'.'.join(path)}: {values!r:.60} is not a setting ({COMMAND_LINE})")


def _name(key: Any, path: Key) -> str:
    if not isinstance(key, str):
        raise ReprlabError(
            f"{'.'.join((*path, str(key)[:60]))}: a key must be a name, not {key!r:.60} ({COMMAND_LINE})"
        )
    return key


def parse_edits(text: Any) -> dict[str, Any]:
    """Turn `a.b=3e-4, c.d=[1, 2]; e=x` into nested mappings.

    Raises:
        ReprlabError: an edit has no `=`, or its left side is not a dotted name.
    """
    values: dict[str, Any] = {}
    parts = [str(part) for part in text] if isinstance(text, list | tuple) else [str(text)]
    for edit in (edit for part in parts for edit in split_edits(part)):
        name, equals, value = edit.partition("=")
        name = name.strip()
        if not equals or not _DOTTED.match(name):
            raise ReprlabError(f"set: {edit.strip()!r:.80} is not of the form section.key=value ({COMMAND_LINE})")
        _place(values, name.split("."), parse_value(value, name=f"set {name}"), name)
    return values


def _place(values: dict[str, Any], keys: list[str], value: Any, name: str) -> None:
    if len(keys) > _DEEPEST:
        raise ReprlabError(f"{name:.60}: nested too deeply ({COMMAND_LINE})")
    for key in keys[:-1]:
        inner = values.setdefault(key, {})
        if not isinstance(inner, dict):
            raise ReprlabError(f"set: {name} contradicts an earlier edit of {key} ({COMMAND_LINE})")
        values = inner
    if isinstance(values.get(keys[-1]), dict) and isinstance(value, dict):
        values[keys[-1]].update(value)
    else:
        values[keys[-1]] = value


def typed_settings(arguments: Iterable[str]) -> dict[str, Any]:
    """The settings of `--config key=value ...` by our YAML; `set` stays the text that was typed, for `parse_edits`.

    Raises:
        ReprlabError: a value is not YAML.
    """
    layers = []
    for name, _, text in (argument.partition("=") for argument in arguments):
        value = text if name == "set" else parse_value(text, name=f"--config {name}")
        layers.append(Layer(COMMAND_LINE, {name: value}))
    return merge(layers).values


# What YAML quotes is one piece: '' stands for a quote within single quotes, and a backslash escapes within double ones.
_QUOTED = re.compile(r"""'(?:[^']|'')*'|"(?:[^"\\]|\\.)*\"""", re.S)


def split_edits(text: str) -> list[str]:
    """Cut at commas and semicolons outside brackets and quotes; a quote opens where a value starts, as in YAML."""
    parts, current, depth, place, last = [], "", 0, 0, ""
    while place < len(text):
        quoted = _QUOTED.match(text, place) if last in {*"=[{(,:"} else None
        piece = quoted[0] if quoted else text[place]
        place += len(piece)
        last = last if piece.isspace() else piece[-1]
        depth += (piece in "[{(") - (piece in "]})")
        if piece in ",;" and depth <= 0:
            parts.append(current)
            current = ""
        else:
            current += piece
    return [part for part in [*parts, current] if part.strip()]
