"""Exact search by dot product, and recall."""

from __future__ import annotations

import numpy as np

# Columns up to which all are sorted, and how many times the wanted ones.
_FEW, _FEW_TIMES = 1000, 4
# Scores that are held at once: half a gigabyte in single precision.
_SCORES = 2**27


def block_of_queries(passages: int) -> int:
    """Queries whose scores over this many passages are held at once."""
    return max(1, min(1024, _SCORES // max(passages, 1)))


def rank_by_score(scores: np.ndarray, k: int | None = None) -> np.ndarray:
    """[queries, k] columns of the k highest scores of each row, best first; of equal scores the lower column first.

    Columns with the score -inf are not candidates: they come last, and callers cut them off. All columns by default.
    """
    columns = scores.shape[1]
    if k is None or k < 1 or columns < _FEW or columns < _FEW_TIMES * k:
        return np.argsort(-scores, axis=1, kind="stable")[:, :k]
    # Of millions of columns a hundred are wanted: sort those that reach the k-th score, ties with it included.
    least = np.partition(scores, columns - k, axis=1)[:, columns - k]
    found = np.empty((len(scores), k), dtype=np.intp)
    for row, (own, bound) in enumerate(zip(scores, least, strict=True)):
        reaching = np.flatnonzero(own >= bound)
        found[row] = reaching[np.argsort(-own[reaching], kind="stable")[:k]]
    return found


def search(queries: np.ndarray, passages: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Exact search by dot product: ([queries, k] passages best first, their scores), in blocks of queries.

    Args:
        queries: [queries, d]. passages: [passages, d].
    """
    k, block = min(k, len(passages)), block_of_queries(len(passages))
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
