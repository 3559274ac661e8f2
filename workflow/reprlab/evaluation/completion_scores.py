"""Rows of scores: mean, bootstrap, constant predictor, and what the predictions look like."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from reprlab.evaluation.completion_answers import Answers, CellPrompts
from reprlab.evaluation.completion_settings import CompletionScoring, ScoredModel
from reprlab.evaluation.metrics import rouge_l
from reprlab.evaluation.resampling import binomial_interval, each_right_or_wrong, percentiles, resample_sums
from reprlab.text.prompt_formats import LABELS

LEVEL = 0.95
COLUMNS = [
    "family", "ckpt", "step", "tokens", "train", "lr", "eval", "data", "kind", "fmt", "shots", "method", "metric",
    "value", "performance_boot", "std", "low", "high", "majority", "n", "histogram", "outside_labels", "empty_share",
    "mean_output_tokens", "dropped_shots", "seed", "train_rows", "steps", "note",
]  # fmt: skip
"""Columns of a table of scores; a missing value is empty. Scores and shares are in percent."""


def bootstrap_mean(values: Sequence[float], resamples: int, seed: int) -> dict[str, float]:
    """Mean of per-row scores with its bootstrap (spec 2.4).

    Returns:
        `value`, the plain mean; `performance_boot`, the midpoint of the percentile interval, which the original
        reports; `std`, the standard error; `low` and `high`, exact where each row is right or wrong.
    """
    array = np.asarray(values, dtype=np.float64)
    means = resample_sums(array[:, None], resamples, seed)[:, 0] / len(array)
    ends = np.percentile(means, [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    low, high = percentiles(means, len(array), LEVEL)
    if each_right_or_wrong(np.stack([array, np.ones_like(array)], axis=1)):
        low, high = binomial_interval(int(array.sum()), len(array), LEVEL)
    return {
        "value": float(array.mean()),
        "performance_boot": float(ends.mean()),
        "std": float(means.std()),
        "low": low,
        "high": high,
    }


def answer_scores(kind: str, gold: Sequence[str], answers: Sequence[str]) -> list[float]:
    """Score of each answer in 0 to 1: ROUGE-L F, or whether it is the right one."""
    if kind == "generation":
        return rouge_l([[one] for one in gold], answers)
    return [float(one == found) for one, found in zip(gold, answers, strict=True)]


def row_scores(prompts: CellPrompts, answers: Answers) -> list[float]:
    """`answer_scores` of a cell."""
    return answer_scores(prompts.kind, prompts.gold, answers.answers)


def score_row(
    settings: CompletionScoring, model: ScoredModel, prompts: CellPrompts, answers: Answers, tuned: dict[str, Any]
) -> dict[str, Any]:
    """The row of one model and cell.

    Args:
        tuned: `learning_rate`, `rows`, `steps` of the fine-tuned model; empty for an untuned one.
    """
    cell, rows = prompts.cell, len(prompts.rows)
    generated, labelled = prompts.kind == "generation", prompts.kind == "classification"
    how = settings.normalisation.get(cell.eval, "none")
    scores = bootstrap_mean(row_scores(prompts, answers), settings.bootstrap, settings.seed)
    notes = [settings.notes.get(cell.eval, "")]
    if prompts.kind == "choice":
        notes.append("log-likelihood" if how == "none" else f"log-likelihood by {how}")
    return {
        "family": settings.family,
        "ckpt": model.name,
        "step": model.step,
        "tokens": model.tokens,
        "train": settings.train,
        "lr": tuned.get("learning_rate"),
        "eval": cell.eval,
        "data": prompts.title,
        "kind": prompts.kind,
        "fmt": cell.fmt,
        "shots": cell.shots,
        "method": cell.method,
        "metric": "rougeL" if generated else "accuracy",
        **{name: 100 * value for name, value in scores.items()},
        "majority": None if generated else 100 * max(Counter(prompts.gold).values()) / rows,
        "n": rows,
        "histogram": _histogram(prompts, answers) if labelled else None,
        "outside_labels": _share(found == "" for found in answers.answers) if labelled else None,
        "empty_share": _share(not found.strip() for found in answers.answers) if generated else None,
        "mean_output_tokens": float(np.mean(answers.tokens)) if generated else None,
        "dropped_shots": prompts.encoded.dropped,
        "seed": settings.tuning_seed,
        "train_rows": tuned.get("rows"),
        "steps": tuned.get("steps"),
        "note": "; ".join(note for note in notes if note),
    }


def _histogram(prompts: CellPrompts, answers: Answers) -> str:
    counts = Counter(answers.answers)
    found = {label: counts[label] for label in LABELS[prompts.template]}
    return json.dumps({**found, **({"none": counts[""]} if counts[""] else {})})


def _share(flags: Any) -> float:
    """Percent."""
    return 100 * float(np.mean(list(flags)))
