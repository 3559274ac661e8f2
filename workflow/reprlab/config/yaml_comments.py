"""Comments of the YAML files: what each key means and where its value comes from."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from reprlab.config.errors import holds_entries
from reprlab.config.yaml_text import Key

T = TypeVar("T")
_SOURCE = re.compile(r"\((?:paper, |upstream code, |\[decision\] ).{3,}\)")


def comments(text: str) -> dict[Key, str]:
    """The comment of every key that has one: the lines right above it and what stands behind it."""
    lines = text.splitlines()
    return {path: words for path, key, place in _keys(YAML().load(text), ()) if (words := _words(lines, key, place))}


def _keys(values: Any, path: Key) -> Iterator[tuple[Key, int, str]]:
    """Path, line (from 0) and text behind the value of every key."""
    for key, value in values.items() if isinstance(values, CommentedMap) else ():
        token = (values.ca.items.get(key) or [None] * 4)[2]
        yield (*path, key), values.lc.key(key)[0], token.value.splitlines()[0] if token and token.value.strip() else ""
        yield from _keys(value, (*path, key))


def _words(lines: list[str], line: int, behind: str) -> str:
    above = line
    while above > 0 and lines[above - 1].lstrip().startswith("#"):
        above -= 1
    return " ".join(part.strip().lstrip("# ").strip() for part in [*lines[above:line], behind]).strip()


def sources(text: str, model: type[BaseModel], leaves: Iterable[Key]) -> dict[Key, str]:
    """Where the value of each leaf comes from, as the comments of a paper's file say; leaves without are left out.

    A comment holds for its key and for all below it. Of equal entries, the first one's comments hold for the others.
    """
    words = {path: found[0] for path, comment in comments(text).items() if (found := _SOURCE.findall(comment))}
    return {path: found[0] for path in leaves if (found := list(holding(path, model, words)))}


def holding(path: Key, model: type[BaseModel], words: Mapping[Key, T]) -> Iterator[T]:
    """Of what is said of keys, what holds for one: its own, that of equal entries, then of the groups around it."""
    for length in range(len(path), 0, -1):
        own = path[:length]
        tables = [place for place in range(1, length) if holds_entries(model, own[:place])]
        alike = [
            other
            for other in words
            if len(other) == length and all(other[i] == own[i] or i in tables for i in range(length))
        ]
        yield from (words[found] for found in dict.fromkeys([own, *alike]) if found in words)
