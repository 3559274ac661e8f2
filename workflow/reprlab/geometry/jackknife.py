"""Intervals of intrinsic dimensions from random halves of the points, by `reprlab.statistics.halves`."""

from __future__ import annotations

from collections.abc import Sequence

from reprlab.statistics.halves import correlation_over_halves, over_halves


def delete_half_interval(value: float, halves: Sequence[float], confidence: float) -> tuple[float, float]:
    """Low and high around `value`, from its values on halves; NaN where fewer than 2 halves have a value."""
    found = over_halves(value, halves, "point", level=confidence)
    return found.low, found.high


def correlation_interval(value: float, halves: Sequence[float], confidence: float) -> tuple[float, float]:
    """The same for a correlation, on the scale of Fisher's z."""
    found = correlation_over_halves(value, halves, "point", level=confidence)
    return found.low, found.high
