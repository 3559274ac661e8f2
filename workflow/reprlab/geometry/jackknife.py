"""Standard errors of intrinsic dimensions from random halves of the points.

The bootstrap draws points twice, and a twin is at distance 0, which ruins every estimator; halves without replacement
have no twins.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

# Fisher's z of a correlation of 1 is infinite.
_NEARLY_ONE = 1 - 1e-9


def delete_half_interval(value: float, halves: Sequence[float], confidence: float) -> tuple[float, float]:
    """Normal interval around `value` by the delete-half jackknife (Shao and Wu 1989).

    With half of the points left out, the factor (n - d) / d of the delete-d jackknife is 1: the standard error is the
    standard deviation over halves. Deviations are taken from the mean over halves, because estimates from fewer points
    have another bias. NaN where fewer than 2 halves have a value.
    """
    known = [half for half in halves if not math.isnan(half)]
    if len(known) < 2:
        return float("nan"), float("nan")
    reach = statistics.NormalDist().inv_cdf((1 + confidence) / 2) * statistics.pstdev(known)
    return value - reach, value + reach


def correlation_interval(value: float, halves: Sequence[float], confidence: float) -> tuple[float, float]:
    """The same for a correlation, on the scale of Fisher's z (his 1921 paper), so that it stays between -1 and 1."""
    low, high = delete_half_interval(_fisher_z(value), [_fisher_z(half) for half in halves], confidence)
    return math.tanh(low), math.tanh(high)


def _fisher_z(correlation: float) -> float:
    if math.isnan(correlation):
        return correlation
    return math.atanh(max(-_NEARLY_ONE, min(_NEARLY_ONE, correlation)))
