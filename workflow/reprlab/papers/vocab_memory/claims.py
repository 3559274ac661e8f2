"""The claims of the paper: what is measured, and the rule that decides, written before its number was seen."""

from __future__ import annotations

from functools import partial
from typing import Any

from reprlab.papers.vocab_memory.measures import reductions, runs, wide
from reprlab.papers.vocab_memory.names import FACTORISED, GLUE, TRIMMED
from reprlab.results.claims import Claim, Find, NoVerdict
from reprlab.results.frame import Frame, Rows
from reprlab.results.twins import Twin
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

RIVALS = {"13": (TRIMMED, "An embedding that is trimmed for good"), "14": (FACTORISED, "A factorised embedding")}
"""Neighbours of PEMA by the claim on each, and its words for them."""
_ZERO = Rule(low=-0.05, high=0.05)
_PAIRS = (("DistilBERT", "BERT"), ("DistilRoBERTa", "RoBERTa"), ("DistilmBERT", "mBERT"))
_TREND, _REDUCTION, _FAMILY, _XNLI, _TIMES, _GLUE = (
    {"table": name}
    for name in (
        "fig2_vocab_trend", "table2_reduction", "table3_deberta_sizes", "table4_xnli", "table9_runtime", "table10_glue"
    )
)  # fmt: skip


def _trend(frame: Frame) -> Rows:
    return wide(frame.narrowed(_TREND).select(), ["model", "column", "tokens"])


def _first_tokenizer(frame: Frame) -> Rows:
    found = _trend(frame)
    return found[found["model"] == found["model"].iloc[0]]


def _of_tokenizer(frame: Frame) -> str:
    return f"tokenizer of {_first_tokenizer(frame)['model'].iloc[0]}"


def growth(frame: Frame) -> Estimate:
    """Spearman's correlation of tokens and unique tokens of the first tokenizer."""
    found = _first_tokenizer(frame)
    return rank_correlation(found["tokens"], found["unique"], "data set")


def heaps(frame: Frame) -> Estimate:
    """Exponent of Heaps' law: slope of log unique over log tokens."""
    import numpy as np

    found = _first_tokenizer(frame)
    return slope(np.log(found["tokens"].astype(float)), np.log(found["unique"]), "data set")


def _saved(frame: Frame) -> Rows:
    """The savings with the compared union of splits."""
    found = reductions(frame)
    return found[found["splits"] == frame.options["compared"]]


def tasks_below_half(frame: Frame) -> Estimate | str:
    """Tasks of GLUE that use less than half of RoBERTa's vocabulary."""
    found = _saved(frame)
    saved = found.loc[found["model"] == "RoBERTa", "embedding"]
    return count_exactly(int((saved > 50).sum()), "task", len(GLUE)) if len(saved) else ""


def larger_vocabulary(frame: Frame) -> Estimate | str:
    """Unused share with the larger vocabulary less that with the smaller; with one tokenizer XLM-V less BERT."""
    found = _trend(frame)
    sizes: Any = found.groupby("model")["vocabulary"].first() if len(found) else ()
    if len(sizes) > 1:
        found["unused"] = 100 * (1 - found["unique"] / found["vocabulary"])
        table, large, small = _by_model(found, "unused"), sizes.idxmax(), sizes.idxmin()
    else:
        table, large, small = _by_model(_saved(frame.narrowed(_REDUCTION)), "embedding"), "XLM-V", "BERT"
    if not {large, small} <= set(table):
        return f"one vocabulary at scale {frame.scale}"
    return difference_over_pairs(table[large], table[small], "data set").told(f"{large} less {small}")


def _by_model(found: Rows, kind: str) -> Rows:
    return found.pivot_table(index="column", columns="model", values=kind, sort=False)


def distilled(kind: str, follows: str, frame: Frame) -> Estimate | str:
    """Reduction of distilled models less that of their originals, over pairs of models and data sets.

    Pairs that one tokenizer counts have equal counts whatever the data: where there are no others nothing is decided.
    """
    import pandas

    found = _saved(frame)
    table, counter = _by_model(found, kind), found.groupby("model")["tokenizer"].first()
    pairs = [pair for pair in _PAIRS if set(pair) <= set(table)]
    if not pairs:
        return "no such pair in the table"
    apart = [(one, other) for one, other in pairs if counter[one] != counter[other]]
    gaps = pandas.concat({one: table[one] - table[other] for one, other in apart or pairs}).dropna()
    units = {"pair of models": gaps.index.get_level_values(0), "data set": gaps.index.get_level_values(1)}
    counted = [counter[model] for model in (apart or pairs)[0]]
    return _unless_one_counts(mean_over_crossed(gaps, units), counted, f"{follows}, whatever the data")


def _unless_one_counts(estimate: Estimate, tokenizers: Any, follows: str) -> Estimate:
    if len(set(tokenizers)) > 1:
        return estimate
    raise NoVerdict(estimate, f"one tokenizer ({tokenizers[0]}) counts for both models: {follows}")


def width(frame: Frame) -> Estimate | str:
    """Millions saved by the last model of the family less those by the first."""
    found = _saved(frame)
    entries = found["entry"].unique()
    if len(entries) < 2:
        return ""
    first, last = (found[found["entry"] == entries[place]].set_index("column")["millions"] for place in (0, -1))
    estimate = difference_over_pairs(last, first.reindex(last.index), "data set")
    return _unless_one_counts(estimate, found["tokenizer"].unique(), "the same tokens times each width")


def languages(frame: Frame) -> Estimate | str:
    """Model reduction with all languages."""
    found = _saved(frame)
    found = found[found["column"] == "all"]
    return mean_over_units(found["total"], "model") if len(found) else frame.reason(column="all")


def _gaps(frame: Frame) -> Rows:
    """Score with PEMA less that without, by model, task, MNLI's part and seed."""
    rows = frame.select(pema=("no", "yes"))
    found = rows.pivot_table(index=["entry", "column", "seed"], columns="pema", values="value")
    return (found["yes"] - found["no"]).dropna() if {"yes", "no"} <= set(found) else rows["value"].iloc[:0]


def scores(frame: Frame) -> Estimate:
    """Without weight decay the arms are equal bit by bit, each run for itself; with it they are a sample of tasks."""
    found = _gaps(frame)
    if frame.options["weight_decay"] and len(found):
        return mean_over_units(found, "task", groups=found.index.get_level_values("column"))
    return every_unit(found, "run")


def beside_pema(rival: str) -> Find:
    """Points by which a rival scores higher than PEMA, on the same task and with the same seed, mean over models."""

    def find(frame: Frame) -> Estimate | str:
        rows = frame.select(pema=("yes", rival))
        wide = rows.pivot_table(index=["entry", "column", "seed"], columns="pema", values="value")
        if set(wide.columns) != {"yes", rival}:
            return frame.reason(pema=rival) or f"not run at scale {frame.scale}"
        gaps = (wide[rival] - wide["yes"]).dropna().reset_index(name="gap")
        return mean_over_crossed(gaps["gap"], {"data set": gaps["column"], "seed": gaps["seed"]})

    return find


def _largest_gap(frame: Frame) -> str:
    computed = "" if frame.options["weight_decay"] else "computed, no sample; "
    return f"{computed}largest difference {_gaps(frame).abs().max():g}; seeds of a task are paired"


def _timed(frame: Frame) -> tuple[Rows, Rows]:
    """The timed runs with PEMA, and beside them those without, a row for each task and seed."""
    by_run = runs(frame).set_index(["column", "entry", "seed"], drop=False)
    pema, whole = (by_run[by_run["pema"] == flag] for flag in ("yes", "no"))
    return pema, whole.reindex(pema.index)


def time_share(frame: Frame) -> Estimate:
    """Seconds of PEMA in percent of those of training."""
    pema, _ = _timed(frame)
    return mean_over_units(pema["percent"], "data set", groups=pema["column"])


def _expected(pema: Rows) -> Rows:
    """Numbers that Adam's state lacks: two for each parameter of a row left out."""
    return 2 * (pema["vocabulary"] - pema["used"]) * pema["width"]


def moments(frame: Frame) -> Estimate:
    """Numbers that the optimizer's state has less, measured less computed."""
    pema, whole = _timed(frame)
    gaps = whole["moments"] - pema["moments"] - _expected(pema)
    return every_unit(gaps.groupby(level="column", sort=False).mean(), "data set")


def memory(frame: Frame) -> Estimate:
    """Peak memory without PEMA less that with it, in MB."""
    pema, whole = _timed(frame)
    return difference_over_pairs(whole["peak_bytes"] / 1e6, pema["peak_bytes"] / 1e6, "data set", groups=pema["column"])


def _left_out(frame: Frame) -> str:
    pema = _timed(frame)[0].drop_duplicates("column")
    megabytes = float((2 * _expected(pema) * 4).mean()) / 1e6
    return f"weights, gradients and both moments of the rows left out would be {megabytes:.0f} MB"


def _says(text: str) -> dict[str, Any]:
    return {"note": lambda _: text}


_TASKS: dict[str, Any] = {
    "only_at": ("paper",),
    "because": "needs GLUE itself: percentages of stand-in data are those of other texts",
    **_says("the counted tokens are not a sample"),
}
_LANGUAGES: dict[str, Any] = {"only_at": ("paper",), "because": "needs XNLI and multilingual vocabularies"}
_EQUAL = partial(distilled, "embedding", "the difference is 0")
_MORE = partial(distilled, "total", "the sign follows from the sizes of the models")
_BOTH = {"table": (*_TREND.values(), *_REDUCTION.values())}
CLAIMS = (
    Claim("1", "Larger data sets use more of the vocabulary", "Spearman correlation of tokens and unique tokens",
          ABOVE_ZERO, growth, _TREND, note=_of_tokenizer),
    Claim("2", "Growth resembles Heaps' law: less than proportional", "slope of log unique over log tokens", Rule(0, 1),
          heaps, _TREND, note=_of_tokenizer),
    Claim("3", "Six of nine tasks use less than half of the vocabulary",
          "tasks of GLUE that use less than half of RoBERTa's vocabulary", Rule(5.5, 6.5), tasks_below_half, _REDUCTION,
          **_TASKS),
    Claim("4", "A larger vocabulary saves a larger share of the embedding",
          "points of the vocabulary that are unused, larger less smaller vocabulary", ABOVE_ZERO, larger_vocabulary,
          _BOTH),
    Claim("5", "Distilled models reduce their embedding as their originals",
          "embedding reduction in points, distilled less original", _ZERO, _EQUAL, _REDUCTION),
    Claim("6", "Distilled models reduce more of the model", "model reduction in points, distilled less original",
          ABOVE_ZERO, _MORE, _REDUCTION),
    Claim("7", "Savings grow with the width of the model", "millions saved, last less first model of Table 3",
          ABOVE_ZERO, width, _FAMILY),
    Claim("8", "Multilingual models still save 23 % or more with all fifteen languages",
          "model reduction with all languages, percent", Rule(low=22.95), languages, _XNLI, **_LANGUAGES),
    Claim("9", "PEMA does not change the scores", "points, with less without PEMA, each run", _ZERO, scores, _GLUE,
          note=_largest_gap),
    Claim("10", "PEMA takes a small share of the time of fine-tuning", "percent of fine-tuning", Rule(-1, 5),
          time_share, _TIMES, **_says("the paper has at most 1.4 %")),
    Claim("11", "The optimizer's state shrinks by two numbers for each parameter left out",
          "measured less computed, numbers in the state", _ZERO, moments, _TIMES, **_says("computed, no sample")),
    Claim("12", "Peak memory is lower with PEMA", "MB without less with PEMA, measured", ABOVE_ZERO, memory, _TIMES,
          note=_left_out),
    *(
        Claim(name, f"{words} scores higher than PEMA (ours)", "points, each task and seed", ABOVE_ZERO,
              beside_pema(rival), _GLUE | {"pema": ("yes", rival)})
        for name, (rival, words) in RIVALS.items()
    ),
)  # fmt: skip
TWINS = (
    Twin(("1", "2", "3", "4", "5", "6", "7", "8"), why_not="tokens are counted: nothing is learnt"),
    Twin(("9",), why_not="two trainings that are to be equal; models without an update are"),
    Twin(("10", "11", "12"), why_not="time and memory, whatever is learnt"),
    Twin(tuple(RIVALS), why_not="two trainings with equal updates: a model without any would stand on both sides"),
)  # fmt: skip
