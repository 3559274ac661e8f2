"""The audit: every check that needs neither training nor data nor network; `audit.yaml` says what the paper prints."""

from __future__ import annotations

from decimal import Decimal

from reprlab.reporting.audit import Found, found, mean, rounded
from reprlab.reporting.audit_given import Given
from reprlab.results.words import printed_of

TABLES = printed_of("domain-adaptive-masking").declarations()


def _tokens(given: Given, model: str) -> Decimal:
    """Tokens that a model has read: updates in thousands, a batch and a length."""
    batch, length = (Decimal(given.said[f"{model}_{name}"]) for name in ("batch", "length"))
    return batch * length


def tokens_per_update(given: Given, *, model: str) -> Decimal:
    """5.1: blocks of an update times their tokens."""
    return _tokens(given, model)


def compute_ratio(given: Given, *, thousands: str) -> Decimal:
    """5.1: tokens of BioBERT after this many thousand updates over ours."""
    steps = sum(Decimal(given.said[name]) for name in thousands.split())
    return _tokens(given, "biobert") * steps / (_tokens(given, "ours") * Decimal(given.said["ours_updates"]))


def saved(given: Given, *, thousands: str) -> Decimal:
    """5.1: what ours saves of BioBERT's tokens, in percent."""
    return 100 - 100 / compute_ratio(given, thousands=thousands)


def _column(given: Given, name: str) -> dict[str, Decimal]:
    return {task: Decimal(row[name]) for task, row in given.cells["table2"].items()}


def _mean(given: Given, name: str) -> Decimal:
    return mean(row[name] for row in given.cells["table2"].values())


def wins(given: Given, *, over: str) -> Found:
    """5.2: data sets of Table 2 on which ours is better than another model."""
    ours, other = _column(given, "ours"), _column(given, over)
    lost = {task: other[task] - ours[task] for task in ours if ours[task] <= other[task]}
    shown = ", ".join(f"{task} by {gap}" for task, gap in lost.items()) or "none"
    gap = rounded(_mean(given, "ours") - _mean(given, over), 3)
    return found(len(ours) - len(lost), lost=shown, gap=gap, total=len(ours))


def mean_again(given: Given) -> Found:
    """8, T6: the mean of BioBERT-v1.1 in its own PyTorch code, and what Table 2's means are above its means."""
    again = mean(row["biobert_v1_1"] for row in given.cells["again"].values())
    bert = _mean(given, "bert") - Decimal(given.said["again_bert_mean"])
    return found(again, moved=rounded(_mean(given, "biobert_v1_1") - again, 2), moved_bert=rounded(bert, 2))
