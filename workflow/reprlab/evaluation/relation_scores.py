"""Scores of classified relations, with and without the pairs that have none.

Every score is a function of the confusion matrix (row: gold, column: predicted, number 0: no relation), so that
matrices of documents add up, and a bootstrap over documents is one over matrices.
"""

from __future__ import annotations

import numpy as np


def confusion(gold: np.ndarray, predicted: np.ndarray, classes: int) -> np.ndarray:
    """[classes, classes] counts."""
    return np.bincount(gold * classes + predicted, minlength=classes * classes).reshape(classes, classes)


def related_scores(table: np.ndarray) -> dict[str, np.ndarray]:
    """Micro precision, recall and F1 over the relations, in percent, of matrices [..., C, C].

    No relation is outside the label set: a relation predicted for an unrelated pair is a false positive, a related pair
    that was not retrieved is predicted to have none and so a false negative. Without any prediction all three are 0.
    """
    right, named, related = related_counts(table)
    precision, recall = _share(right, named), _share(right, related)
    return {"precision": precision, "recall": recall, "f1": _harmonic(precision, recall)}


def related_counts(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Relations of matrices [..., C, C] that are named rightly, that are named, and that there are."""
    table = np.asarray(table, dtype=float)
    right = np.trace(table[..., 1:, 1:], axis1=-2, axis2=-1)
    return right, table[..., :, 1:].sum((-1, -2)), table[..., 1:, :].sum((-1, -2))


def all_pair_scores(table: np.ndarray) -> dict[str, np.ndarray]:
    """Scores over all labels, no relation among them, in percent, of matrices [..., C, C].

    Micro precision, recall and F1 would all be the accuracy; the paper prints three different numbers and does not say
    which. So: accuracy; macro means over the labels that occur; means weighted by support, with the harmonic mean of
    the weighted precision and recall as F1.
    """
    table = np.asarray(table, dtype=float)
    right = np.diagonal(table, axis1=-2, axis2=-1)
    support, found = table.sum(-1), table.sum(-2)
    precision, recall = _share(right, found), _share(right, support)
    occurs = (support > 0).astype(float)
    weights, labels = (
        _share(support, support.sum(-1, keepdims=True)) / 100,
        _share(occurs, occurs.sum(-1, keepdims=True)) / 100,
    )
    weighted = [(measure * weights).sum(-1) for measure in (precision, recall)]
    return {
        "accuracy": _share(right.sum(-1), table.sum((-1, -2))),
        "macro_precision": (precision * labels).sum(-1),
        "macro_recall": (recall * labels).sum(-1),
        "macro_f1": (_harmonic(precision, recall) * labels).sum(-1),
        "weighted_precision": weighted[0],
        "weighted_recall": weighted[1],
        "weighted_f1": _harmonic(*weighted),
    }


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    part, whole = np.broadcast_arrays(np.asarray(part, dtype=float), np.asarray(whole, dtype=float))
    return 100 * np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)


def _harmonic(precision: np.ndarray, recall: np.ndarray) -> np.ndarray:
    total = precision + recall
    return np.divide(2 * precision * recall, total, out=np.zeros(np.shape(total)), where=total > 0)
