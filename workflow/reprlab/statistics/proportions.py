"""Shares and signs: exact intervals, so that none without a mistake is called certain."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from reprlab.evaluation.resampling import binomial_interval
from reprlab.statistics.estimates import LEVEL, Estimate, known, no_interval, normal_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike


def proportion(successes: int, total: int, unit: str, *, level: float = LEVEL) -> Estimate:
    """Share of units for which something holds, 0 to 1.

    Args:
        successes: how many.
        total: of how many; none gives no interval.
        unit: what one unit is ("example", "setting").
    """
    if not total:
        return no_interval(math.nan, 0, unit, f"no unit ({unit})")
    low, high = binomial_interval(int(successes), int(total), level)
    return Estimate(successes / total, low, high, int(total), unit, f"exact binomial over {total} units, {level:.0%}")


def share_of_signs(differences: ArrayLike, unit: str, *, level: float = LEVEL) -> Estimate:
    """Share of units whose difference is above 0, to be compared with one half (the sign test).

    A difference of 0 counts against the direction. Six units are the fewest that can support one.

    Args:
        differences: [n], one difference a unit; NaN is left out.
        unit: what one unit is.
    """
    values = known(differences)
    return proportion(int((values > 1e-12).sum()), len(values), unit, level=level)


def difference_of_answers(first: np.ndarray, second: np.ndarray, unit: str, level: float = LEVEL) -> Estimate:
    """Difference of two shares of right answers to the same examples, 0 and 1 each: first minus second.

    The interval reaches as far as the wider of two: the exact one of how the answers that differ fall (McNemar's test),
    which takes for given how many differ, and Wald's with half an example added to each cell of the table (Agresti and
    Min 2005), which does not.
    """
    n, gained, lost = len(first), int((first > second).sum()), int((first < second).sum())
    differ, value = gained + lost, float((first - second).mean())
    if not differ:
        return no_interval(0.0, n, unit, f"both sides are right on the same examples: equal in {n} units ({unit})")
    exact = [differ / n * (2 * bound - 1) for bound in binomial_interval(gained, differ, level)]
    middle = (gained - lost) / (n + 2)
    reach = normal_quantile(level) * math.sqrt(differ + 1 - (gained - lost) ** 2 / (n + 2)) / (n + 2)
    method = f"exact (McNemar) or adjusted Wald over {n} units ({unit}), the wider, {level:.0%}"
    return Estimate(value, min(exact[0], middle - reach), max(exact[1], middle + reach), n, unit, method)
