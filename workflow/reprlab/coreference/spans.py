"""Candidate spans and the choice of those that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

# Upper ends of the buckets of distances 5-7, 8-15, 16-31, 32-63; what is farther is in the tenth one.
_BUCKET_STARTS = (5, 8, 16, 32, 64)
BUCKETS = 10


def distance_buckets(distances: torch.Tensor) -> torch.Tensor:
    """Bucket 0 to 9 of each distance: 0 to 4 have their own, then 5-7, 8-15, 16-31, 32-63, 64 and more."""
    import torch

    starts = torch.tensor(_BUCKET_STARTS, device=distances.device)
    coarse = 4 + torch.bucketize(distances, starts, right=True)
    return torch.where(distances < 5, distances.clamp(min=0), coarse)


def candidate_spans(sentence: torch.Tensor, width: int) -> torch.Tensor:
    """[T, width] which spans are candidates: from each token, so many tokens on, within its sentence.

    Args:
        sentence: [T] number of the sentence of each token.
        width: most tokens of a span; column w is the span of w + 1 tokens.
    """
    import torch

    length = len(sentence)
    ends = torch.arange(length, device=sentence.device)[:, None] + torch.arange(width, device=sentence.device)
    return (ends < length) & (sentence[ends.clamp(max=length - 1)] == sentence[:, None])


def uncrossed(starts: Sequence[int], ends: Sequence[int], order: Sequence[int], most: int, length: int) -> list[int]:
    """Places of at most `most` spans, taken in `order` unless they cross one taken before; sorted by start and end.

    Two spans cross where they overlap and neither holds the other. Where fewer than `most` are left, the first of
    them is repeated, as in the authors' code.

    Args:
        starts, ends: first and last token of each span, out of `length` tokens.
    """
    # Per token: the latest end of the taken spans that start there, and the earliest start of those that end there.
    latest, earliest = [-1] * length, [length] * length
    taken: list[int] = []
    for place in order:
        if len(taken) >= most:
            break
        start, end = starts[place], ends[place]
        if start < end and (max(latest[start + 1 : end + 1]) > end or min(earliest[start:end]) < start):
            continue
        taken.append(place)
        latest[start] = max(latest[start], end)
        earliest[end] = min(earliest[end], start)
    taken.sort(key=lambda place: (starts[place], ends[place]))
    return taken + taken[:1] * (most - len(taken)) if taken else taken


def gold_numbers(starts: np.ndarray, ends: np.ndarray, mentions: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """[K] number of the gold cluster of each span, 0 where it is not a gold mention.

    Args:
        starts, ends: [K] spans.
        mentions: [M, 2] gold mentions; `clusters` [M] their numbers from 1.
    """
    number = {(int(first), int(last)): int(one) for (first, last), one in zip(mentions, clusters, strict=True)}
    return np.array([number.get(span, 0) for span in zip(starts.tolist(), ends.tolist(), strict=True)], dtype=np.int64)
