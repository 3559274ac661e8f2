"""Intervals over examples: the bootstrap for any metric, the exact one for a share.

Not in `reprlab.statistics`, which builds on it: stages that train score with it, and an edit of a rule trains nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import numpy as np


def resample_sums(statistics: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """Sums [resamples, d] of the rows of `statistics` [n, d] over samples of n rows with replacement.

    Equal rows are drawn together from one multinomial: the same distribution, and for accuracy two cells instead of n.

    Raises:
        ReprlabError: there is no row.
    """
    import numpy as np

    if not len(statistics):
        raise ReprlabError("bootstrap: there is no example to resample")
    rows, counts = np.unique(statistics, axis=0, return_counts=True)
    rng = np.random.Generator(np.random.Philox(key=seed))
    sums = np.empty((resamples, rows.shape[1]))
    chunk = max(1, 2_000_000 // len(rows))
    for start in range(0, resamples, chunk):
        drawn = rng.multinomial(len(statistics), counts / len(statistics), size=min(chunk, resamples - start))
        sums[start : start + len(drawn)] = drawn @ rows
    return sums


def percentiles(values: np.ndarray, n: int, level: float = 0.95) -> tuple[float, float]:
    """Expanded percentile interval (Hesterberg 2015) of resampled values [resamples] of a statistic of n examples.

    The bootstrap's spread is short by sqrt((n - 1) / n) and knows no t: the tail is the normal's beyond t's quantile
    times sqrt(n / (n - 1)), 2.5 % for many examples and less for few.
    """
    import numpy as np
    from scipy.special import ndtr, stdtrit

    if n < 2:
        return math.nan, math.nan
    tail = 100 * float(ndtr(-math.sqrt(n / (n - 1)) * stdtrit(n - 1, (1 + level) / 2)))
    low, high = np.nanpercentile(values, [tail, 100 - tail])
    return float(low), float(high)


def binomial_interval(successes: int, total: int, level: float = 0.95) -> tuple[float, float]:
    """Exact interval of a share (Clopper and Pearson 1934); 0 of n and n of n have width as well."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = float(betaincinv(successes, total - successes + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, total - successes, 1 - tail)) if successes < total else 1.0
    return low, high


def each_right_or_wrong(statistics: np.ndarray) -> bool:
    """Whether per-example statistics [n, 2] of a mean, its sum and its count, are a 0 or a 1 each."""
    import numpy as np

    return statistics.shape[1] == 2 and bool((statistics[:, 1] == 1).all() and np.isin(statistics[:, 0], (0, 1)).all())
