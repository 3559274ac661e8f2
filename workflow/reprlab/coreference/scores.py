"""Scores of coreference: MUC, B-cubed, CEAF-phi4 and their mean, the CoNLL F1.

Every score of a document is four numbers (numerator and denominator of precision and of recall); over documents these
are summed before they are divided, as the official scorer does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    Clusters = Iterable[Iterable[Hashable]]

METRICS = ("muc", "b_cubed", "ceaf_phi4")


def partition(clusters: Clusters) -> list[frozenset[Hashable]]:
    """Clusters without repeated mentions; those that share a mention are one cluster, empty ones are left out."""
    found: list[set[Hashable]] = []
    for cluster in clusters:
        merged = set(cluster)
        apart = []
        for other in found:
            if merged.isdisjoint(other):
                apart.append(other)
            else:
                merged |= other
        found = [*apart, merged] if merged else apart
    return [frozenset(cluster) for cluster in found]


def score_counts(predicted: Clusters, gold: Clusters, *, drop_singletons: bool = True) -> np.ndarray:
    """Counts of one document [3, 4]: by metric, numerator and denominator of precision, then those of recall.

    MUC (Vilain et al. 1995), B-cubed (Bagga and Baldwin 1998), CEAF with phi4 (Luo 2005).

    Args:
        predicted, gold: clusters of mentions; see `partition`.
        drop_singletons: predicted clusters of one mention count as not predicted; gold ones are kept.
    """
    ours, theirs = partition(predicted), partition(gold)
    if drop_singletons:
        ours = [cluster for cluster in ours if len(cluster) > 1]
    owner = {mention: number for number, cluster in enumerate(theirs) for mention in cluster}
    shared = Counter(
        (number, owner[mention]) for number, cluster in enumerate(ours) for mention in cluster if mention in owner
    )
    overlap = np.zeros((len(ours), len(theirs)))
    for (row, column), count in shared.items():
        overlap[row, column] = count
    sizes = np.array([len(cluster) for cluster in ours], dtype=float), np.array([len(one) for one in theirs], float)
    return np.array([_muc(overlap, *sizes), _b_cubed(overlap, *sizes), _ceaf_phi4(overlap, *sizes)])


def _muc(overlap: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> list[float]:
    def links(shared: np.ndarray, sizes: np.ndarray) -> list[float]:
        # A mention that the other side lacks is a part of its own.
        parts = (shared > 0).sum(1) + sizes - shared.sum(1)
        return [float((sizes - parts).sum()), float((sizes - 1).sum())]

    return [*links(overlap, ours), *links(overlap.T, theirs)]


def _b_cubed(overlap: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> list[float]:
    squares = overlap**2
    precise, recalled = squares.sum(1) / ours, squares.sum(0) / theirs
    return [float(precise.sum()), float(ours.sum()), float(recalled.sum()), float(theirs.sum())]


def _ceaf_phi4(overlap: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> list[float]:
    from scipy.optimize import linear_sum_assignment

    similar = 2 * overlap / (ours[:, None] + theirs)
    matched = float(similar[linear_sum_assignment(similar, maximize=True)].sum())
    return [matched, float(len(ours)), matched, float(len(theirs))]


def scores_of(counts: np.ndarray) -> dict[str, np.ndarray]:
    """Precision, recall and F1 of each metric and `conll_f1`, their mean F1, in percent.

    Args:
        counts: [..., 3, 4], already summed over documents. What has nothing in its denominator is 0.
    """
    precision, recall = _ratio(counts[..., 0], counts[..., 1]), _ratio(counts[..., 2], counts[..., 3])
    f1 = _ratio(2 * precision * recall, precision + recall)
    found = {
        f"{metric}_{name}": 100 * values[..., number]
        for number, metric in enumerate(METRICS)
        for name, values in (("precision", precision), ("recall", recall), ("f1", f1))
    }
    return {"conll_f1": 100 * f1.mean(-1), **found}


def score_intervals(counts: np.ndarray, *, resamples: int, seed: int) -> dict[str, tuple[float, float, float]]:
    """Each score of some documents with its 95 % bootstrap interval over documents: (value, low, high).

    Args:
        counts: [documents, 3, 4].
    """
    documents = len(counts)
    draws = np.random.default_rng(seed).multinomial(documents, np.full(documents, 1 / documents), size=resamples)
    drawn = scores_of(np.tensordot(draws.astype(float), counts, 1))
    values = scores_of(counts.sum(0))
    bounds = {name: np.percentile(sample, [2.5, 97.5]) for name, sample in drawn.items()}
    return {name: (float(value), float(bounds[name][0]), float(bounds[name][1])) for name, value in values.items()}


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def conll_f1(documents: Sequence[tuple[Clusters, Clusters]]) -> float:
    """CoNLL F1 in percent of (predicted, gold) clusters, counts summed over documents."""
    return float(scores_of(sum((score_counts(*pair) for pair in documents), np.zeros((3, 4))))["conll_f1"])
