"""Means and intervals of losses: ratios of sums over validation batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reprlab.evaluation.resampling import percentiles, resample_sums
from reprlab.statistics.estimates import Estimate, no_interval
from reprlab.statistics.means import difference_of_groups, ratio_over_units
from reprlab.statistics.means import ratio_difference as _ratio_difference

if TYPE_CHECKING:
    import numpy as np

    from reprlab.reporting.layouts import Statistics

_UNIT = "batch"


def ratio(numerators: np.ndarray, denominators: np.ndarray, statistics: Statistics) -> Estimate:
    """sum(numerators) / sum(denominators), [n] each, over the n batches; NaN where nothing was counted."""
    return ratio_over_units(numerators, denominators, _UNIT, level=statistics.confidence)


def ratio_difference(
    first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray], statistics: Statistics, *, paired: bool
) -> Estimate:
    """Difference of two ratios, first minus second. Paired: unit i of both is the same batch."""
    return _ratio_difference(first, second, _UNIT, paired=paired, level=statistics.confidence)


def curve_correlation(sums: np.ndarray, statistics: Statistics) -> Estimate:
    """Pearson correlation of two curves of ratios over their points, bootstrapped over the units.

    Args:
        sums: [units, points, 4]: numerator and denominator of the first curve, then of the second; 3 points at least,
            otherwise the estimate is NaN.
    """
    import numpy as np

    units, points, _ = sums.shape
    if points < 3:
        return no_interval(float("nan"), units, _UNIT, f"{points} points, 3 are needed")
    drawn = resample_sums(sums.reshape(units, -1), statistics.resamples, statistics.seed).reshape(-1, points, 4)
    together = np.concatenate([sums.sum(0)[None], drawn])
    first, second = (_divide(together[..., k], together[..., k + 1]) for k in (0, 2))
    first, second = (curve - curve.mean(1, keepdims=True) for curve in (first, second))
    values = _divide((first * second).sum(1), np.sqrt((first**2).sum(1) * (second**2).sum(1)))
    if np.isnan(values).all():
        return no_interval(float("nan"), units, _UNIT, "a curve is flat")
    low, high = percentiles(values[1:], units, statistics.confidence)
    return Estimate(float(values[0]), low, high, units, _UNIT, f"bootstrap over {units} batches")


def mean_difference(first: np.ndarray, second: np.ndarray, statistics: Statistics) -> Estimate:
    """Mean of `first` minus mean of `second`, drawn independently."""
    return difference_of_groups(first, second, _UNIT, level=statistics.confidence)


def _divide(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    import numpy as np

    with np.errstate(invalid="ignore", divide="ignore"):
        return np.true_divide(numerator, denominator)
