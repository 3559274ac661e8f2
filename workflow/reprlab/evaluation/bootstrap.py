"""Intervals of metrics over examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reprlab.evaluation.metrics import Metric, get_metric
from reprlab.evaluation.resampling import binomial_interval, each_right_or_wrong, percentiles, resample_sums

if TYPE_CHECKING:
    import numpy as np


def bootstrap_interval(
    metric: str,
    gold: Sequence[Any],
    predicted: Sequence[Any],
    labels: Sequence[str] = (),
    *,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[float, float]:
    """Interval, in percent, of `metric` over examples: the exact one where each is right or wrong, else the expanded
    percentile interval of the bootstrap."""
    chosen = get_metric(metric)
    return statistics_interval(
        chosen, chosen.statistics(gold, predicted, labels), resamples=resamples, level=level, seed=seed
    )


def statistics_interval(
    metric: Metric, statistics: np.ndarray, *, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> tuple[float, float]:
    """`bootstrap_interval` of a metric whose per-example statistics are at hand."""
    if each_right_or_wrong(statistics):
        low, high = binomial_interval(int(statistics[:, 0].sum()), len(statistics), level)
        return 100 * low, 100 * high
    return percentiles(metric.finish(resample_sums(statistics, resamples, seed)), len(statistics), level)


def mean_interval(
    values: Sequence[float], *, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> tuple[float, float, float]:
    """Bootstrap of a plain mean (over seeds, batches or examples): (mean, low, high)."""
    import numpy as np

    array = np.asarray(values, dtype=np.float64)
    sums = resample_sums(array[:, None], resamples, seed)[:, 0] / len(array)
    return float(array.mean()), *percentiles(sums, len(array), level)
