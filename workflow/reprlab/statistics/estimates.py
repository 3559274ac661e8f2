"""An estimate with its interval and its unit, and the intervals that the others are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

LEVEL = 0.95
"""Of every interval: a direction is supported falsely in 2.5 % of cases at most."""
EQUAL_UNITS = 6
"""This many units with one and the same value are a direction: 2 / 2^6 is the first two-sided sign test below 5 %."""


@dataclass(frozen=True)
class Estimate:
    """A statistic with its interval over `n` units.

    Bounds are NaN where the units cannot give an interval; `note` says why, and every verdict on it is inconclusive.
    """

    value: float
    low: float
    high: float
    n: int
    unit: str = ""
    method: str = ""
    note: str = ""

    def told(self, text: str) -> Estimate:
        """The same with a further note."""
        return replace(self, note="; ".join(part for part in (self.note, text) if part))

    def times(self, factor: float) -> Estimate:
        """In another unit: value and bounds times a positive number."""
        return replace(self, value=factor * self.value, low=factor * self.low, high=factor * self.high)

    def less(self, known: float) -> Estimate:
        """Less a number that has no error."""
        return replace(self, value=self.value - known, low=self.low - known, high=self.high - known)


def no_interval(value: float, n: int, unit: str, note: str) -> Estimate:
    """An estimate that decides nothing, and why."""
    return Estimate(value, math.nan, math.nan, n, unit, "none", note)


def t_quantile(degrees: float, level: float = LEVEL) -> float:
    """Two-sided quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + level) / 2))


def normal_quantile(level: float = LEVEL) -> float:
    """Two-sided quantile of the normal distribution."""
    from statistics import NormalDist

    return NormalDist().inv_cdf((1 + level) / 2)


def known(values: ArrayLike) -> np.ndarray:
    """The values [m] as floats without NaN; None counts as NaN."""
    import numpy as np

    array = np.asarray(values, dtype=np.float64).ravel()
    return array[~np.isnan(array)]


def all_equal(values: np.ndarray) -> bool:
    """Whether values differ by no more than floating point does."""
    return bool(len(values)) and float(values.max() - values.min()) <= 1e-12 * max(1.0, float(abs(values).max()))


def t_interval(value: float, units: np.ndarray, unit: str, level: float = LEVEL, method: str = "") -> Estimate:
    """Student's interval around `value` from contributions of units [n], whose mean has the error of the value.

    Units that are all equal have no spread to judge by: below `EQUAL_UNITS`, or where they are all 0, they give no
    interval.
    """
    n = len(units)
    if n < 2:
        return no_interval(value, n, unit, f"units: {n} ({unit}), 2 are needed")
    if all_equal(units):
        if n >= EQUAL_UNITS and abs(value) > 1e-12:
            return Estimate(value, value, value, n, unit, f"all {n} units are equal")
        both = "both sides are" if abs(value) <= 1e-12 else "all units are"
        return no_interval(value, n, unit, f"{both} equal in {n} units ({unit}): no spread to judge by")
    reach = t_quantile(n - 1, level) * float(units.std(ddof=1)) / math.sqrt(n)
    return Estimate(value, value - reach, value + reach, n, unit, method or f"t over {n} units ({unit}), {level:.0%}")


def contrast(estimates: Sequence[Estimate], weights: Sequence[float], unit: str = "", method: str = "") -> Estimate:
    """Weighted sum of independent estimates: the reaches of their intervals add as roots of sums of squares.

    The method of variance estimates recovery (Zou and Donner 2008), which keeps lopsided intervals lopsided. A
    difference has the weights 1 and -1, a mean of k has 1 / k each. `n` is that of the estimate with fewest units.
    """
    value = sum(weight * one.value for one, weight in zip(estimates, weights, strict=True))
    down = up = 0.0
    for one, weight in zip(estimates, weights, strict=True):
        reaches = (one.value - one.low, one.high - one.value)
        down += (weight * reaches[0 if weight > 0 else 1]) ** 2
        up += (weight * reaches[1 if weight > 0 else 0]) ** 2
    n, unit = min(one.n for one in estimates), unit or estimates[0].unit
    notes = "; ".join(dict.fromkeys(one.note for one in estimates if one.note))
    if math.isnan(down + up):
        return no_interval(value, n, unit, notes)
    method = method or "reaches of the parts as a root of squares (MOVER)"
    return Estimate(value, value - math.sqrt(down), value + math.sqrt(up), n, unit, method, notes)


def largest_of(estimates: Sequence[Estimate], level: float = LEVEL) -> tuple[int, Estimate]:
    """Place of the largest estimate, and the estimate with an interval that allows for the choice (Bonferroni).

    The given intervals are of `level`; their reach grows as that of a normal one does.

    Raises:
        ValueError: there is none.
    """
    place = max(range(len(estimates)), key=lambda number: estimates[number].value)
    best = estimates[place]
    factor = normal_quantile(1 - (1 - level) / len(estimates)) / normal_quantile(level)
    low, high = best.value - factor * (best.value - best.low), best.value + factor * (best.high - best.value)
    return place, replace(best, low=low, high=high, method=f"{best.method}; Bonferroni over {len(estimates)}")
