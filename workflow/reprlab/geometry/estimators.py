"""Estimators of intrinsic dimension from nearest-neighbour distances.

Distances are [N, k] float64, ascending, the point itself not among them (`nearest_distances`). An estimate is NaN where
the distances hold no information, as when all points coincide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import torch

_BISECTIONS = 200
_RANGE = (1e-3, 1e3)


@dataclass(frozen=True)
class Dimension:
    """An estimate. `spread` is the standard deviation over points (levina_bickel) or the Fisher error (gride)."""

    value: float
    spread: float = float("nan")


def two_nn(distances: torch.Tensor, discard: float = 0.1) -> Dimension:
    """TwoNN by a line through the origin (Facco et al. 2017; paper, section 3.3, which leaves out the cut).

    The ratios r2/r1 are sorted, F_(i) = i/N, the largest `discard` of them is left out, and the slope of -log(1 - F)
    against log(r2/r1) is the dimension.
    """
    import torch

    ratios = _log_ratio(distances, 1, 2).sort().values
    count = len(ratios)
    kept = int((1 - discard) * count) if discard else count - 1
    x = ratios[:kept]
    share = torch.arange(1, kept + 1, dtype=torch.float64, device=x.device) / count
    y = -torch.log1p(-share)
    return Dimension(_finite(x @ y / (x @ x)))


def two_nn_ml(distances: torch.Tensor) -> Dimension:
    """TwoNN by maximum likelihood: (N - 1) / sum log(r2/r1) over all points."""
    ratios = _log_ratio(distances, 1, 2)
    return Dimension(_finite((len(ratios) - 1) / ratios.sum()))


def levina_bickel(distances: torch.Tensor, k: int, *, unbiased: bool = False, combine: str = "mean") -> Dimension:
    """Maximum likelihood over k neighbours (Levina and Bickel 2004; paper, section 3.3, with k = 50).

    d(x) is the inverse mean of log(T_k/T_j) over j < k; `unbiased` divides the sum by k - 2 instead of k - 1. The
    estimate is the mean of d(x) over points, or 1 / mean(1/d(x)) where `combine` is harmonic.
    """
    _require(distances, k)
    inverse = (distances[:, k - 1, None] / distances[:, : k - 1]).log().sum(1) / (k - 2 if unbiased else k - 1)
    by_point = 1 / inverse
    value = 1 / inverse.mean() if combine == "harmonic" else by_point.mean()
    return Dimension(_finite(value), _finite(by_point.std(correction=0)))


def gride(distances: torch.Tensor, n1: int, n2: int) -> Dimension:
    """Generalised ratios (Denti et al. 2022): maximum likelihood for the ratio of two neighbour distances.

    With n1 = 1 and n2 = 2 it is `two_nn_ml`. The root of the score is found by bisection between 0.001 and 1000; an
    estimate at an end of this range is NaN.
    """
    import torch

    _require(distances, n2)
    ratios = _log_ratio(distances, n1, n2)
    count, gap = len(ratios), n2 - n1 - 1

    def score(dimension: float) -> float:
        # exp(-d log mu) instead of mu^d, which overflows; a ratio of 1 contributes its limit, gap / d.
        weights = torch.where(ratios > 0, ratios / -torch.expm1(-dimension * ratios), 1 / dimension)
        return float((count - 1) / dimension + gap * weights.sum() - (n2 - 1) * ratios.sum())

    low, high = _RANGE
    if not bool(torch.isfinite(ratios).all()) or score(low) < 0 or score(high) > 0:
        return Dimension(float("nan"))
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if score(middle) > 0 else (low, middle)
    value = (low + high) / 2
    positive = ratios[ratios > 0]
    information = count / value**2 + gap * float(
        ((positive / torch.expm1(-value * positive)).square() * torch.exp(-value * positive)).sum()
    )
    return Dimension(value, information**-0.5)


def _log_ratio(distances: torch.Tensor, n1: int, n2: int) -> torch.Tensor:
    return (distances[:, n2 - 1] / distances[:, n1 - 1]).log()


def _require(distances: torch.Tensor, k: int) -> None:
    if distances.shape[1] < k:
        raise ReprlabError(f"{k} neighbours are needed and {distances.shape[1]} distances of each point were given")


def _finite(value: torch.Tensor) -> float:
    number = float(value)
    return number if abs(number) < float("inf") else float("nan")
