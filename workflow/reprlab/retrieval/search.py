"""Exact search by dot product, and recall."""

from __future__ import annotations

import numpy as np


def rank_by_score(scores: np.ndarray, k: int | None = None) -> np.ndarray:
    """[queries, k] columns of the k highest scores of each row, best first; of equal scores the lower column first.

    Columns with the score -inf are no candidates: they come last, and callers cut them off. All columns by default.
    """
    return np.argsort(-scores, axis=1, kind="stable")[:, :k]


def search(queries: np.ndarray, passages: np.ndarray, k: int, block: int = 1024) -> tuple[np.ndarray, np.ndarray]:
    """Exact search by dot product: ([queries, k] passages best first, their scores), in blocks of queries.

    Args:
        queries: [queries, d]. passages: [passages, d].
    """
    k = min(k, len(passages))
    found = np.empty((len(queries), k), dtype=np.int64)
    scores = np.empty((len(queries), k), dtype=np.result_type(queries, passages))
    for start in range(0, len(queries), block):
        products = queries[start : start + block] @ passages.T
        best = rank_by_score(products, k)
        found[start : start + block] = best
        scores[start : start + block] = np.take_along_axis(products, best, axis=1)
    return found, scores


def rank_partners(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rank the other items of a set for each item: ([n, n-1] items best first, [n, n] scores r_i . r_j).

    An item never finds itself; an item alone finds nothing.
    """
    scores = (vectors @ vectors.T).astype(np.float64)
    # Products of a row and a column may differ in the last bit; equal pairs must tie.
    scores = (scores + scores.T) / 2
    np.fill_diagonal(scores, -np.inf)
    return rank_by_score(scores, max(len(vectors) - 1, 0)), scores


def kept_pairs(ranked: np.ndarray, k: int) -> np.ndarray:
    """[n, n] bool, symmetric: whether either item of a pair is among the k best of the other."""
    size = len(ranked)
    kept = np.zeros((size, size), dtype=bool)
    best = ranked[:, :k]
    kept[np.repeat(np.arange(size), best.shape[1]), best.ravel()] = True
    return kept | kept.T


def most_pairs_kept(related: np.ndarray, k: int) -> int:
    """How many related pairs the best retriever could keep when each item names at most k others.

    Each pair is given to one of its ends, each end takes at most k: a maximum flow. No retrieval recalls more.

    Args:
        related: [n, n] bool, symmetric.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    first, second = np.nonzero(np.triu(related, 1))
    size, pairs = len(related), len(first)
    if not pairs:
        return 0
    source, sink, edge = pairs + size, pairs + size + 1, np.arange(pairs)
    rows = np.concatenate([np.full(pairs, source), edge, edge, pairs + np.arange(size)])
    columns = np.concatenate([edge, pairs + first, pairs + second, np.full(size, sink)])
    capacity = np.concatenate([np.ones(3 * pairs), np.full(size, k)]).astype(np.int32)
    graph = csr_array((capacity, (rows, columns)), shape=(sink + 1, sink + 1))
    return int(maximum_flow(graph, source, sink).flow_value)
