"""What a language model writes around an answer: fences, stars, quotation marks, a full stop, white space."""

from __future__ import annotations

import re
from collections.abc import Mapping

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[^\n`]*\n(.*?)\n?[ \t]*\1[`~]*[ \t]*", re.DOTALL)
# Pairs that stand around a whole answer; the longer ones come first.
_AROUND = (
    ("**", "**"),
    ("__", "__"),
    ("`", "`"),
    ("*", "*"),
    ("_", "_"),
    ('"', '"'),
    ("'", "'"),
    ("“", "”"),
    ("‘", "’"),
)
_ENDS = ".!:;,"


def without_fence(text: str) -> str:
    """The content of the Markdown fence that is the whole text, or that is alone among words; else the text, stripped.

    Several fences, or a fence that does not end, are the model's own text and stay.
    """
    text = text.strip()
    found = list(_FENCE.finditer(text))
    if len(found) != 1:
        return text
    before, after = text[: found[0].start()], text[found[0].end() :]
    # It begins a line and ends one; otherwise the marks are within a sentence.
    if (before and not before.endswith("\n")) or (after and not after.startswith("\n")):
        return text
    return found[0][2].strip()


def bare(text: str) -> str:
    """A short answer without fence, emphasis, quotation marks and closing punctuation around the whole of it.

    Marks inside of it stay: `"a" or "b"` is not in quotation marks.
    """
    text = without_fence(text)
    while True:
        before = text
        text = text.strip().rstrip(_ENDS).rstrip()
        for opening, closing in _AROUND:
            inside = text[len(opening) : len(text) - len(closing)]
            around = len(text) > len(opening) + len(closing) and text.startswith(opening) and text.endswith(closing)
            if around and opening not in inside and closing not in inside:
                text = inside
                break
        if text == before:
            return text


def best_by_text(first: Mapping[str, float]) -> dict[str, float]:
    """Scores of tokens by their text without outer white space: of `7` and ` 7` the higher one counts."""
    found: dict[str, float] = {}
    for token, value in first.items():
        text = token.strip()
        found[text] = max(value, found.get(text, value))
    return found
