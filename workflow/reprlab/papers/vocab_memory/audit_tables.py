"""Means, implied counts, split sizes, running times and ids; and statements in the text."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from reprlab.papers.vocab_memory.names import GLUE
from reprlab.reporting.audit import Found, found, mean, rounded
from reprlab.reporting.audit_kinds import counted, listed
from reprlab.reporting.audit_records import Given

# Nine cells, each rounded by up to 0.05, and the printed mean by as much again.
_MEAN_TOLERANCE = Decimal("0.07")
_HALF = Decimal("0.05")
_DISTILLED = {"DistilBERT": "BERT", "DistilRoBERTa": "RoBERTa", "DistilmBERT": "mBERT"}


def numbers(given: Given, table: str, *keys: str) -> Any:
    """The tasks and the mean of a printed table, exactly, by its keys."""
    rows = given.tables[table]
    keys = keys or tuple(name for name in ("kind", "model", "pema") if name in rows)
    return rows.set_index([*keys])[[*GLUE, "mean"]].map(Decimal)


def distilled_pairs(given: Given) -> Found:
    """5.3"""
    rows = numbers(given, "table2_reduction").loc["embedding"]
    same = [small for small, large in _DISTILLED.items() if (rows.loc[small] == rows.loc[large]).all()]
    return found(["no", "one", "two", "three"][len(same)], names=", ".join(same))


def small_and_base(given: Given) -> bool:
    """5.4"""
    printed = numbers(given, "table3_deberta_sizes")
    return bool((printed.loc["Small"] == printed.loc["Base"]).all())


def _means(given: Given, table: str) -> list[tuple[str, Decimal, Decimal]]:
    """Name, exact mean of the tasks and printed mean of each row."""
    rows = numbers(given, table)
    return [(str(name), mean(row[[*GLUE]]), row["mean"]) for name, row in rows.iterrows()]


def table3_means(given: Given) -> Found:
    """5.4"""
    rows = _means(given, "table3_deberta_sizes")
    return found(
        " ".join(str(rounded(exact, 1)) for _, exact, _ in rows), printed=" ".join(str(one) for *_, one in rows)
    )


def table2_means(given: Given) -> Found:
    """5.5: up to the rounding of the nine values."""
    rows = _means(given, "table2_reduction")
    exact = sum(rounded(one, 1) == printed for _, one, printed in rows)
    return counted({name: abs(one - printed) <= Decimal("0.1") for name, one, printed in rows}, exact=exact)


def table10_means(given: Given) -> Found:
    """5.5"""
    worst = max(abs(exact - printed) for _, exact, printed in _means(given, "table10_glue"))
    return found(rounded(worst, 2), worst <= _MEAN_TOLERANCE, most=_MEAN_TOLERANCE)


def implied(given: Given, *, model: str, task: str, vocabulary: str) -> Found:
    """5.6"""
    percent = numbers(given, "table2_reduction").loc[("embedding", model), task]
    low, high = implied_tokens(percent, int(vocabulary))
    return found(f"{low:,} to {high:,} of {int(vocabulary):,}", percent=percent)


def implied_tokens(percent: Decimal, vocabulary: int) -> tuple[int, int]:
    """Fewest and most used tokens whose reduction is printed as `percent` (one decimal)."""
    low = vocabulary * (1 - (percent + _HALF) / 100)
    high = vocabulary * (1 - (percent - _HALF) / 100)
    return math.ceil(low), math.floor(high)


def below_half(given: Given) -> Found:
    """5.7: reductions above one half."""
    row = numbers(given, "table2_reduction").loc["embedding", "RoBERTa"]
    return listed(task for task in GLUE if row[task] > 50)


def totals(given: Given) -> Found:
    """5.8"""
    counts = given.tables["table7_splits"].set_index("task")[["train", "validation", "test", "total"]].astype(int)
    return counted(counts[["train", "validation", "test"]].sum(axis=1) == counts["total"])


def running_times(given: Given) -> Found:
    """5.8: the printed percentage within the rounding of the two times and its own."""
    fits = {}
    for row in given.tables["table9_runtime"].itertuples():
        pema, whole, printed = Decimal(row.pema_s), Decimal(row.finetune_s), Decimal(row.percent)
        low, high = ((100 * (pema + sign * _HALF) / (whole - sign * _HALF)) for sign in (-1, 1))
        fits[row.task] = low - _HALF <= printed <= high + _HALF
    return counted(fits, none="within the rounding of the two times")


def quick(given: Given, *, column: str, below: str) -> Found:
    """5.8"""
    rows = given.tables["table9_runtime"]
    return listed(rows["task"][rows[column].map(Decimal) < Decimal(below)])


def ids(given: Given) -> Iterator[Found]:
    """5.13: the column # of Table 1 against GPT-2's own file."""
    printed, real = (given.tables[name].set_index("token")["id"] for name in ("table1_unseen_tokens", "gpt2_ids"))
    for token, number in real.items():
        yield found(number, token=token, printed=printed[token])


def quoted(given: Given, *, table: str, model: str, column: str = "mean") -> Decimal:
    """6.1 to 6.5, 6.8, 6.9: a cell that the text repeats."""
    rows = numbers(given, table)
    return rows.loc[("embedding", model) if rows.index.nlevels > 1 else model, column]


def largest_data_set(given: Given) -> str:
    """6.6"""
    return given.tables["table7_splits"].set_index("task")["total"].astype(int).idxmax()


def changed_scores(given: Given) -> Found:
    """6.10: cells of Table 10 that differ between PEMA and ordinary fine-tuning."""
    rows = numbers(given, "table10_glue", "pema", "model")[[*GLUE]]
    gaps = (rows.loc["yes"] - rows.loc["no"]).abs().stack()
    differing = int((gaps > 0).sum())
    return found(differing, 2 * differing < len(gaps), total=len(gaps), most=gaps.max())
