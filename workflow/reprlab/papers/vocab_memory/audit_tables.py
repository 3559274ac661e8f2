"""Means, implied counts, split sizes, running times and ids; and statements in the text."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from reprlab.papers.vocab_memory.names import GLUE
from reprlab.reporting.audit import Found, found, rounded
from reprlab.reporting.audit_given import Given
from reprlab.reporting.audit_kinds import counted, listed

# Nine cells, each rounded by up to 0.05, and the printed mean by as much again.
_MEAN_TOLERANCE = Decimal("0.07")
_HALF = Decimal("0.05")
_DISTILLED = {"DistilBERT": "BERT", "DistilRoBERTa": "RoBERTa", "DistilmBERT": "mBERT"}


def _numbers(given: Given, table: str, *keys: str) -> Any:
    """The tasks and the mean of a printed table, exactly, by its keys."""
    rows = given.tables[table]
    keys = keys or tuple(name for name in ("kind", "model", "pema") if name in rows)
    return rows.set_index([*keys])[[*GLUE, "mean"]].map(Decimal)


def distilled_pairs(given: Given) -> Found:
    rows = _numbers(given, "table2_reduction").loc["embedding"]
    same = [small for small, large in _DISTILLED.items() if (rows.loc[small] == rows.loc[large]).all()]
    return found(["no", "one", "two", "three"][len(same)], names=", ".join(same))


def means(given: Given) -> Iterator[Any]:
    """5.4, 5.5: two sizes of one width; means over the tasks against the printed ones, up to rounding."""
    names = ("table3_deberta_sizes", "table2_reduction", "table10_glue")
    third, second, tenth = (_numbers(given, name) for name in names)
    yield bool((third.loc["Small"] == third.loc["Base"]).all())
    exact = [rows[[*GLUE]].sum(axis=1) / len(GLUE) for rows in (third, second, tenth)]
    yield found(" ".join(str(rounded(one, 1)) for one in exact[0]), printed=" ".join(map(str, third["mean"])))
    same = int((exact[1].map(lambda one: rounded(one, 1)) == second["mean"]).sum())
    yield counted((exact[1] - second["mean"]).abs() <= Decimal("0.1"), exact=same)
    worst = (exact[2] - tenth["mean"]).abs().max()
    yield found(rounded(worst, 2), worst <= _MEAN_TOLERANCE, most=_MEAN_TOLERANCE)


def implied(given: Given, *, model: str, task: str, vocabulary: str) -> Found:
    percent = _numbers(given, "table2_reduction").loc[("embedding", model), task]
    low, high = implied_tokens(percent, int(vocabulary))
    return found(f"{low:,} to {high:,} of {int(vocabulary):,}", percent=percent)


def implied_tokens(percent: Decimal, vocabulary: int) -> tuple[int, int]:
    """Fewest and most used tokens whose reduction is printed as `percent` (one decimal)."""
    low = vocabulary * (1 - (percent + _HALF) / 100)
    high = vocabulary * (1 - (percent - _HALF) / 100)
    return math.ceil(low), math.floor(high)


def below_half(given: Given) -> Found:
    """5.7: reductions above one half."""
    row = _numbers(given, "table2_reduction").loc["embedding", "RoBERTa"]
    return listed(task for task in GLUE if row[task] > 50)


def splits_and_times(given: Given) -> Iterator[Found]:
    """5.8: totals; percentages within the rounding of the two times and their own; quick tasks."""
    counts = given.tables["table7_splits"].set_index("task")[["train", "validation", "test", "total"]].astype(int)
    yield counted(counts.drop(columns="total").sum(axis=1) == counts["total"])
    times = given.tables["table9_runtime"].set_index("task")[["pema_s", "finetune_s", "percent"]].map(Decimal)
    low, high = (100 * (times["pema_s"] + half) / (times["finetune_s"] - half) + half for half in (-_HALF, _HALF))
    fits = (low <= times["percent"]) & (times["percent"] <= high)
    yield counted(fits.to_dict(), none="within the rounding of the two times")
    yield listed(times.index[times["pema_s"] < Decimal("0.5")])
    yield listed(times.index[times["percent"] < 1])


def ids(given: Given) -> Iterator[Found]:
    """5.13: the column # of Table 1 against GPT-2's own file."""
    printed, real = (given.tables[name].set_index("token")["id"] for name in ("table1_unseen_tokens", "gpt2_ids"))
    for token, number in real.items():
        yield found(number, token=token, printed=printed[token])


def extremes(given: Given) -> Iterator[str]:
    """6.6, 6.7: the largest data set, and the one with the smallest reduction for BERT."""
    yield given.tables["table7_splits"].set_index("task")["total"].astype(int).idxmax()
    yield _numbers(given, "table2_reduction").loc["embedding", "BERT"][[*GLUE]].astype(float).idxmin()


def changed_scores(given: Given) -> Found:
    """6.10: cells of Table 10 that differ between PEMA and ordinary fine-tuning."""
    rows = _numbers(given, "table10_glue", "pema", "model")[[*GLUE]]
    gaps = (rows.loc["yes"] - rows.loc["no"]).abs().stack()
    differing = int((gaps > 0).sum())
    return found(differing, 2 * differing < len(gaps), total=len(gaps), most=gaps.max())
