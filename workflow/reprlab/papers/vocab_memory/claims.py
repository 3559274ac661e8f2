"""The claims of the paper, each with the rule that decides it, written before its number was seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.tables import read_tsv
from reprlab.papers.vocab_memory.claims_statistics import heaps, plain_mean, spearman
from reprlab.papers.vocab_memory.finetuning_tables import scores_of
from reprlab.papers.vocab_memory.layouts import ClaimsLayout
from reprlab.papers.vocab_memory.names import GLUE, label_of
from reprlab.reporting.claims import ABOVE_ZERO, ClaimRow, Rule, decide, missing, not_testable
from reprlab.reporting.intervals import Estimate
from reprlab.reporting.layouts import Statistics, read_layout

if TYPE_CHECKING:
    import numpy as np
    import pandas

_OVER_DATA = "bootstrap over data sets, 95 %"
_ZERO = Rule(low=-0.05, high=0.05)
_PAIRS = (("DistilBERT", "BERT"), ("DistilRoBERTa", "RoBERTa"), ("DistilmBERT", "mBERT"))


def claims(layout: str, inputs: list[Path]) -> list[ClaimRow]:
    """All claims, from a `ClaimsLayout` given as JSON.

    Raises:
        ReprlabError: the layout is not valid or names a file that is no input.
    """
    parsed = read_layout(ClaimsLayout, layout, inputs, "claims")
    return [*_usage(parsed), *_savings(parsed), *_training(parsed)]


def _usage(layout: ClaimsLayout) -> Iterator[ClaimRow]:
    trend = read_tsv(layout.trend)
    first = trend[trend["tokenizer"] == trend["tokenizer"].iloc[0]]
    about = f"tokenizer of {first['tokenizer'].iloc[0]}"
    yield _over_rows(
        "1",
        "Larger data sets use more of the vocabulary",
        ABOVE_ZERO,
        "Spearman correlation of tokens and unique tokens",
        first,
        spearman,
        layout.statistics,
        about,
    )
    yield _over_rows(
        "2",
        "Growth resembles Heaps' law: less than proportional",
        Rule(low=0, high=1),
        "slope of log unique over log tokens",
        first,
        heaps,
        layout.statistics,
        about,
    )
    reduction = _compared(read_tsv(layout.reduction), layout)
    half = "tasks of GLUE that use less than half of the vocabulary"
    rule = Rule(low=5.5, high=6.5)
    if layout.scale == "paper":
        row = reduction[(reduction["model"] == "RoBERTa") & (reduction["kind"] == "embedding")]
        count = float((row[list(GLUE)].iloc[0] > 50).sum()) if len(row) else math.nan
        found = Estimate(count, count, count, len(GLUE))
        yield decide(
            "3",
            "Six of nine tasks use less than half of the vocabulary",
            rule,
            half,
            found,
            "exact count, no interval",
            "the counted tokens are no sample",
        )
    else:
        yield not_testable(
            "3",
            "Six of nine tasks use less than half of the vocabulary",
            rule,
            half,
            None,
            "needs GLUE itself: percentages of stand-in data are those of other texts",
        )


def _savings(layout: ClaimsLayout) -> Iterator[ClaimRow]:
    frame = _compared(read_tsv(layout.reduction), layout)
    embedding, model = (frame[frame["kind"] == kind].set_index("model") for kind in ("embedding", "model"))
    trend = read_tsv(layout.trend)
    sizes = {str(name): int(rows["vocabulary"].iloc[0]) for name, rows in trend.groupby("tokenizer")}
    claim = "A larger vocabulary saves a larger share of the embedding"
    if len(sizes) > 1:
        small, large = min(sizes, key=lambda name: sizes[name]), max(sizes, key=lambda name: sizes[name])
        wide = trend.pivot(index="task", columns="tokenizer", values="share")
        yield _mean(
            "4",
            claim,
            ABOVE_ZERO,
            f"points of unused vocabulary, {large} less {small}",
            (wide[small] - wide[large]).dropna(),
            layout.statistics,
        )
    else:
        # At paper scale: XLM-V against BERT, the largest and the smallest vocabulary of Table 2.
        gaps = _gap(embedding, "XLM-V", "BERT")
        yield _mean("4", claim, ABOVE_ZERO, "points of embedding reduction, XLM-V less BERT", gaps, layout.statistics)
    pairs = [(a, b) for a, b in _PAIRS if a in embedding.index and b in embedding.index]
    same, more = (
        "Distilled models reduce their embedding as their originals",
        "Distilled models reduce more of the model",
    )
    counter = embedding["tokenizer"].to_dict()
    # A pair that one tokenizer counts has equal counts whatever the data.
    apart = [(a, b) for a, b in pairs if counter[a] != counter[b]]
    if pairs:
        for id, claim, rule, frame, kind, follows in (
            ("5", same, _ZERO, embedding, "embedding", "the difference is 0"),
            ("6", more, ABOVE_ZERO, model, "model", "the sign follows from the sizes of the models"),
        ):
            statistic = f"points of {kind} reduction, distilled less original"
            gaps = _stack([_gap(frame, a, b) for a, b in apart or pairs])
            one = f"one tokenizer ({counter[pairs[0][0]]}) counts for both models: {follows}, whatever the data"
            yield _mean(id, claim, rule, statistic, gaps, layout.statistics, identity="" if apart else one)
    else:
        for id, claim, rule in (("5", same, _ZERO), ("6", more, ABOVE_ZERO)):
            yield missing(id, claim, rule, "points of reduction, distilled less original", "no such pair in the table")
    family = _compared(read_tsv(layout.family), layout)
    columns = [name for name in GLUE if name in family and family[name].notna().all()]
    claim = "Savings grow with the width of the model"
    first, last = family.iloc[0], family.iloc[-1]
    gaps = (last[columns] - first[columns]).astype(float) if columns else family.iloc[:0, 0]
    statistic = f"millions saved, {last['model']} less {first['model']}"
    one = f"one tokenizer ({last['tokenizer']}) counts for both models: the same tokens times each width"
    same_counts = first["tokenizer"] == last["tokenizer"]
    yield _mean("7", claim, ABOVE_ZERO, statistic, gaps, layout.statistics, identity=one if same_counts else "")
    xnli = _compared(read_tsv(layout.xnli), layout)
    rows = xnli[(xnli["kind"] == "model") & xnli["all"].notna()]["all"] if "all" in xnli else xnli.iloc[:0, 0]
    claim, statistic = (
        "Multilingual models still save 23 % or more with all fifteen languages",
        "model reduction, all languages",
    )
    if layout.scale == "paper":
        yield _mean("8", claim, Rule(low=22.95), statistic, rows, layout.statistics, "bootstrap over models, 95 %")
    else:
        yield not_testable("8", claim, Rule(low=22.95), statistic, None, "needs XNLI and multilingual vocabularies")


def _training(layout: ClaimsLayout) -> Iterator[ClaimRow]:
    gaps = _score_gaps(layout)
    claim = "PEMA does not change the scores"
    yield _mean(
        "9",
        claim,
        _ZERO,
        "points, with less without PEMA, each run",
        gaps,
        layout.statistics,
        "bootstrap over runs, 95 %",
        f"largest difference {gaps.abs().max():g}; seeds of a task are paired" if len(gaps) else "",
    )
    runtime = read_tsv(layout.runtime)
    share = runtime["percent"].dropna() if "percent" in runtime else runtime.iloc[:0, 0]
    yield _mean(
        "10",
        "PEMA takes a small share of the time of fine-tuning",
        Rule(low=-1, high=5),
        "percent of fine-tuning",
        share,
        layout.statistics,
        _OVER_DATA,
        "the paper has at most 1.4 %",
    )
    if "moments" not in runtime:
        return
    expected = 2 * (runtime["vocabulary"] - runtime["used"]) * runtime["width"]
    yield _mean(
        "11",
        "The optimizer's state shrinks by two numbers for each parameter left out",
        _ZERO,
        "measured less computed, numbers in the state",
        (runtime["moments_whole"] - runtime["moments"] - expected).astype(float),
        layout.statistics,
    )
    saved = (runtime["peak_whole_mb"] - runtime["peak_mb"]).dropna()
    yield _mean(
        "12",
        "Peak memory is lower with PEMA",
        ABOVE_ZERO,
        "MB, measured",
        saved,
        layout.statistics,
        _OVER_DATA,
        "weights, gradients and both moments of the rows left out would be "
        f"{float((2 * expected * 4).mean()) / 1e6:.0f} MB",
    )


def _score_gaps(layout: ClaimsLayout) -> pandas.Series:
    import pandas

    found = {}
    whole = {(arm.model, arm.task): arm for arm in layout.arms if not arm.pema}
    for arm in layout.arms:
        if arm.pema and (arm.model, arm.task) in whole:
            metric = layout.metrics[arm.task]
            without = scores_of(whole[arm.model, arm.task], metric)
            for seed, score in scores_of(arm, metric).items():
                gap = float(score["value"]) - float(without[seed]["value"])
                found[f"{label_of(arm.model)} {arm.task} {seed}"] = gap
    return pandas.Series(found, dtype=float)


def _compared(frame: pandas.DataFrame, layout: ClaimsLayout) -> pandas.DataFrame:
    return frame[frame["splits"] == layout.compared]


def _gap(frame: Any, first: str, second: str) -> pandas.Series:
    import pandas

    if first not in frame.index or second not in frame.index:
        return pandas.Series(dtype=float)
    columns = [name for name in GLUE if name in frame]
    one, other = (frame.loc[name, columns].astype(float) for name in (first, second))
    gaps: pandas.Series = (one - other).dropna()
    return gaps


def _stack(parts: list[pandas.Series]) -> pandas.Series:
    import pandas

    return pandas.concat(parts, ignore_index=True)


def _mean(
    id: str,
    claim: str,
    rule: Rule,
    statistic: str,
    values: pandas.Series,
    statistics: Statistics,
    interval: str = _OVER_DATA,
    note: str = "",
    identity: str = "",
) -> ClaimRow:
    """A claim on a mean, bootstrapped over its values; `identity` says why no data could decide it, if so."""
    if identity:
        value = float(values.mean()) if len(values) else math.nan
        found = Estimate(value, math.nan, math.nan, len(values))
        return not_testable(id, claim, rule, f"mean of {statistic}", found, identity)
    if len(values) < 2:
        return missing(id, claim, rule, f"mean of {statistic}", f"{len(values)} values at this scale, two are needed")
    frame = values.astype(float).to_frame("value")
    return _over_rows(id, claim, rule, f"mean of {statistic}", frame, plain_mean, statistics, note, interval)


def _over_rows(
    id: str,
    claim: str,
    rule: Rule,
    statistic: str,
    frame: pandas.DataFrame,
    value: Callable[[Any], float],
    statistics: Statistics,
    note: str = "",
    interval: str = _OVER_DATA,
) -> ClaimRow:
    """A claim on a statistic of rows, bootstrapped over them."""
    import numpy as np

    rng = np.random.Generator(np.random.Philox(key=statistics.seed))
    drawn = [value(frame.iloc[rng.integers(0, len(frame), size=len(frame))]) for _ in range(statistics.resamples)]
    known: np.ndarray = np.array([one for one in drawn if not math.isnan(one)])
    tail = 50 * (1 - statistics.confidence)
    low, high = np.percentile(known, [tail, 100 - tail]) if len(known) else (math.nan, math.nan)
    return decide(
        id, claim, rule, statistic, Estimate(value(frame), float(low), float(high), len(frame)), interval, note
    )
