"""From points to estimates: duplicates, one search for neighbours, every estimator on its distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reprlab.geometry.estimators import Dimension, gride, levina_bickel, two_nn, two_nn_ml
from reprlab.geometry.neighbours import nearest_distances
from reprlab.geometry.settings import EstimatorSettings

if TYPE_CHECKING:
    import torch

# What the authors' calculate_id.py puts in the place of a first distance of 0.
_UPSTREAM_DISTANCE = 1e-10


@dataclass(frozen=True)
class Estimate:
    """One estimate. `n_used`: points that it rests on; `n_zero`: points that have an equal one."""

    estimator: str
    value: float
    spread: float
    n_used: int
    n_zero: int


def estimate_dimension(
    points: torch.Tensor, estimators: Sequence[EstimatorSettings], *, block: int = 1024
) -> list[Estimate]:
    """Every estimator on the same points; neighbours are searched once for each way to treat duplicates.

    An estimator that needs more points than there are, after duplicates are dropped, gives NaN.

    Args:
        points: [N, D], any floating type; the search is exact in float64 on their device.
        estimators: which, with their settings.
        block: see `nearest_distances`.
    """
    groups = _equal_rows(points)
    distances: dict[str, torch.Tensor | None] = {}
    used: dict[str, int] = {}
    for duplicates in sorted({one.duplicates for one in estimators}):
        kept = points[groups.first] if duplicates == "drop" and groups.repeated else points
        ranks = [one.largest_rank for one in estimators if one.duplicates == duplicates]
        used[duplicates] = len(kept)
        distances[duplicates] = _distances(kept, max(ranks), duplicates, block)
    found = []
    for settings in estimators:
        dimension = _apply(distances[settings.duplicates], settings)
        found.append(
            Estimate(settings.name, dimension.value, dimension.spread, used[settings.duplicates], groups.repeated)
        )
    return found


@dataclass(frozen=True)
class _Groups:
    first: torch.Tensor
    repeated: int


def _equal_rows(points: torch.Tensor) -> _Groups:
    """Index of the first of each set of equal rows, ascending, and the number of points that have an equal one."""
    import torch

    _, group, sizes = torch.unique(points, dim=0, return_inverse=True, return_counts=True)
    places = torch.arange(len(points), device=points.device)
    first = places.new_full((len(sizes),), len(points)).scatter_reduce(0, group, places, "amin")
    return _Groups(first.sort().values, int(sizes[sizes > 1].sum()))


def _distances(points: torch.Tensor, k: int, duplicates: str, block: int) -> torch.Tensor | None:
    """Distances to as many of `k` neighbours as there are; None for a single point."""
    k = min(k, len(points) - 1)
    if k < 1:
        return None
    found = nearest_distances(points, k, block=block)
    if duplicates == "upstream":
        found[:, 0].masked_fill_(found[:, 0] == 0, _UPSTREAM_DISTANCE)
    return found


def _apply(distances: torch.Tensor | None, settings: EstimatorSettings) -> Dimension:
    if distances is None or distances.shape[1] < settings.largest_rank:
        return Dimension(float("nan"))
    if settings.kind == "two_nn":
        return two_nn(distances, settings.discard)
    if settings.kind == "two_nn_ml":
        return two_nn_ml(distances)
    if settings.kind == "gride":
        return gride(distances, *settings.ranks)
    return levina_bickel(distances, settings.neighbours, unbiased=settings.unbiased, combine=settings.combine)
