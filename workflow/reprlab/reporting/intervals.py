"""Means and intervals of losses: ratios of sums over validation batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reprlab.statistics.estimates import Estimate
from reprlab.statistics.means import ratio_difference as _ratio_difference

if TYPE_CHECKING:
    import numpy as np

    from reprlab.reporting.layouts import Statistics

_UNIT = "batch"


def ratio_difference(
    first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray], statistics: Statistics, *, paired: bool
) -> Estimate:
    """Difference of two ratios, first minus second. Paired: unit i of both is the same batch."""
    return _ratio_difference(first, second, _UNIT, paired=paired, level=statistics.confidence)
