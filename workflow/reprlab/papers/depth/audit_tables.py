"""Consequences of DEPTH's printed tables, and what its text says about them."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from reprlab.objectives.losses import chance_sentence_loss
from reprlab.papers.depth.names import BENCHMARKS, DISCOURSE_COHERENCE, SENTENCE_POSITION
from reprlab.reporting.audit import Found, found, mean, rounded
from reprlab.reporting.audit_checks import parameters
from reprlab.reporting.audit_given import Given
from reprlab.reporting.audit_kinds import counts_behind, number, significant

KINDS = ("correct", "transition", "pronoun", "reasonable", "punctuation")
_SAMPLE = 30
_ROUNDING = Decimal("0.025")
_RATES, _BASELINE = 3, 3
_LAST = {
    "T5-Base": ("public", "t5-base"),
    "T5-FS": ("fs", "t5"),
    "T5-CPT": ("cpt", "t5"),
    "DEPTH-FS": ("fs", "depth"),
    "DEPTH-CPT": ("cpt", "depth"),
}


def table1_means(given: Given) -> Iterator[Found]:
    """5.1: Table 1 from the last checkpoints of Tables 7 and 8."""
    table1, discoeval = given.tables["table1"].set_index("model"), given.tables["discoeval"]
    for name, (init, model) in _LAST.items():
        rows = discoeval[(discoeval["init"] == init) & (discoeval["model"] == model)]
        last = rows.loc[rows["step"].astype(int).idxmax()]
        for column, tasks in (("sp", SENTENCE_POSITION), ("dc", DISCOURSE_COHERENCE)):
            texts = {"model": name, "column": column.upper(), "printed": table1.loc[name, column]}
            yield found(mean(last[task] for task in tasks), **texts)


def _per_example(row: Any) -> Decimal:
    return Decimal(row["tokens"]) / Decimal(row["steps"]) / Decimal(row["batch"])


def tokens_per_example(given: Given) -> Iterator[Found]:
    """5.2: tokens / (steps x batch), where tokens are printed."""
    above = "; above the context length, so the printed tokens do not come from this product"
    for _, row in given.tables["table2_scale"].query("tokens != ''").iterrows():
        value = _per_example(row)
        fits = value <= Decimal(given.cells["facts"]["context_length"]["value"])
        yield found(rounded(value, 1), fits, model=row["model"], above="" if fits else above)


def ratio(given: Given, *, model: str, of: str = "tokens") -> Decimal:
    """5.2: tokens of T5-Base, or its tokens per example, over those of a model."""
    scale = given.tables["table2_scale"].set_index("model")
    base, own = scale.loc["T5-Base"], scale.loc[model]
    if of == "tokens":
        return Decimal(base["tokens"]) / Decimal(own["tokens"])
    return _per_example(base) / _per_example(own)


def grid(given: Given) -> Iterator[Any]:
    """5.11: fine-tuning runs, counted from the rows of the benchmarks' tables; and their columns of values."""
    frames = [given.tables[name].query("init != 'public'") for name in BENCHMARKS]
    counts = [_RATES * len(frame.drop_duplicates(["init", "model", "step"])) for frame in frames]
    about = significant(number(given.said["runs_per_benchmark"]), 1)
    agrees = all(significant(Decimal(count + _BASELINE), 1) == about for count in counts)
    yield found(", ".join(sorted({str(count) for count in counts})), agrees, with_baseline=max(counts) + _BASELINE)
    values = [frame.drop(columns=["init", "model", "step", "split", "source"]) for frame in frames]
    yield sum(int((frame != "").any().sum()) for frame in values)


def size(given: Given) -> Decimal:
    """5.3: millions of parameters of the model that the released code trains."""
    return Decimal(parameters(given, model="t5_v1_1_base", tied="no")) / 10**6


def chance(given: Given) -> Found:
    """5.9: the mean sentence loss by chance, within the printed range."""
    low, high = (float(given.said[f"fs depth sentence_loss_{end}"]) for end in ("min", "max"))
    return found(value := chance_sentence_loss(10), low <= value <= high)


def behind(given: Given, *, table: str, init: str, columns: str = "", at: str = "", of_all: str = "") -> Found:
    """8.1 to 8.6: checkpoints and columns where DEPTH is printed below T5; `of_all` is the share that the text says."""
    names = columns.split() or BENCHMARKS[table]
    rows = given.tables[table].query("init == @init").set_index(["model", "step"])
    steps = [step for model, step in rows.index if model == "t5" and at in ("", step)]
    cells = [
        (f"{int(step) // 1000}k", column)
        for step in steps
        for column in names
        if Decimal(rows.loc[("depth", step), column]) < Decimal(rows.loc[("t5", step), column])
    ]
    total = len(names) * len(steps)
    listed = ", ".join(f"{column} at {step}" for step, column in cells) or "none"
    texts = {"steps": ", ".join(step for step, _ in cells), "count": len(cells), "total": total}
    return found(listed, len(cells) == int(of_all) * total if of_all else None, **texts)


def quoted_rows(given: Given) -> int:
    """8.7: rows of Table 5 that are of other papers."""
    return len(given.tables["glue"].query("init == 'public' and source == 'Table 5'"))


def error_types(given: Given) -> Iterator[Found]:
    """8.8 to 8.10: the reasonable share of the mistakes, not of all predictions; different rows; sums of the rows."""
    rows = given.tables["error_types_sp"]
    arxiv = rows.query("init == 'fs' and task == 'sp_arxiv'").set_index("model")[list(KINDS)].map(Decimal)
    share = (arxiv["reasonable"] / (1 - arxiv["correct"])).map(lambda value: rounded(value, 2))
    yield found(f"{share['depth']:.0%} and {share['t5']:.0%}")
    yield found(len(rows.drop_duplicates(["model", *KINDS])), total=len(rows))
    sums = rows[list(KINDS)].map(Decimal).sum(axis=1)
    off = [total for total in sums if abs(total - 1) > _ROUNDING]
    yield found(", ".join(sorted({str(total) for total in off})) or "one", not off, count=len(off), total=len(sums))


def thirtieths(given: Given, *, table: str) -> Found:
    """8.11, 8.12: shares of 30 annotated examples."""
    kinds = given.tables[table].drop(columns=["init", "model", "task", "source"])
    shares = [share for kind in kinds for share in kinds[kind]]
    possible = counts_behind(shares, _SAMPLE)
    others = sorted({share for share, fits in zip(shares, possible, strict=True) if not fits})
    value = f"not thirtieths: {', '.join(others)}" if others else "all are thirtieths"
    return found(value, not others, sample=_SAMPLE, count=len(shares))


def correct_and_formatted(given: Given) -> Iterator[Found]:
    """8.13, 8.14: poorly formatted predictions are wrong; correct shares from scratch less those after CPT."""
    rows = given.tables["error_types_dc"]
    beyond = [
        f"{row.task} {row.init} {row.model}: {row.poorly_formatted} of at most {1 - Decimal(row.correct)}"
        for row in rows.itertuples()
        if Decimal(row.poorly_formatted) > 1 - Decimal(row.correct) + Decimal("0.01")
    ]
    yield found("; ".join(beyond) or "at most the errors", not beyond)
    signed = rows["correct"].map(Decimal) * rows["init"].map({"fs": 1, "cpt": -1})
    more = {task: signed[rows["task"] == task].sum() for task in DISCOURSE_COHERENCE}
    texts = (f"{task}: {value:+} over both models" for task, value in more.items())
    yield found(", ".join(texts), all(value > 0 for value in more.values()))


def padded_evaluation(given: Given, *, task: str, table: str, padded: str) -> Found:
    """8.15: accuracies as counts of the examples, and of as many as whole batches have."""
    values = given.tables[table].query("init != 'public'")[task]
    examples = given.tables["label_counts"].query("task == @task")["count"].astype(int).sum()
    true, filled = (sum(counts_behind(values, int(size), whole=100)) for size in (examples, padded))
    return found(true, true == len(values), total=len(values), filled=filled, examples=examples)
