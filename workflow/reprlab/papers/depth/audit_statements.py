"""What the text of DEPTH says about its own tables."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from reprlab.papers.depth.names import DISCOURSE_COHERENCE
from reprlab.reporting.audit import Found, found, rounded
from reprlab.reporting.audit_kinds import counts_behind
from reprlab.reporting.audit_records import Given

KINDS = ("correct", "transition", "pronoun", "reasonable", "punctuation")
_SAMPLE = 30
_ROUNDING = Decimal("0.025")


def behind(
    given: Given, *, table: str, init: str, columns: Sequence[str], at: str = "", of_all: int | None = None
) -> Found:
    """8.1 to 8.6: checkpoints and columns where DEPTH is printed below T5; `of_all` is the share that the text says."""
    rows = given.tables[table].query("init == @init").set_index(["model", "step"])
    steps = [step for model, step in rows.index if model == "t5" and at in ("", step)]
    cells = [
        (f"{int(step) // 1000}k", column)
        for step in steps
        for column in columns
        if Decimal(rows.loc[("depth", step), column]) < Decimal(rows.loc[("t5", step), column])
    ]
    total = len(columns) * len(steps)
    return found(
        ", ".join(f"{column} at {step}" for step, column in cells) or "none",
        None if of_all is None else len(cells) == of_all * total,
        steps=", ".join(step for step, _ in cells),
        count=len(cells),
        total=total,
    )


def quoted_rows(given: Given) -> int:
    """8.7"""
    return len(given.tables["glue"].query("init == 'public' and source == 'Table 5'"))


def reasonable_mistakes(given: Given) -> Found:
    """8.8: the reasonable share of the mistakes, not of all predictions."""
    rows = given.tables["error_types_sp"].query("init == 'fs' and task == 'sp_arxiv'").set_index("model")
    share = {
        model: rounded(Decimal(row["reasonable"]) / (1 - Decimal(row["correct"])), 2) for model, row in rows.iterrows()
    }
    return found(f"{share['depth']:.0%} and {share['t5']:.0%}")


def different_rows(given: Given) -> Found:
    """8.9"""
    rows = given.tables["error_types_sp"]
    return found(len(rows.drop_duplicates(["model", *KINDS])), total=len(rows))


def row_sums(given: Given) -> Found:
    """8.10"""
    sums = given.tables["error_types_sp"][list(KINDS)].map(Decimal).sum(axis=1)
    off = [total for total in sums if abs(total - 1) > _ROUNDING]
    return found(", ".join(sorted({str(total) for total in off})) or "1", not off, count=len(off), total=len(sums))


def thirtieths(given: Given, *, table: str, kinds: Sequence[str]) -> Found:
    """8.11, 8.12: shares of 30 annotated examples."""
    shares = [share for kind in kinds for share in given.tables[table][kind]]
    possible = counts_behind(shares, _SAMPLE)
    others = sorted({share for share, fits in zip(shares, possible, strict=True) if not fits})
    value = f"not thirtieths: {', '.join(others)}" if others else "all are thirtieths"
    return found(value, not others, sample=_SAMPLE, count=len(shares))


def poorly_formatted(given: Given) -> Found:
    """8.13: a poorly formatted prediction is wrong."""
    beyond = [
        f"{row.task} {row.init} {row.model}: {row.poorly_formatted} of at most {1 - Decimal(row.correct)}"
        for row in given.tables["error_types_dc"].itertuples()
        if Decimal(row.poorly_formatted) > 1 - Decimal(row.correct) + Decimal("0.01")
    ]
    return found("; ".join(beyond) or "at most 1 - correct", not beyond)


def correct_outputs(given: Given) -> Found:
    """8.14: correct shares from scratch less those of continued pre-training, over both models."""
    rows = given.tables["error_types_dc"]
    signed = rows["correct"].map(Decimal) * rows["init"].map({"fs": 1, "cpt": -1})
    more = {task: signed[rows["task"] == task].sum() for task in DISCOURSE_COHERENCE}
    texts = (f"{task}: {value:+} over both models" for task, value in more.items())
    return found(", ".join(texts), all(value > 0 for value in more.values()))


def padded_evaluation(given: Given, *, task: str, table: str, examples: str, padded: str) -> Found:
    """8.15: accuracies as counts of the examples, and of as many as whole batches have."""
    values = given.tables[table].query("init != 'public'")[task]
    true, filled = (sum(counts_behind(values, int(size), whole=100)) for size in (examples, padded))
    return found(true, true == len(values), total=len(values), filled=filled)
