"""Scores as rows of a table: one per metric and subset, with an interval over examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reprlab.evaluation.bootstrap import statistics_interval
from reprlab.evaluation.metrics import get_metric, outside_share, require_values, score

METRIC_COLUMNS = [
    "name",
    "learning_rate",
    "split",
    "subset",
    "metric",
    "value",
    "low",
    "high",
    "n",
    "steps",
    "tokens",
    "outside_labels",
    "eval_mode",
    "diverged",
]


def score_rows(
    metrics: Sequence[str],
    gold: Sequence[Any],
    predicted: Sequence[Any],
    labels: Sequence[str],
    subsets: Sequence[str],
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """One row per metric for all examples (subset ''), and per subset where there are any.

    Predictions outside the label set count as wrong (see `metrics`); `outside_labels` is their share.
    """
    rows = []
    for subset in dict.fromkeys(["", *sorted(set(subsets))]):
        chosen = [row for row, name in enumerate(subsets) if subset in ("", name)]
        truth, answers = [gold[row] for row in chosen], [predicted[row] for row in chosen]
        for metric in metrics:
            known = get_metric(metric)
            require_values(known, truth)
            share = outside_share(answers, labels) if known.needs == "labels" else 0.0
            value = score(metric, truth, answers, labels)
            low, high = statistics_interval(
                known, known.statistics(truth, answers, labels), resamples=resamples, seed=seed
            )
            row = {"subset": subset, "metric": metric, "value": value, "low": low, "high": high}
            rows.append({**row, "n": len(chosen), "outside_labels": share})
    return rows
