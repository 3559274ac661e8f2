"""Marks of tokens, as bits of their token types, and the marking of blocks of tokens with concepts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reprlab.concepts.matching import ConceptMatcher

FIRST, FURTHER = 1, 2
"""The first piece of a word, and a further one; special tokens are neither."""
CONCEPT, OPENS = 4, 8
"""A piece inside a concept, and the first piece of one."""
_WORD = FIRST | FURTHER


def mark_words(
    types: np.ndarray,
    special: np.ndarray,
    rows: np.ndarray,
    words: list[str],
    joined: Sequence[bool],
    matcher: ConceptMatcher,
) -> np.ndarray:
    """Token types with the concepts of the text: longest first, from left to right, on word boundaries.

    What is an occurrence is said by `joined`, as where concepts are counted.

    Args:
        types: [tokens] pieces of words (`FIRST`, `FURTHER`) of many blocks one after the other.
        special: [tokens] true where the id is special: a word that the vocabulary lacks. Nothing masks it, so an
            occurrence with one does not count.
        rows: [words] ascending number of the block of each word.
        words: their lower-case text, one for each `FIRST`; marks of punctuation are words here.
        joined: [words] whether an occurrence can pass on to it, see `matching.Tokens`.
    """
    from reprlab.concepts.matching import UNKNOWN, is_word

    numbers = matcher.numbers(words)
    # A mark between two words is passed over, so that `x-ray` is found; other marks and a block's end are not.
    seen = np.flatnonzero(np.fromiter(map(is_word, words), dtype=bool, count=len(words)))
    apart = ~np.asarray(joined, dtype=bool)[seen[1:]] | (np.diff(rows[seen]) != 0)
    ends = np.flatnonzero(apart) + 1
    start, length = matcher.spans(np.insert(numbers[seen], ends, UNKNOWN))
    # Back to places among the words that were seen: each break before a match moved it by one.
    breaks = ends + np.arange(len(ends))
    start = start - np.searchsorted(breaks, start)
    first, last = seen[start], seen[start + length - 1]
    starts = np.flatnonzero(types == FIRST)
    pieces = np.bincount(np.cumsum(types == FIRST)[(types & _WORD) > 0] - 1, minlength=len(words))
    opens, closes = starts[first], starts[last] + pieces[last]
    unknown = np.concatenate([[0], np.cumsum(special & ((types & _WORD) > 0))])
    whole = unknown[closes] == unknown[opens]
    marked = types.copy()
    marked[opens[whole]] |= OPENS
    depth = np.zeros(len(types) + 1, dtype=np.int64)
    depth[opens[whole]] += 1
    depth[closes[whole]] -= 1
    marked[np.cumsum(depth)[:-1] > 0] |= CONCEPT
    return marked
