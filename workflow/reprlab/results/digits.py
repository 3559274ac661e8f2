"""Digits of numbers in tables: six that matter, and never fewer than those before the point."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from reprlab.artifacts.tables import write_tsv

_DIGITS = 6


def sensible(value: float) -> float:
    """62.74999999999999 is 62.75, 0.000123456789 is 0.000123457, 1234567.891 is 1234568."""
    if value == 0 or not math.isfinite(value):
        return value
    return round(value, max(0, _DIGITS - 1 - math.floor(math.log10(abs(value)))))


def write_table(path: Path, frame: Any) -> None:
    """Write a table for readers; the frame behind it (results.parquet) keeps every digit."""
    numbers = {
        name: frame[name].map(lambda value: sensible(value) if isinstance(value, float) else value)
        for name in frame
        if frame[name].dtype.kind in "fO"
    }
    write_tsv(path, frame.assign(**numbers))
