"""Rules that are written before a number is seen, and the verdicts that follow from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reprlab.statistics.estimates import ALL_THERE_IS, FEWEST_SEEDS, Estimate, few_seeds, known, no_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

SUPPORTED = "supported"
NOT_SUPPORTED = "not supported"
INCONCLUSIVE = "inconclusive"
_TOUCH = 1e-9


@dataclass(frozen=True)
class Rule:
    """Supported where the whole interval lies between `low` and `high`, not supported where all of it lies outside.

    An interval that touches a bound, as that of a difference of nothing touches 0, is inconclusive.
    """

    low: float = -math.inf
    high: float = math.inf

    def describe(self) -> str:
        """The rule in words, as the `rule` column shows it."""
        if math.isinf(self.low):
            inside = f"below {self.high:g}"
        elif math.isinf(self.high):
            inside = f"above {self.low:g}"
        else:
            inside = f"between {self.low:g} and {self.high:g}"
        return f"supported if the whole interval is {inside}, not supported if none of it is, else inconclusive"

    def judge(self, estimate: Estimate) -> str:
        """The verdict's word; an estimate without interval, or over too few seeds alone, decides nothing."""
        if math.isnan(estimate.low) or math.isnan(estimate.high) or few_seeds(estimate.unit, estimate.n):
            return INCONCLUSIVE
        if estimate.low > self.low + _TOUCH and estimate.high < self.high - _TOUCH:
            return SUPPORTED
        outside = estimate.high < self.low - _TOUCH or estimate.low > self.high + _TOUCH
        return NOT_SUPPORTED if outside else INCONCLUSIVE


ABOVE_ZERO, BELOW_ZERO = Rule(low=0.0), Rule(high=0.0)


@dataclass(frozen=True)
class Verdict:
    """The verdict of a rule on an estimate. `n_units` counts the units (`unit`) that the interval is over."""

    estimate: float
    low: float
    high: float
    verdict: str
    unit: str
    n_units: int
    rule: str
    interval: str
    note: str = ""


def judge(estimate: Estimate, rule: Rule, note: str = "") -> Verdict:
    """The verdict on an estimate. Its note says why it decides nothing, where that is so, then `note`."""
    few = few_seeds(estimate.unit, estimate.n) and not math.isnan(estimate.low)
    alone = f"seeds alone judge where there are {FEWEST_SEEDS}; here are {estimate.n}" if few else ""
    return Verdict(
        estimate.value,
        estimate.low,
        estimate.high,
        rule.judge(estimate),
        estimate.unit,
        estimate.n,
        rule.describe(),
        estimate.method,
        "; ".join(part for part in (alone, estimate.note, note) if part),
    )


def count_exactly(count: float, unit: str, total: int) -> Estimate:
    """A count over all there is (tasks of GLUE below one half), which is not a sample: low and high are the count."""
    return Estimate(float(count), float(count), float(count), total, unit, "exact count, no interval")


def every_unit(values: ArrayLike, unit: str) -> Estimate:
    """Mean of values that are computed and not sampled, with the smallest and the largest as bounds.

    For a claim that holds of each of these units by construction or not at all (the optimizer's state is as small as
    computed). It says nothing about other units, and has no share of errors.

    Args:
        values: [n], one number a unit; NaN is left out.
        unit: what one unit is.
    """
    found = known(values)
    if not len(found):
        return no_interval(math.nan, 0, unit, f"no unit ({unit})")
    bounds = (float(found.mean()), float(found.min()), float(found.max()))
    return Estimate(*bounds, len(found), unit, f"{ALL_THERE_IS} of {len(found)} units ({unit})")
