"""Which settings are read, or may have another value, only beside others: their comments in the papers' files say so.

A comment with ``Read beside `model=bert_mini; .steps=null`.`` holds for its key and all below it; with
``Of `epochs`, read beside `.steps=null`.`` for the keys of that name below. What the edits name is a setting of the
paper, or, after a dot, one of the same group as the setting that they are said of; a key without a value stands for the
edits beside which that one is read.
"""

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from pydantic import BaseModel

from reprlab.config.overrides import split_edits
from reprlab.config.yaml_comments import comments, holding
from reprlab.config.yaml_text import Key

_CONDITION = re.compile(r"(?:\bOf `([^`]+)`, read|\bRead) beside `([^`]+)`")


def conditions(text: str, model: type[BaseModel], leaves: Iterable[Key]) -> dict[Key, list[str]]:
    """The edits, `name=value` with the name below the paper, beside which each leaf is read; others are left out.

    Args:
        text: of a paper's file.
        model: the paper's settings.
        leaves: paths of its settings.
    """
    said = {path: found for path, comment in comments(text).items() if (found := _CONDITION.findall(comment))}
    return {leaf: list(edits) for leaf in leaves if (edits := tuple(_edits(leaf, model, said)))}


def _edits(leaf: Key, model: type[BaseModel], said: dict[Key, list[tuple[str, str]]]) -> Iterator[str]:
    name = ".".join(leaf)
    for found in holding(leaf, model, said):
        fitting = [edits for pattern, edits in found if not pattern or fnmatchcase(name, f"*.{pattern}")]
        for edit in split_edits(fitting[0]) if fitting else ():
            full = edit.strip() if not edit.strip().startswith(".") else ".".join((*leaf[:-1], edit.strip()[1:]))
            other, equals, _ = full.partition("=")
            if not equals:
                meant = _edits(tuple(other.split(".")), model, said)
                yield from (one for one in meant if one.partition("=")[0] != name)
            elif other != name:
                yield full
        if fitting:
            return
