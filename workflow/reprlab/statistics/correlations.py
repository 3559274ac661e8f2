"""Correlations and slopes over few points: exact permutations up to eight points, Fisher's z and t beyond."""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING

from reprlab.statistics.estimates import LEVEL, Estimate, known, no_interval, t_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

POINTS = 5
"""Below it no order of the points is rarer than 1 in 24, so that none can support a direction at 2.5 %."""
_EXACT = 8
# Fisher's z of a correlation of 1 is infinite.
_NEARLY_ONE = 1 - 1e-9


def rank_correlation(first: ArrayLike, second: ArrayLike, unit: str, *, level: float = LEVEL) -> Estimate:
    """Spearman's correlation over points, with mean ranks for ties.

    The interval is on Fisher's z. It excludes 0 only where the exact permutation test does (t beyond eight points), and
    is wider where the correlation is stronger (Bonett and Wright 2000).

    Args:
        first: [n], one number a point.
        second: [n].
        unit: what one point is. Below `POINTS` there is no interval.
    """
    from scipy.stats import rankdata

    one, two = _pairs(first, second)
    one, two = rankdata(one), rankdata(two)
    # Perfect order is taken for half a step less than 1: the next smaller rank correlation is 1 - 12 / (n^3 - n).
    largest = 1 - 6 / max(1, len(one) ** 3 - len(one))
    return _interval(one, two, unit, level, largest, widened=True)


def correlation(first: ArrayLike, second: ArrayLike, unit: str, *, level: float = LEVEL) -> Estimate:
    """Pearson's correlation over points; arguments and interval as in `rank_correlation`, not widened.

    Points of one curve (steps, layers) follow each other and are not independent: where there are several curves, take
    the correlation of each and pass them to `mean_correlation`.
    """
    one, two = _pairs(first, second)
    return _interval(one, two, unit, level, _NEARLY_ONE, widened=False)


def mean_correlation(correlations: ArrayLike, unit: str, *, level: float = LEVEL) -> Estimate:
    """Mean of one correlation a unit, on Fisher's z and back, with t over the units.

    Args:
        correlations: [n], one a unit (model, seed); NaN is left out.
        unit: what one unit is.
    """
    from reprlab.statistics.means import mean_over_units

    found = mean_over_units(fisher_z(known(correlations)), unit, level=level)
    value, low, high = (math.tanh(bound) for bound in (found.value, found.low, found.high))
    return Estimate(value, low, high, found.n, unit, f"{found.method}, on Fisher's z", found.note)


def slope(first: ArrayLike, second: ArrayLike, unit: str, *, level: float = LEVEL) -> Estimate:
    """Slope of the least-squares line of `second` over `first`, with t of n - 2 degrees of freedom.

    Args:
        first: [n], one number a point.
        second: [n].
        unit: what one point is. Below `POINTS` there is no interval.
    """
    one, two = _pairs(first, second)
    centred = one - one.mean() if len(one) else one
    squares = float((centred**2).sum())
    value = float((centred * two).sum() / squares) if squares > 0 else math.nan
    if len(one) < POINTS or math.isnan(value):
        return no_interval(value, len(one), unit, _few(len(one), unit))
    residuals = two - two.mean() - value * centred
    error = math.sqrt(float((residuals**2).sum()) / (len(one) - 2) / squares)
    reach = t_quantile(len(one) - 2, level) * error
    return Estimate(value, value - reach, value + reach, len(one), unit, f"t over {len(one)} points ({unit})")


def fisher_z(correlations: ArrayLike) -> np.ndarray:
    """Fisher's z of correlations [...]; that of 1 is finite."""
    import numpy as np

    return np.arctanh(np.clip(np.asarray(correlations, dtype=np.float64), -_NEARLY_ONE, _NEARLY_ONE))


def _interval(one: np.ndarray, two: np.ndarray, unit: str, level: float, largest: float, *, widened: bool) -> Estimate:
    n = len(one)
    if n < 3:
        return no_interval(math.nan, n, unit, _few(n, unit))
    first, second = one - one.mean(), two - two.mean()
    scale = math.sqrt(float((first**2).sum() * (second**2).sum()))
    if scale < 1e-12:
        return no_interval(math.nan, n, unit, f"one side is equal in {n} points ({unit})")
    value = float((first * second).sum()) / scale
    if n < POINTS:
        return no_interval(value, n, unit, _few(n, unit))
    falling, rising = _critical(first, second, scale, level)
    factor = math.sqrt(1 + value**2 / 2) if widened else 1.0
    middle = math.atanh(max(-largest, min(largest, value)))
    low = math.tanh(middle - factor * rising)
    high = math.tanh(middle + factor * falling)
    test = "exact permutations" if n <= _EXACT else "t"
    method = f"Fisher's z, {test} over {n} points ({unit}), {level:.0%}"
    return Estimate(value, min(low, value), max(high, value), n, unit, method)


def _critical(first: np.ndarray, second: np.ndarray, scale: float, level: float) -> tuple[float, float]:
    """Fisher's z that a falling and a rising correlation must exceed to be rarer than chance allows."""
    n = len(first)
    if n > _EXACT:
        t = t_quantile(n - 2, level)
        return (math.atanh(t / math.sqrt(n - 2 + t**2)),) * 2
    import numpy as np

    found = np.sort((second[_permutations(n)] @ first) / scale)
    # As many permutations may be as extreme as the tail holds; the next one is the largest that is not rare enough.
    allowed = math.floor((1 - level) / 2 * len(found))
    falling, rising = fisher_z([found[allowed], found[-1 - allowed]])
    return max(0.0, -float(falling)), max(0.0, float(rising))


@functools.cache
def _permutations(n: int) -> np.ndarray:
    """All orders of n places [n!, n]."""
    import numpy as np

    return np.array(list(itertools.permutations(range(n))))


def _pairs(first: ArrayLike, second: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    import numpy as np

    one, two = (np.asarray(side, dtype=np.float64).ravel() for side in (first, second))
    if len(one) != len(two):
        raise ValueError(f"{len(one)} and {len(two)} values are not points")
    kept = ~(np.isnan(one) | np.isnan(two))
    return one[kept], two[kept]


def _few(n: int, unit: str) -> str:
    return f"points: {n} ({unit}), {POINTS} are needed: fewer cannot show a direction"
