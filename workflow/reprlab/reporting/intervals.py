"""Means and intervals of losses: ratios of sums over validation batches, resampled batch by batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reprlab.evaluation.bootstrap import resample_sums

if TYPE_CHECKING:
    import numpy as np

    from reprlab.reporting.layouts import Statistics


@dataclass(frozen=True)
class Estimate:
    """A statistic with a percentile interval over `n` resampled units."""

    value: float
    low: float
    high: float
    n: int


def ratio(numerators: np.ndarray, denominators: np.ndarray, statistics: Statistics) -> Estimate:
    """sum(numerators) / sum(denominators), [n] each, bootstrapped over the n units; NaN where nothing was counted."""
    import numpy as np

    value, samples = _ratio_samples(np.stack([numerators, denominators], axis=1), statistics)
    return _estimate(value, samples, len(numerators), statistics)


def ratio_difference(
    first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray], statistics: Statistics, *, paired: bool
) -> Estimate:
    """Difference of two ratios, first minus second.

    Paired: unit i of both is the same batch, and both are resampled together. Otherwise each is resampled by itself.
    """
    import numpy as np

    one, two = np.stack(first, axis=1), np.stack(second, axis=1)
    if paired:
        sums = resample_sums(np.concatenate([one, two], axis=1), statistics.resamples, statistics.seed)
        samples = _divide(sums[:, 0], sums[:, 1]) - _divide(sums[:, 2], sums[:, 3])
    else:
        samples = _ratio_samples(one, statistics)[1] - _ratio_samples(two, statistics, shift=1)[1]
    totals_one, totals_two = one.sum(0), two.sum(0)
    value = float(_divide(totals_one[0], totals_one[1]) - _divide(totals_two[0], totals_two[1]))
    return _estimate(value, samples, min(len(one), len(two)), statistics)


def _ratio_samples(pairs: np.ndarray, statistics: Statistics, shift: int = 0) -> tuple[float, np.ndarray]:
    totals = pairs.sum(0)
    sums = resample_sums(pairs, statistics.resamples, statistics.seed + shift)
    return float(_divide(totals[0], totals[1])), _divide(sums[:, 0], sums[:, 1])


def _divide(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    import numpy as np

    with np.errstate(invalid="ignore", divide="ignore"):
        return np.true_divide(numerator, denominator)


def _estimate(value: float, samples: np.ndarray, n: int, statistics: Statistics) -> Estimate:
    import numpy as np

    if np.isnan(value) or np.isnan(samples).all():
        return Estimate(value, float("nan"), float("nan"), n)
    tail = 50 * (1 - statistics.confidence)
    low, high = np.nanpercentile(samples, [tail, 100 - tail])
    return Estimate(value, float(low), float(high), n)


def curve_correlation(sums: np.ndarray, statistics: Statistics) -> Estimate:
    """Pearson correlation of two curves of ratios over their points, bootstrapped over the units.

    Args:
        sums: [units, points, 4]: numerator and denominator of the first curve, then of the second; 3 points at least,
            otherwise the estimate is NaN.
    """
    import numpy as np

    units, points, _ = sums.shape
    if points < 3:
        return Estimate(float("nan"), float("nan"), float("nan"), units)
    drawn = resample_sums(sums.reshape(units, -1), statistics.resamples, statistics.seed).reshape(-1, points, 4)
    together = np.concatenate([sums.sum(0)[None], drawn])
    first, second = (_divide(together[..., k], together[..., k + 1]) for k in (0, 2))
    first, second = (curve - curve.mean(1, keepdims=True) for curve in (first, second))
    values = _divide((first * second).sum(1), np.sqrt((first**2).sum(1) * (second**2).sum(1)))
    return _estimate(float(values[0]), values[1:], units, statistics)


def mean_difference(first: np.ndarray, second: np.ndarray, statistics: Statistics) -> Estimate:
    """Mean of `first` minus mean of `second`, each bootstrapped by itself."""
    import numpy as np

    return ratio_difference((first, np.ones(len(first))), (second, np.ones(len(second))), statistics, paired=False)
