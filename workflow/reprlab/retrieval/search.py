"""Exact search by dot product, and recall."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

# Columns up to which all are sorted, and how many times the wanted ones.
_FEW, _FEW_TIMES = 1000, 4
# Scores that are held at once: an eighth of a gigabyte in single precision.
_SCORES = 2**25
PASSAGES_AT_ONCE = 2**17
"""Passages whose vectors a search holds at once."""
_POSITIVE = 2**31 - 1


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


def search(queries: np.ndarray, passages: np.ndarray, k: int, device: Any = "cpu") -> tuple[np.ndarray, np.ndarray]:
    """`search_blocks` over passages [passages, d] that are all there."""
    starts = range(0, len(passages), PASSAGES_AT_ONCE)
    return search_blocks(queries, (passages[start : start + PASSAGES_AT_ONCE] for start in starts), k, device)


def search_blocks(
    queries: np.ndarray, blocks: Iterable[np.ndarray], k: int, device: Any = "cpu"
) -> tuple[np.ndarray, np.ndarray]:
    """Exact search by dot product in single precision: ([queries, k] passages best first, their scores).

    Of equal scores the passage that comes first is first, on every device and whatever the blocks. Beside the queries
    one block of passages is held, 2^25 scores with their places, and the k best passages of each query so far.

    Args:
        queries: [queries, d]. blocks: [passages, d] each, of all passages in their order.
        device: where products and choices are made.
    """
    import torch

    asked = torch.from_numpy(np.ascontiguousarray(queries, dtype=np.float32))
    best, first = torch.empty((len(asked), 0), dtype=torch.int64), 0
    for block in blocks:
        passages = torch.from_numpy(np.ascontiguousarray(block, dtype=np.float32)).to(device)
        size = block_of_queries(len(block))
        merged = []
        for few, before in zip(asked.split(size), best.split(size), strict=True):
            found = _keys(few.to(device) @ passages.T, first)
            found = found.topk(min(k, len(block))).values if len(block) > k else found
            both = torch.cat([before.to(device), found], dim=1)
            merged.append(both.topk(min(k, both.shape[1])).values.cpu())
        best, first = torch.cat(merged), first + len(block)
        # The next one is made with none held.
        del block, passages
    columns, scores = _of_keys(best)
    return columns.numpy(), scores.numpy()


def _keys(scores: Any, first: int) -> Any:
    """[queries, passages] int64 keys of float32 scores, which this overwrites: in their order, and no two are equal.

    The score is in the upper half, its bits ordered as integers are, the passage's number from the end in the lower.
    """
    import torch

    scores += 0.0  # -0.0 becomes 0.0: they are equal
    bits = scores.view(torch.int32)
    bits ^= (bits >> 31) & _POSITIVE
    keys = bits.to(torch.int64) << 32
    return keys.add_(_POSITIVE - first - torch.arange(scores.shape[1], device=scores.device))


def _of_keys(keys: Any) -> tuple[Any, Any]:
    """Numbers of passages, int64, and their scores, float32."""
    import torch

    bits = (keys >> 32).to(torch.int32)
    bits ^= (bits >> 31) & _POSITIVE
    return _POSITIVE - (keys & 0xFFFFFFFF), bits.view(torch.float32)


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
