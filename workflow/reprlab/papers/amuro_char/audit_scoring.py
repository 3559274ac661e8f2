"""Checks 5.9 and 5.10: the bootstrap and ROUGE-L, on the functions that score our own runs."""

from __future__ import annotations

from collections.abc import Iterator

from reprlab.evaluation.completion_scores import bootstrap_mean
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
    equal = bootstrap_mean([0.5] * 50, _RESAMPLES, 0)
    yield judge(
        "5.9a",
        "Bootstrap of equal scores: standard error, and the middle of the interval less the mean",
        "0 0",
        f"{equal['std']:g} {equal['performance_boot'] - equal['value']:g}",
        equal["std"] == 0 and equal["performance_boot"] == equal["value"],
    )
    ones = int(_N * _SHARE)
    found = bootstrap_mean([1.0] * ones + [0.0] * (_N - ones), _RESAMPLES, 0)["std"]
    known = (_SHARE * (1 - _SHARE) / _N) ** 0.5
    yield judge(
        "5.9b",
        f"Standard error of an accuracy of {_SHARE} over {_N:,} examples: sqrt(p (1 - p) / n)",
        f"{known:.4f}",
        f"{found:.4f}",
        abs(found / known - 1) < 0.06,
        "tolerance 6 %, the noise of 3,000 resamples",
    )
