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

FEWEST_SEEDS = 4
"""This many judge alone: t over two asks for a mean of 6.35 times their difference, so that nothing can be decided."""
ALL_THERE_IS = "smallest to largest"
"""How the method of bounds begins that no sampling made."""


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


def few_seeds(unit: str, n: int) -> bool:
    """Whether units are seeds and too few to judge alone."""
    return unit.endswith("seed") and " and " not in unit and n < FEWEST_SEEDS


def mean_of_shared(estimates: Sequence[Estimate]) -> Estimate:
    """Mean of estimates over the same items: three are no surer of them than one, so the reach is their mean reach."""
    if len(estimates) == 1:
        return estimates[0]
    value, first = math.fsum(one.value for one in estimates) / len(estimates), estimates[0]
    reaches = zip(*((one.value - one.low, one.high - one.value) for one in estimates), strict=True)
    down, up = (math.fsum(each) / len(estimates) for each in reaches)
    notes = "; ".join(dict.fromkeys(one.note for one in estimates if one.note))
    return Estimate(value, value - down, value + up, min(one.n for one in estimates), first.unit, first.method, notes)


def within(runs: Sequence[Estimate], run: str = "seed") -> Estimate:
    """Mean over a few runs that are scored on the same items: a statement about these runs, and no others.

    The items are drawn anew, within the runs. The interval goes as far as the value of each run, so that none
    contradicts a verdict.
    """
    found = mean_of_shared(runs)
    if len(runs) == 1:
        return found.told(f"one {run} only; other {run}s may differ")
    values = [one.value for one in runs]
    told = f"by {run}: {', '.join(f'{each:.4g}' for each in values)}"
    return replace(
        found.told(told),
        # A bound that is not known stays so.
        low=found.low if math.isnan(found.low) else min(found.low, *values),
        high=found.high if math.isnan(found.high) else max(found.high, *values),
        unit=f"{found.unit} within {len(runs)} {run}s",
        method=f"{found.method}; mean reach of {len(runs)} {run}s, at least to the value of each",
    )


def over_seeds(runs: Sequence[Estimate], run: str = "seed") -> Estimate:
    """Mean over runs: by t over them where they are enough to judge alone, else over their items, within them.

    Args:
        runs: an estimate of each, over the items that all are scored on.
        run: what a run is drawn by.
    """
    values = [one.value for one in runs]
    if len(runs) >= FEWEST_SEEDS or any(math.isnan(one.low) for one in runs):
        import numpy as np

        return t_interval(math.fsum(values) / len(values), np.asarray(values), run)
    return within(runs, run)


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


def least_of(estimates: Sequence[Estimate]) -> Estimate:
    """The smallest of several, for a claim that all lie above a bound: it holds where it holds of each.

    Its interval goes from the lowest lower end to the lowest upper end: no choice has to be paid for (Berger 1982).

    Raises:
        ValueError: there is none.
    """
    least = min(estimates, key=lambda one: one.value)
    unknown = any(math.isnan(one.low) for one in estimates)
    low, high = (math.nan,) * 2 if unknown else (min(one.low for one in estimates), min(one.high for one in estimates))
    return replace(least, low=low, high=high, method=f"{least.method}; the least of {len(estimates)}")
