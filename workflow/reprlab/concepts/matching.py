"""Concepts in text: a trie over words as sorted integer keys, walked for a whole batch of text at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np

LONGEST = 4
"""Words of the longest concept that is looked for (Lee et al. 2022: 1- to 4-grams)."""
UNKNOWN = -1
_MARK = r"[^\w\s]"
_WORD = re.compile(r"\w+")
# Words, and the marks of punctuation that no occurrence passes over: those that do not touch a word on both sides.
_WORDS_AND_BREAKS = re.compile(rf"\w+|(?<!\w){_MARK}|{_MARK}(?!\w)")
# As BERT's basic tokenizer and as the tokens of labelled data: words and single marks of punctuation. The first group
# has words, the second one marks between two words without a space.
_TOKENS = re.compile(rf"(\w+)|((?<=\w){_MARK}(?=\w))|({_MARK})")
# Stands between texts; no concept has it, since the underscores of a graph's terms are read as spaces.
_BREAK = "_"


def words_of(text: str) -> list[str]:
    """The words of a text: lower-case, split at what is not a letter, digit or underscore."""
    return [word.lower() for word in _WORD.findall(text)]


def is_word(token: str) -> bool:
    """Whether a token of `Tokens` is a word, no mark of punctuation."""
    return token[0].isalnum() or token[0] == "_"


@dataclass(frozen=True)
class Tokens:
    """A text as words and marks of punctuation, each by itself.

    Attributes:
        text: of each, in its own case.
        joined: whether nothing but white space, or one mark that touches both, is between it and the word before it;
            such words can be one occurrence.
    """

    text: list[str]
    joined: list[bool]

    @classmethod
    def of(cls, text: str) -> Tokens:
        """The tokens of a text."""
        found, joined = cls([], []), False
        for word, inner, outer in _TOKENS.findall(text):
            found.text.append(word or inner or outer)
            found.joined.append(joined and not outer)
            joined = not outer
        return found

    def where(self, kept: Sequence[bool]) -> Tokens:
        """Those that are kept; a word that is left out separates its neighbours."""
        found, joined = Tokens([], []), True
        for text, near, keep in zip(self.text, self.joined, kept, strict=True):
            joined = joined and near
            if keep:
                found.text.append(text)
                found.joined.append(joined)
            joined = keep if is_word(text) else joined
        return found


class ConceptMatcher:
    """The places of some concepts in sequences of words.

    Concepts that are the same words (`x-ray`, `x ray`) are one. Those without a word or of more than `LONGEST` words
    match nothing; `lost` counts the latter.
    """

    def __init__(self, concepts: Sequence[str]) -> None:
        split = [words_of(concept) for concept in concepts]
        fit = np.fromiter((0 < len(words) <= LONGEST for words in split), dtype=bool, count=len(split))
        self.lost = sum(len(words) > LONGEST for words in split)
        self._number: dict[str, int] = {}
        words = np.full((len(split), LONGEST), UNKNOWN, dtype=np.int64)
        for row in np.flatnonzero(fit):
            for place, word in enumerate(split[row]):
                words[row, place] = self._number.setdefault(word, len(self._number))
        size = len(self._number)
        lengths = (words != UNKNOWN).sum(axis=1)
        # Nodes of depth 1 are words; deeper ones are numbered behind them, by their key: parent, then word.
        self._keys: list[np.ndarray] = []
        self._first: list[int] = []
        node, nodes, ends = words[:, 0], size, np.where(lengths == 1, words[:, 0], UNKNOWN)
        for depth in range(2, LONGEST + 1):
            longer = lengths >= depth
            keys = node[longer] * size + words[longer, depth - 1]
            known, found = np.unique(keys, return_inverse=True)
            self._keys.append(known)
            self._first.append(nodes)
            node = np.full(len(split), UNKNOWN, dtype=np.int64)
            node[longer] = nodes + found
            ends = np.where(lengths == depth, node, ends)
            nodes += len(known)
        # The end node of each concept, and the number of the concept of each end node.
        self._ends, self._nodes = ends, nodes
        self._is_end = np.zeros(nodes, dtype=bool)
        self._is_end[ends[ends != UNKNOWN]] = True

    def numbers(self, words: Iterable[str]) -> np.ndarray:
        """[words] int64: number of each lower-case word, `UNKNOWN` where no concept has it."""
        return np.fromiter(map(self._number.get, words, repeat(UNKNOWN)), dtype=np.int64)

    def _walk(self, numbers: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """For each length: the first words of the matches of that many words, and their nodes."""
        start = np.flatnonzero(numbers != UNKNOWN)
        node, size = numbers[start], len(self._number)
        for length in range(1, LONGEST + 1):
            if length > 1:
                inside = start + length - 1 < len(numbers)
                start, node = start[inside], node[inside]
                following = numbers[start + length - 1]
                known = following != UNKNOWN
                start, node = start[known], node[known]
                keys, wanted = self._keys[length - 2], node * size + following[known]
                place = np.searchsorted(keys, wanted)
                hit = place < len(keys)
                hit[hit] = keys[place[hit]] == wanted[hit]
                start, node = start[hit], self._first[length - 2] + place[hit]
            end = self._is_end[node]
            yield length, start[end], node[end]

    def count(self, texts: Iterable[str]) -> np.ndarray:
        """[concepts] int64: how often each occurs in a batch of texts; overlapping occurrences count.

        The words of an occurrence are `Tokens.joined`, as those of a mark.
        """
        found = _WORDS_AND_BREAKS.findall(f" {_BREAK} ".join(texts))
        numbers = self.numbers(map(str.lower, found))
        by_node = np.zeros(self._nodes + 1, dtype=np.int64)
        for _, _, node in self._walk(numbers):
            by_node[:-1] += np.bincount(node, minlength=self._nodes)
        return by_node[self._ends]

    def spans(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Occurrences that do not overlap: the longest at each word, from left to right.

        Args:
            numbers: [words] as `numbers` gives them; `UNKNOWN` between texts.

        Returns:
            first word and number of words of each, ascending, int64.
        """
        longest = np.zeros(len(numbers), dtype=np.int64)
        for length, start, _ in self._walk(numbers):
            longest[start] = length
        start = np.flatnonzero(longest)
        return leftmost(start, longest[start])


def leftmost(start: np.ndarray, length: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of intervals with ascending, distinct starts those that a walk from left to right takes: the next one that does
    not overlap the last taken one."""
    end = start + length
    taken = np.zeros(len(start), dtype=bool)
    left = np.arange(len(start))
    while len(left):
        # What no other remaining interval reaches into is taken; what it reaches into is dropped.
        reach = np.maximum.accumulate(end[left])
        free = np.concatenate([[True], start[left[1:]] >= reach[:-1]])
        taken[left[free]] = True
        owner = left[np.maximum.accumulate(np.where(free, np.arange(len(left)), 0))]
        left = left[~free & (start[left] >= end[owner])]
    return start[taken], length[taken]
