"""The delete-half jackknife: the error of a statistic of points for which resampled twins are not points.

The bootstrap draws points twice, and a twin is at distance 0, which ruins every estimator of dimension; halves without
replacement have no twins.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from reprlab.statistics.estimates import LEVEL, Estimate, known, no_interval, t_quantile

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def over_halves(value: float, halves: ArrayLike, unit: str, *, level: float = LEVEL) -> Estimate:
    """Interval around `value`, the statistic on all N points, from the statistic on K random halves of them.

    The mean of a half of N points drawn without replacement has the variance S^2 / (N / 2) x (1 - 1 / 2) = S^2 / N
    about the mean of all: that of the statistic on all points itself, so that the factor (n - d) / d of the delete-d
    jackknife (Shao and Wu 1989) is 1. K halves estimate it with K - 1 degrees of freedom, hence the divisor K - 1 and
    Student's t. Deviations are taken from the mean over halves: estimates from fewer points have another bias.

    Args:
        value: the statistic on all points.
        halves: [K], the statistic on each half; NaN is left out, and fewer than 2 give no interval.
        unit: what one point is ("prompt"). `n` of the estimate counts halves: they, not the points, limit the interval.
    """
    found = known(halves)
    if len(found) < 2 or math.isnan(value):
        return no_interval(value, len(found), unit, f"{len(found)} halves, 2 are needed")
    reach = t_quantile(len(found) - 1, level) * float(found.std(ddof=1))
    method = f"delete-half jackknife over {len(found)} halves ({unit}), t, {level:.0%}"
    return Estimate(value, value - reach, value + reach, len(found), unit, method)


def correlation_over_halves(value: float, halves: ArrayLike, unit: str, *, level: float = LEVEL) -> Estimate:
    """The same for a correlation, on the scale of Fisher's z, so that it stays between -1 and 1."""
    from reprlab.statistics.correlations import fisher_z

    found = over_halves(float(fisher_z([value])[0]), fisher_z(halves), unit, level=level)
    low, high = math.tanh(found.low), math.tanh(found.high)
    if not math.isnan(low):
        low, high = min(value, low), max(value, high)
    return Estimate(value, low, high, found.n, unit, f"{found.method}, on Fisher's z", found.note)
