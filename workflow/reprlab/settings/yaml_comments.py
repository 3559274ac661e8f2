"""Comments of the YAML files: what each key means and where its value comes from."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from reprlab.settings.errors import holds_entries
from reprlab.settings.yaml_text import Key

_SOURCE = re.compile(r"\((?:paper, |upstream code, |\[decision\] ).{3,}\)")


def comments(text: str) -> dict[Key, str]:
    """The comment of every key that has one: the lines right above it and what is behind it."""
    lines = text.splitlines()
    keys = _keys(YAML().load(text), (), lines)
    return {path: words for path, key, behind in keys if (words := _words(lines, key, behind))}


def _keys(values: Any, path: Key, lines: list[str]) -> Iterator[tuple[Key, int, str]]:
    """Path, line (from 0) and text behind the value of every key."""
    for key, value in values.items() if isinstance(values, CommentedMap) else ():
        token = (values.ca.items.get(key) or [None] * 4)[2]
        # Below a text of several lines it is the comment of the next key.
        behind = token and token.value.strip() and lines[token.start_mark.line][: token.start_mark.column].strip()
        yield (*path, key), values.lc.key(key)[0], token.value.splitlines()[0] if behind else ""
        yield from _keys(value, (*path, key), lines)


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
    return {path: source for path in leaves if (source := _source(path, model, words))}


def _source(path: Key, model: type[BaseModel], words: Mapping[Key, str]) -> str:
    for length in range(len(path), 0, -1):
        own = path[:length]
        tables = [place for place in range(1, length) if holds_entries(model, own[:place])]
        alike = [
            other
            for other in words
            if len(other) == length and all(other[i] == own[i] or i in tables for i in range(length))
        ]
        for found in [own, *alike]:
            if found in words:
                return words[found]
    return ""
