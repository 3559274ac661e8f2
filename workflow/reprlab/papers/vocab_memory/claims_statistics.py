"""Statistics of the claims: functions of a table, which the bootstrap calls on resampled rows."""

from __future__ import annotations

import math
from typing import Any


def plain_mean(frame: Any) -> float:
    """Mean of the column `value`."""
    return float(frame["value"].mean())


def spearman(frame: Any) -> float:
    """Rank correlation of `tokens` and `unique`; NaN below three different numbers of tokens."""
    tokens, unique = frame["tokens"].rank(), frame["unique"].rank()
    if tokens.nunique() < 3:
        return math.nan
    return float(tokens.corr(unique))


def heaps(frame: Any) -> float:
    """Slope of log `unique` over log `tokens`, the exponent of Heaps' law; NaN as above."""
    import numpy as np

    if frame["tokens"].nunique() < 3:
        return math.nan
    return float(np.polyfit(np.log(frame["tokens"]), np.log(frame["unique"]), 1)[0])
