"""The claims of the paper, each with the rule that decides it, written before its number was seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from reprlab.papers.vocab_memory.measures import reductions, runs, wide
from reprlab.papers.vocab_memory.names import GLUE
from reprlab.results.claims import Claim, NoVerdict
from reprlab.results.frame import Frame, Rows
from reprlab.statistics import (
    ABOVE_ZERO,
    Estimate,
    Rule,
    count_exactly,
    difference_over_pairs,
    every_unit,
    mean_over_crossed,
    mean_over_units,
    rank_correlation,
    slope,
)

_ZERO = Rule(low=-0.05, high=0.05)
_PAIRS = (("DistilBERT", "BERT"), ("DistilRoBERTa", "RoBERTa"), ("DistilmBERT", "mBERT"))


def _trend(frame: Frame) -> Rows:
    return wide(frame.select(table="fig2_vocab_trend"), ["model", "column", "tokens"])


def _first_tokenizer(frame: Frame) -> Rows:
    found = _trend(frame)
    return found[found["model"] == found["model"].iloc[0]] if len(found) else found


def growth(frame: Frame) -> Estimate | str:
    """Spearman's correlation of tokens and unique tokens of the first tokenizer."""
    found = _first_tokenizer(frame)
    return rank_correlation(found["tokens"], found["unique"], "data set") if len(found) else ""


def heaps(frame: Frame) -> Estimate | str:
    """Exponent of Heaps' law: slope of log unique over log tokens."""
    import numpy as np

    found = _first_tokenizer(frame)
    if found.empty:
        return ""
    return slope(np.log(found["tokens"].astype(float)), np.log(found["unique"]), "data set")


def _saved(frame: Frame, table: str) -> Rows:
    """What is saved with the compared union of splits."""
    found = reductions(frame.narrowed({"table": table}))
    return found[found["splits"] == frame.options["compared"]]


def tasks_below_half(frame: Frame) -> Estimate | str:
    """Tasks of GLUE that use less than half of RoBERTa's vocabulary."""
    found = _saved(frame, "table2_reduction")
    saved = found.loc[found["model"] == "RoBERTa", "embedding"]
    return count_exactly(int((saved > 50).sum()), "task", len(GLUE)) if len(saved) else ""


def larger_vocabulary(frame: Frame) -> Estimate | str:
    """Unused share with the larger vocabulary less that with the smaller; with one tokenizer XLM-V less BERT."""
    found = _trend(frame)
    sizes: Any = found.groupby("model")["vocabulary"].first() if len(found) else ()
    if len(sizes) > 1:
        unused = (100 * (1 - found["unique"] / found["vocabulary"])).groupby([found["column"], found["model"]]).first()
        table, large, small = unused.unstack(), sizes.idxmax(), sizes.idxmin()
    else:
        found, large, small = _saved(frame, "table2_reduction"), "XLM-V", "BERT"
        table = found.pivot_table(index="column", columns="model", values="embedding")
    if not {large, small} <= set(table):
        return f"one vocabulary at scale {frame.scale}"
    estimate = difference_over_pairs(table[large], table[small], "data set")
    return replace(estimate, note="; ".join(filter(None, [estimate.note, f"{large} less {small}"])))


def distilled(kind: str, follows: str) -> Callable[[Frame], Estimate | str]:
    """Reduction of distilled models less that of their originals, over pairs of models and data sets.

    Pairs that one tokenizer counts have equal counts whatever the data: where there are no others nothing is decided.
    """

    def find(frame: Frame) -> Estimate | str:
        import pandas

        found = _saved(frame, "table2_reduction")
        table = found.pivot_table(index="column", columns="model", values=kind, sort=False)
        counter = found.groupby("model")["tokenizer"].first()
        pairs = [pair for pair in _PAIRS if set(pair) <= set(table)]
        if not pairs:
            return "no such pair in the table"
        apart = [(one, other) for one, other in pairs if counter[one] != counter[other]]
        gaps = pandas.concat({one: table[one] - table[other] for one, other in apart or pairs}).dropna()
        units = {"pair of models": gaps.index.get_level_values(0), "data set": gaps.index.get_level_values(1)}
        estimate = mean_over_crossed(gaps, units)
        if not apart:
            name = counter[pairs[0][0]]
            raise NoVerdict(estimate, f"one tokenizer ({name}) counts for both models: {follows}, whatever the data")
        return estimate

    return find


def width(frame: Frame) -> Estimate | str:
    """Millions saved by the last model of the family less those by the first."""
    found = _saved(frame, "table3_deberta_sizes")
    if found["entry"].nunique() < 2:
        return ""
    sides = [found[found["entry"] == entry].set_index("column") for entry in found["entry"].unique()]
    first, last = (side["millions"] for side in (sides[0], sides[-1]))
    estimate = difference_over_pairs(last, first.reindex(last.index), "data set")
    tokenizers = found["tokenizer"].unique()
    if len(tokenizers) == 1:
        reason = f"one tokenizer ({tokenizers[0]}) counts for both models: the same tokens times each width"
        raise NoVerdict(estimate, reason)
    return estimate


def languages(frame: Frame) -> Estimate | str:
    """Model reduction with all languages."""
    found = _saved(frame, "table4_xnli")
    found = found[found["column"] == "all"]
    return mean_over_units(found["total"], "model") if len(found) else frame.reason(table="table4_xnli", column="all")


def _gaps(frame: Frame) -> Rows:
    """Score with PEMA less that without, by model, task, MNLI's part and seed."""
    rows = frame.select(table="table10_glue", pema=("no", "yes"))
    found = rows.pivot_table(index=["entry", "column", "seed"], columns="pema", values="value")
    return (found["yes"] - found["no"]).dropna() if {"yes", "no"} <= set(found) else rows["value"].iloc[:0]


def scores(frame: Frame) -> Estimate | str:
    """Without weight decay the arms are equal bit by bit, each run for itself; with it they are a sample of tasks."""
    found = _gaps(frame)
    if found.empty:
        return frame.reason(table="table10_glue")
    if frame.options["weight_decay"]:
        return mean_over_units(found, "task", groups=found.index.get_level_values("column"))
    return every_unit(found, "run")


def _largest_gap(frame: Frame) -> str:
    found = _gaps(frame)
    if found.empty:
        return ""
    computed = "" if frame.options["weight_decay"] else "computed, no sample; "
    return f"{computed}largest difference {found.abs().max():g}; seeds of a task are paired"


def _timed(frame: Frame, of: Callable[[Rows, Rows], Estimate]) -> Estimate | str:
    """An estimate over the timed runs, with PEMA and without, a row for each task and seed."""
    found = runs(frame)
    if found.empty:
        return frame.reason(table="table9_runtime")
    by_run = found.set_index(["column", "entry", "seed"])
    with_pema, without = (by_run[by_run["pema"] == pema] for pema in ("yes", "no"))
    return of(with_pema, without.reindex(with_pema.index))


def _tasks(rows: Rows) -> Any:
    return rows.index.get_level_values("column")


def time_share(frame: Frame) -> Estimate | str:
    """Seconds of PEMA in percent of those of training."""
    return _timed(frame, lambda pema, _: mean_over_units(pema["percent"], "data set", groups=_tasks(pema)))


def _expected(pema: Rows) -> Rows:
    """Numbers that Adam's state lacks: two for each parameter of a row left out."""
    return 2 * (pema["vocabulary"] - pema["used"]) * pema["width"]


def moments(frame: Frame) -> Estimate | str:
    """Numbers that the optimizer's state has less, measured less computed."""

    def of(pema: Rows, whole: Rows) -> Estimate:
        gaps = whole["moments"] - pema["moments"] - _expected(pema)
        return every_unit(gaps.groupby(_tasks(pema), sort=False).mean(), "data set")

    return _timed(frame, of)


def memory(frame: Frame) -> Estimate | str:
    """Peak memory without PEMA less that with it, in MB."""

    def of(pema: Rows, whole: Rows) -> Estimate:
        both = (whole["peak_bytes"] / 1e6, pema["peak_bytes"] / 1e6)
        return difference_over_pairs(*both, "data set", groups=_tasks(pema))

    return _timed(frame, of)


def _left_out(frame: Frame) -> str:
    found = runs(frame)
    if found.empty:
        return ""
    pema = found[found["pema"] == "yes"].drop_duplicates("column")
    megabytes = float((2 * _expected(pema) * 4).mean()) / 1e6
    return f"weights, gradients and both moments of the rows left out would be {megabytes:.0f} MB"


_LARGE: dict[str, Any] = {"only_at": ("paper",)}
_POINTS = "points, distilled less original"
CLAIMS = (
    Claim(
        "1",
        "Larger data sets use more of the vocabulary",
        "Spearman correlation of tokens and unique tokens",
        ABOVE_ZERO,
        growth,
        note=lambda frame: f"tokenizer of {', '.join(_first_tokenizer(frame)['model'].unique())}",
    ),
    Claim(
        "2",
        "Growth resembles Heaps' law: less than proportional",
        "slope of log unique over log tokens",
        Rule(low=0, high=1),
        heaps,
        note=lambda frame: f"tokenizer of {', '.join(_first_tokenizer(frame)['model'].unique())}",
    ),
    Claim(
        "3",
        "Six of nine tasks use less than half of the vocabulary",
        "tasks of GLUE that use less than half of RoBERTa's vocabulary",
        Rule(low=5.5, high=6.5),
        tasks_below_half,
        because="needs GLUE itself: percentages of stand-in data are those of other texts",
        note=lambda _: "the counted tokens are no sample",
        **_LARGE,
    ),
    Claim(
        "4",
        "A larger vocabulary saves a larger share of the embedding",
        "points of the vocabulary that are unused, larger less smaller vocabulary",
        ABOVE_ZERO,
        larger_vocabulary,
    ),
    Claim(
        "5",
        "Distilled models reduce their embedding as their originals",
        f"embedding reduction in {_POINTS}",
        _ZERO,
        distilled("embedding", "the difference is 0"),
    ),
    Claim(
        "6",
        "Distilled models reduce more of the model",
        f"model reduction in {_POINTS}",
        ABOVE_ZERO,
        distilled("total", "the sign follows from the sizes of the models"),
    ),
    Claim(
        "7",
        "Savings grow with the width of the model",
        "millions saved, last less first model of Table 3",
        ABOVE_ZERO,
        width,
    ),
    Claim(
        "8",
        "Multilingual models still save 23 % or more with all fifteen languages",
        "model reduction with all languages, percent",
        Rule(low=22.95),
        languages,
        because="needs XNLI and multilingual vocabularies",
        **_LARGE,
    ),
    Claim(
        "9",
        "PEMA does not change the scores",
        "points, with less without PEMA, each run",
        _ZERO,
        scores,
        note=_largest_gap,
    ),
    Claim(
        "10",
        "PEMA takes a small share of the time of fine-tuning",
        "percent of fine-tuning",
        Rule(low=-1, high=5),
        time_share,
        note=lambda _: "the paper has at most 1.4 %",
    ),
    Claim(
        "11",
        "The optimizer's state shrinks by two numbers for each parameter left out",
        "measured less computed, numbers in the state",
        _ZERO,
        moments,
        note=lambda _: "computed, no sample",
    ),
    Claim(
        "12",
        "Peak memory is lower with PEMA",
        "MB without less with PEMA, measured",
        ABOVE_ZERO,
        memory,
        note=_left_out,
    ),
)
