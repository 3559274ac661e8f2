"""Conditions of settings: beside which others they are read or may have another value, by the papers' comments.

A comment with ``Read beside `model=bert_mini; .steps=null`.`` holds for its key and all below it, and, unlike a source,
not for equal entries; with
``Of `epochs`, read beside `.steps=null`.`` for the keys of that name below; ``Read beside nothing.``
takes what is said of the groups around it from a key. What the edits name is a setting of the
paper, or, after a dot, one of the same group as the setting that they are said of; a key without a value stands for the
edits beside which that one is read.
"""

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from reprlab.settings.overrides import split_edits
from reprlab.settings.yaml_comments import comments
from reprlab.settings.yaml_text import Key

_CONDITION = re.compile(r"(?:\bOf `([^`]+)`, read|\bRead) beside (?:`([^`]+)`|nothing)")


def conditions(text: str, leaves: Iterable[Key]) -> dict[Key, list[str]]:
    """The edits, `name=value` with the name below the paper, beside which each leaf is read; others are left out.

    Args:
        text: of a paper's file.
        leaves: paths of its settings.
    """
    said = {path: found for path, comment in comments(text).items() if (found := _CONDITION.findall(comment))}
    return {leaf: edits for leaf in leaves if (edits := list(_edits(leaf, said)))}


def _edits(leaf: Key, said: dict[Key, list[tuple[str, str]]]) -> Iterator[str]:
    """The edits of the nearest comment, that of the leaf itself before those of the groups around it."""
    name = ".".join(leaf)
    fitting = (
        edits
        for length in range(len(leaf), 0, -1)
        for pattern, edits in said.get(leaf[:length], [])
        if not pattern or fnmatchcase(name, f"*.{pattern}")
    )
    for edit in map(str.strip, split_edits(next(fitting, ""))):
        full = ".".join((*leaf[:-1], edit[1:])) if edit.startswith(".") else edit
        other, equals, _ = full.partition("=")
        meant = [full] if equals else _edits(tuple(other.split(".")), said)
        yield from (one for one in meant if one.partition("=")[0] != name)
