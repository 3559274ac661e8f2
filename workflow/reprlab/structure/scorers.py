"""Counts of what a model wrote for structure tasks and restoration, and precision, recall and F1 from them.

Every function counts each example by itself, so that counts can be summed over any examples: [n, 3] as `COUNTS` names
them. `upstream` counts as the authors' code does, for comparison; the docstrings say what differs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import compress, starmap
from operator import and_, eq, ne
from typing import TYPE_CHECKING

import numpy as np

from reprlab.structure.formats import (
    NOTHING,
    StructureTask,
    items,
    tags_of,
    upstream_items,
    words_and_boundaries,
)
from reprlab.structure.restoration import words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]

COUNTS = ("correct", "attempted", "gold")
# Labels of words within a sentence, in upstream's score of boundaries.
POSITIONS = ("B", "I", "E")


def scores(counts: np.ndarray) -> np.ndarray:
    """Precision, recall and F1 in percent [..., 3] of summed counts [..., 3]; what is undefined is 0."""
    correct, attempted, gold = np.moveaxis(np.asarray(counts, dtype=float), -1, 0)
    sides = [(correct, attempted), (correct, gold), (2 * correct, attempted + gold)]
    return np.stack([_share(part, whole) for part, whole in sides], axis=-1)


def macro_scores(counts: np.ndarray) -> np.ndarray:
    """The mean [..., 3] of the scores of each label, from summed counts [..., labels, 3]."""
    return scores(counts).mean(-2)


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return 100 * np.divide(part, whole, out=np.zeros(np.shape(part)), where=whole > 0)


def item_counts(
    task: StructureTask, gold: Sequence[str], written: Sequence[str], *, upstream: bool = False
) -> tuple[Counts, Counts]:
    """Counts [n, 3] of items, whatever their order, and how many parts of each written text are malformed [n].

    A repeated item is right as often as it is in the gold text; upstream, each time that it is written. Upstream splits
    roles at `) (` too, which they do not have: all frames of a sentence are one item.
    """
    pairs = list(zip(gold, written, strict=True))
    malformed = np.array([items(task, w).malformed for _, w in pairs], dtype=np.int64)
    if upstream:
        plain = [(upstream_items(g), upstream_items(w)) for g, w in pairs]
        return _rows((sum(map(frozenset(g).__contains__, w)), len(w), len(g)) for g, w in plain), malformed
    own = [(items(task, g).items, items(task, w).items) for g, w in pairs]
    return _rows(((Counter(g) & Counter(w)).total(), len(w), len(g)) for g, w in own), malformed


def tag_counts(gold: Sequence[str], written: Sequence[str], *, upstream: bool = False) -> tuple[Counts, Counts]:
    """Counts [n, 3] of tags other than O, position by position, and whether there are too few or too many [n].

    Upstream cuts the gold tags to the number of written ones, so that what is cut off is not missed.
    """
    pairs = [(tags_of(g), tags_of(w)) for g, w in zip(gold, written, strict=True)]
    rows = [
        (_named([*compress(g, map(eq, g, w))]), _named(w), _named(g[: len(w)] if upstream else g)) for g, w in pairs
    ]
    return _rows(rows), np.array([len(g) != len(w) for g, w in pairs], dtype=np.int64)


def _named(tags: list[str]) -> int:
    return len(tags) - tags.count(NOTHING)


def boundary_counts(gold: Sequence[str], written: Sequence[str]) -> tuple[Counts, Counts]:
    """Counts [n, 3] of boundaries between sentences, and whether the words of each written text are others [n].

    The words are aligned by their longest common subsequence. A boundary is right where it is behind the same word;
    one behind a word that is not in the gold text is wrong, and the end of the text is not a boundary.
    """
    rows, changed = [], []
    for g, w in zip(gold, written, strict=True):
        (words_g, ends), (words_w, places) = words_and_boundaries(g), words_and_boundaries(w)
        changed.append(words_g != words_w)
        own = _aligned(words_w, words_g)[places].tolist() if places else []
        inner = set(ends) - {len(words_g)}
        # Two written places never have one place in the gold text, but for that of no place.
        attempts = [place for place in own if place != len(words_g)]
        rows.append((len(inner.intersection(attempts)), len(attempts), len(inner)))
    return _rows(rows), np.array(changed, dtype=np.int64)


def _aligned(written: list[str], gold: list[str]) -> np.ndarray:
    """For each number of written words, that of gold words behind the same word; -1 where that word is in none."""
    from rapidfuzz.distance import LCSseq

    places = np.full(len(written) + 1, -1)
    for block in LCSseq.opcodes(written, gold):
        if block.tag == "equal":
            places[block.src_start + 1 : block.src_end + 1] = np.arange(block.dest_start + 1, block.dest_end + 1)
    return places


def label_set_counts(gold: Sequence[str], written: Sequence[str]) -> Counts:
    """Upstream's counts of sentence boundaries [n, 3, 3], for `macro_scores`: sets of words, not places.

    The first word of a sentence is a B, the last one of two or more an E, all others are I. Of each label it is counted
    how many different words have it in the written text, in the gold text, and in both.
    """
    return np.array(list(starmap(_label_sets, zip(gold, written, strict=True))), dtype=np.int64).reshape(-1, 3, 3)


def _label_sets(gold: str, written: str) -> list[tuple[int, int, int]]:
    both = zip(_labelled(gold), _labelled(written), strict=True)
    return [(len(g & w), len(w), len(g)) for g, w in both]


def _labelled(text: str) -> tuple[set[str], set[str], set[str]]:
    said, ends = words_and_boundaries(text)
    sentences = [said[start:end] for start, end in zip([0, *ends], [*ends, len(said)], strict=True) if start < end]
    first = {sentence[0] for sentence in sentences}
    inside = {word for sentence in sentences for word in sentence[1:-1]}
    return first, inside, {sentence[-1] for sentence in sentences if len(sentence) > 1}


def restoration_counts(
    sources: Sequence[str], written: Sequence[str], targets: Sequence[str], *, upstream: bool = False
) -> tuple[Counts, Counts]:
    """Counts [n, 3] of words to change (paper, appendix), and whether an excerpt is skipped [n].

    A word is a problem where source and target differ, an attempt where source and output differ, and right where it is
    both and the output is the target. An excerpt is skipped where the three have not the same number of words: its
    problems are missed, while upstream counts nothing of it. A mark that stands alone belongs to a word; upstream it is
    a word.
    """
    rows, skipped = [], []
    cut = str.split if upstream else words
    for s, w, t in zip(sources, written, targets, strict=True):
        given, said, wanted = s.split(), cut(w), cut(t)
        problems = list(map(ne, given, wanted))
        skip = not len(given) == len(said) == len(wanted)
        skipped.append(skip)
        if skip:
            rows.append((0, 0, 0 if upstream else sum(problems)))
        else:
            rows.append((sum(map(and_, problems, map(eq, said, wanted))), sum(map(ne, given, said)), sum(problems)))
    return _rows(rows), np.array(skipped, dtype=np.int64)


def _rows(rows: Iterable[tuple[int, int, int]]) -> Counts:
    return np.array(list(rows), dtype=np.int64).reshape(-1, len(COUNTS))
