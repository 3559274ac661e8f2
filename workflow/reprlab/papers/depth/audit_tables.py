"""What follows from the printed tables of DEPTH: averages, tokens per example, ratios, grid, class counts."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from reprlab.papers.depth.names import BENCHMARKS, DISCOURSE_COHERENCE, SENTENCE_POSITION
from reprlab.reporting.audit import Found, decimals, found, mean, rounded
from reprlab.reporting.audit_kinds import cut, majority, number, significant
from reprlab.reporting.audit_records import Given

_CONTEXT = 512
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
            exact, printed = mean(last[task] for task in tasks), table1.loc[name, column]
            again = rounded(exact, decimals(printed))
            is_cut = again != Decimal(printed) == cut(exact, decimals(printed))
            yield found(
                again,
                model=name,
                column=column.upper(),
                printed=printed,
                exact=f"{rounded(exact, 4).normalize():f}",
                cut="; the printed value is cut off, not rounded" if is_cut else "",
            )


def _per_example(row: Any) -> Decimal:
    return Decimal(row["tokens"]) / Decimal(row["steps"]) / Decimal(row["batch"])


def tokens_per_example(given: Given) -> Iterator[Found]:
    """5.2: tokens / (steps x batch), where tokens are printed."""
    above = "; above the context length, so the printed tokens do not come from this product"
    for _, row in given.tables["table2_scale"].query("tokens != ''").iterrows():
        value = _per_example(row)
        fits = value <= _CONTEXT
        yield found(rounded(value, 1), fits, model=row["model"], context=_CONTEXT, above="" if fits else above)


def _base_and(given: Given, model: str) -> tuple[Any, Any]:
    scale = given.tables["table2_scale"].set_index("model")
    return scale.loc["T5-Base"], scale.loc[model]


def token_ratio(given: Given, *, model: str) -> Decimal:
    """5.2: tokens of T5-Base over those of a model."""
    base, own = _base_and(given, model)
    return Decimal(base["tokens"]) / Decimal(own["tokens"])


def example_ratio(given: Given, *, model: str) -> Decimal:
    """5.2: the same for tokens per example."""
    base, own = _base_and(given, model)
    return _per_example(base) / _per_example(own)


def runs(given: Given) -> Found:
    """5.11: fine-tuning runs, counted from the rows of the benchmarks' tables."""
    frames = [given.tables[name].query("init != 'public'") for name in BENCHMARKS]
    counts = [_RATES * len(frame.drop_duplicates(["init", "model", "step"])) for frame in frames]
    about = significant(number(given.said["runs_per_benchmark"]), 1)
    agrees = all(significant(Decimal(count + _BASELINE), 1) == about for count in counts)
    return found(", ".join(sorted({str(count) for count in counts})), agrees, with_baseline=max(counts) + _BASELINE)


def benchmarks(given: Given) -> int:
    """5.11: columns of values."""
    keys = {"init", "model", "step", "split", "source"}
    return sum(len(set(given.tables[name]) - keys) for name in BENCHMARKS)


def constant_predictor(given: Given, *, task: str) -> Found:
    """5.12: the largest class, and where T5 from scratch is within a point of it."""
    counts = given.tables["label_counts"].query("task == @task")["count"].astype(int)
    best = (100 * majority(counts)).normalize()
    scratch = given.tables["discoeval"].query("init == 'fs' and model == 't5'")
    close = [step for step, value in zip(scratch["step"], scratch[task], strict=True) if abs(Decimal(value) - best) < 1]
    near = f"; T5-FS is within one point of it at steps {', '.join(close)}" if close else ""
    return found(best, largest=counts.max(), total=counts.sum(), near=near)
