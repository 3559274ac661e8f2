"""Exact nearest-neighbour distances in float64, found through cheap float32 products.

Squared distances as |x|^2 + |y|^2 - 2 x.y lose digits where a few coordinates are huge, as in hidden states of language
models, and a whole table of them in float64 costs twice the time. Here products only nominate neighbours: for each pair
they give a lower bound of the true distance, the pairs with the smallest bounds are measured exactly, and a row is
settled once its k-th exact distance lies below the bounds of all that was not measured. Rows that float32 cannot settle
are tried in float64, and what is then left (near-twins far from the centre) is measured pair by pair.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import torch

# Candidates beyond k: they make the bound of the rest larger than the k-th distance.
_SPARE = 4
# Numbers in one piece of gathered differences: small enough for a processor's cache.
_PIECE = 2**18


def nearest_distances(points: torch.Tensor, k: int, *, block: int = 1024) -> torch.Tensor:
    """Euclidean distances from every point to its `k` nearest others, on the device of `points`.

    A point is never its own neighbour, by index; a twin counts, at distance 0. Beside the points themselves, memory
    grows with block x N + N x k.

    Args:
        points: [N, D], any floating type.
        k: number of neighbours, below N.
        block: rows and columns of one tile of products.

    Returns:
        [N, k] float64, ascending along k.

    Raises:
        ReprlabError: a coordinate is not finite, or there are too few points.
    """
    import torch

    count = len(points)
    if not 1 <= k < count:
        raise ReprlabError(
            f"{k} neighbours of {count} points: pass at least {k + 1} points or ask for fewer neighbours"
        )
    exact, scale = _centred(points)
    kept = min(k + _SPARE, count - 1)
    squared = exact.new_empty((count, k))
    every_row = torch.arange(count, device=exact.device)
    unsettled = _measure(exact, every_row, *_nominate_all(exact, kept, block), squared)
    if len(unsettled):
        for rows in unsettled.split(block):
            _measure_every_pair(exact, _measure(exact, rows, *_nominate(exact, rows, kept), squared), squared)
    return squared.sqrt_().mul_(scale)


def _centred(points: torch.Tensor) -> tuple[torch.Tensor, float]:
    """Float64 points around their mean, divided by a power of two that keeps squares in the range of float32."""
    import torch

    exact = points.to(torch.float64, copy=True)
    exact -= exact.mean(0)
    largest = max(abs(float(extreme)) for extreme in exact.aminmax())
    if not math.isfinite(largest):
        raise ReprlabError(
            "the points have coordinates that are not finite numbers; check the arithmetic that made them"
        )
    scale = math.ldexp(1.0, math.frexp(largest)[1])
    return exact.div_(scale), scale


def _slack(points: torch.Tensor) -> tuple[float, float]:
    """Relative and absolute error of a squared distance from products: |error| <= relative (|x|^2 + |y|^2) + absolute.

    A sum of D products in any order is wrong by at most D u |x||y| to first order (Higham, Accuracy and Stability of
    Numerical Algorithms, section 3.1); rounding the points, the norms and the sums adds a few u.
    """
    import torch

    limits = torch.finfo(points.dtype)
    width = points.shape[1]
    return (width + 32) * limits.eps, 8 * width * limits.tiny


def _nominate_all(exact: torch.Tensor, kept: int, block: int) -> tuple[torch.Tensor, torch.Tensor]:
    """For every row the `kept` columns with the smallest float32 lower bounds, and the largest of these bounds.

    Each tile of products serves its rows and, transposed, its columns.

    Returns:
        columns [N, kept] and bound [N] of the squared distance to any column that was not kept.
    """
    import torch

    points = exact.float()
    relative, absolute = _slack(points)
    norms = points.square().sum(1).mul_(1 - relative)
    count = len(points)
    bounds = points.new_full((count, kept), math.inf)
    columns = torch.zeros((count, kept), dtype=torch.long, device=points.device)
    starts = range(0, count, block)
    for first in starts:
        rows = slice(first, min(first + block, count))
        for second in starts[first // block :]:
            others = slice(second, min(second + block, count))
            products = (points[rows] @ points[others].T).mul_(-2)
            if first == second:
                products.fill_diagonal_(math.inf)
            else:
                _keep_smallest(products.T + norms[rows], first, bounds[others], columns[others])
            _keep_smallest(products.add_(norms[others]), second, bounds[rows], columns[rows])
    # The bound of a row leaves out its own norm until here: it is the same for all columns.
    return columns, bounds[:, -1].double() + norms.double() - absolute


def _keep_smallest(tile: torch.Tensor, offset: int, bounds: torch.Tensor, columns: torch.Tensor) -> None:
    """Merge the smallest entries of each row of a tile into `bounds` and `columns`, in place."""
    import torch

    kept = bounds.shape[1]
    values, places = tile.topk(min(kept, tile.shape[1]), largest=False)
    values, order = torch.cat([bounds, values], 1).topk(kept, largest=False)
    columns.copy_(torch.cat([columns, places + offset], 1).gather(1, order))
    bounds.copy_(values)


def _nominate(exact: torch.Tensor, rows: torch.Tensor, kept: int) -> tuple[torch.Tensor, torch.Tensor]:
    """As `_nominate_all`, in float64 and for some rows."""
    relative, absolute = _slack(exact)
    norms = exact.square().sum(1).mul_(1 - relative)
    bounds = (exact[rows] @ exact.T).mul_(-2).add_(norms)
    bounds.scatter_(1, rows[:, None], math.inf)
    values, columns = bounds.topk(kept, largest=False)
    return columns, values[:, -1] + norms[rows] - absolute


def _measure(
    exact: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor, bound: torch.Tensor, squared: torch.Tensor
) -> torch.Tensor:
    """Write the exact squared distances of `rows` to their nearest `columns`; return the rows that remain unsettled."""
    import torch

    k, complete = squared.shape[1], columns.shape[1] == len(exact) - 1
    pieces = max(1, _PIECE // (columns.shape[1] * exact.shape[1]))
    for part, near in zip(rows.split(pieces), columns.split(pieces), strict=True):
        distances = (exact[near] - exact[part][:, None]).square_().sum(2)
        squared[part] = distances.topk(k, largest=False).values
    if complete:
        return rows[:0]
    return rows[torch.nonzero(squared[rows, -1] > bound).flatten()]


def _measure_every_pair(exact: torch.Tensor, rows: torch.Tensor, squared: torch.Tensor) -> None:
    for row in rows.tolist():
        distances = (exact - exact[row]).square_().sum(1)
        distances[row] = math.inf
        squared[row] = distances.topk(squared.shape[1], largest=False).values
