"""Checks 5.9 and 5.10: the bootstrap and ROUGE-L, on the functions that score our own runs."""

from __future__ import annotations

from collections.abc import Iterator

from reprlab.evaluation.bootstrap import mean_interval
from reprlab.evaluation.metrics import rouge_l
from reprlab.reporting.audit import AuditRow, judge

_N, _SHARE = 2_000, 0.3
_RESAMPLES = 3_000


def scoring_checks() -> Iterator[AuditRow]:
    """Checks 5.9 and 5.10."""
    yield from _bootstrap()
    found = [rouge_l([["a cat sat"]], [text])[0] for text in ("a cat sat", "dogs run fast", "")]
    yield judge(
        "5.10",
        "ROUGE-L of equal, disjoint and empty texts",
        "1 0 0",
        "{:g} {:g} {:g}".format(*found),
        found == [1, 0, 0],
    )


def _bootstrap() -> Iterator[AuditRow]:
    mean, low, high = mean_interval([0.5] * 50, resamples=_RESAMPLES)
    yield judge(
        "5.9a",
        "Bootstrap of equal scores: width of the interval, and its middle less the mean",
        "0 0",
        f"{high - low:g} {(high + low) / 2 - mean:g}",
        high == low == mean,
    )
    ones = int(_N * _SHARE)
    mean, low, high = mean_interval([1.0] * ones + [0.0] * (_N - ones), resamples=_RESAMPLES)
    known = (_SHARE * (1 - _SHARE) / _N) ** 0.5
    found = (high - low) / (2 * 1.959964)
    yield judge(
        "5.9b",
        f"Standard error of an accuracy of {_SHARE} over {_N:,} examples: sqrt(p (1 - p) / n)",
        f"{known:.4f}",
        f"{found:.4f}",
        abs(found / known - 1) < 0.06,
        "from the width of the percentile interval; tolerance 6 %, the noise of 3,000 resamples",
    )
