"""Punctuation restoration: text without six marks, curly quotes and capitals in, the text itself out (section 3.1)."""

from __future__ import annotations

import re
from typing import NamedTuple

PROMPT = "Add punctuation as appropriate: "
# The six marks of the paper; its code also removes curly quotes, of which we take all four.
MARKS = ",.!?'\"‘’“”"
_REMOVED = str.maketrans("", "", MARKS)
_BEHIND = re.compile(f" (?=[{MARKS}]+(?: |$))")
_FIRST = re.compile(f"^([{MARKS}]+) ")


class Pair(NamedTuple):
    """Source, without the prompt, and target of the model; both have single spaces."""

    source: str
    target: str


def strip(text: str) -> str:
    """The text without the marks and in lower case, with single spaces; a token of marks alone leaves nothing.

    Stripping again changes nothing. Hyphens, colons, parentheses, digits and other letters stay.
    """
    return " ".join(text.translate(_REMOVED).lower().split())


def words(text: str) -> list[str]:
    """The words of a text as they are aligned with those of its stripped form.

    A token of marks alone, which stripping removes, belongs to the word before it, at the start to the one behind.
    """
    return _FIRST.sub(r"\1", _BEHIND.sub("", " ".join(text.split()))).split()


def pair(text: str) -> Pair | None:
    """The pair of a text; None where nothing but marks and white space is in it."""
    source = strip(text)
    return Pair(source, " ".join(text.split())) if source else None
