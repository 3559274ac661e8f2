"""Deviations: whether runs of one kind scatter less than runs of another, by F over the runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from reprlab.statistics.estimates import LEVEL, Estimate, contrast, known, no_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def ratio_of_deviations(
    first: Sequence[ArrayLike], second: Sequence[ArrayLike], unit: str, *, level: float = LEVEL
) -> Estimate:
    """Standard deviation of `first` over that of `second`; of several sets the geometric mean of their ratios.

    Each set has the exact F interval of two normal samples, and several are joined on the scale of logarithms. Of
    scores with long tails F is too sure: see the references in docs/calibration.md.

    Args:
        first: for each set the values of its units, which are drawn independently.
        second: the same sets in the same order.
        unit: what one unit is.
    """
    parts = [_log_ratio(one, two, unit, level) for one, two in zip(first, second, strict=True)]
    n, method = min(one.n for one in parts), parts[0].method
    several = f"{method}, {len(parts)} sets joined as a root of squares of logarithms"
    joined = contrast(parts, [1 / len(parts)] * len(parts), unit, several if len(parts) > 1 else method)
    value, low, high = (math.exp(one) for one in (joined.value, joined.low, joined.high))
    return Estimate(value, low, high, n, unit, joined.method, joined.note)


def _log_ratio(one: ArrayLike, two: ArrayLike, unit: str, level: float) -> Estimate:
    from scipy.special import fdtri

    sides = [known(one), known(two)]
    n = [len(side) for side in sides]
    spreads = [float(side.std(ddof=1)) if len(side) > 1 else 0.0 for side in sides]
    if min(spreads) <= 0:
        why = f"units: {n[0]} and {n[1]} ({unit}), 2 of each with some spread are needed"
        return no_interval(math.nan, min(n), unit, why)
    value = math.log(spreads[0] / spreads[1])
    tail, degrees = (1 - level) / 2, [count - 1 for count in n]
    low, high = (value - math.log(float(fdtri(*degrees, share))) / 2 for share in (1 - tail, tail))
    return Estimate(value, low, high, min(n), unit, f"F over {n[0]} and {n[1]} units ({unit}), {level:.0%}")
