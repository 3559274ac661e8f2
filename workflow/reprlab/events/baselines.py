"""Relations of events that need no model: the commonest one, none, and what a pair of words had in training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from reprlab.baselines.declared import declared
from reprlab.events.documents import EventDocument
from reprlab.events.pairs import LabelledPairs, known_pairs
from reprlab.events.settings import PairTask

MAJORITY, NOTHING, WORDS = declared("relation")
Words = tuple[str, str]


def relation_answers(
    training: Sequence[EventDocument],
    documents: Sequence[EventDocument],
    classified: Sequence[LabelledPairs],
    settings: PairTask,
) -> dict[str, list[np.ndarray]]:
    """The labels of classified pairs [P] of each document by each baseline, fitted on the training documents."""
    seen: Counter[tuple[Words, int]] = Counter()
    for document in training:
        known = known_pairs(document, settings)
        seen.update(zip(_words(document, known.pairs), known.labels.tolist(), strict=True))
    relations: Counter[int] = Counter()
    for (_, label), count in seen.items():
        relations[label] += count if label else 0
    majority = min(relations, key=lambda label: (-relations[label], label), default=0)
    best = _of_words(seen)
    return {
        MAJORITY: [np.full(len(pairs.labels), majority) for pairs in classified],
        NOTHING: [np.zeros(len(pairs.labels), dtype=np.int64) for pairs in classified],
        WORDS: [
            np.array([best.get(pair, 0) for pair in _words(document, pairs.pairs)], dtype=np.int64)
            for document, pairs in zip(documents, classified, strict=True)
        ],
    }


def _of_words(seen: Counter[tuple[Words, int]]) -> dict[Words, int]:
    """The commonest label of a pair of words; of equally common ones a relation, and the first."""
    ranked = sorted(seen, key=lambda one: (seen[one], one[1] > 0, -one[1]))
    return dict(ranked)


def _words(document: EventDocument, pairs: np.ndarray) -> list[Words]:
    said = [document.trigger(mention).lower() for mention in range(len(document))]
    return [(said[head], said[tail]) for head, tail in pairs.tolist()]
