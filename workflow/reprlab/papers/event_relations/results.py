"""Results of event relations, declared: factors, metrics, tables, figures, claims and printed tables."""

from typing import Any

from reprlab.papers.event_relations.claims import CLAIMS, TWINS
from reprlab.papers.event_relations.tables_relations import (
    compared_score,
    complexity,
    over_all_pairs,
    retrieval_recall,
    seconds,
)
from reprlab.results.figures import Axis, Curves
from reprlab.results.table_forms import Listing, Pivot
from reprlab.results.words import results_of

SCORES = ("precision", "recall", "f1")
ALL_SCORES = (
    "accuracy", "macro_precision", "macro_recall", "macro_f1", "weighted_precision", "weighted_recall", "weighted_f1",
)  # fmt: skip
RETRIEVAL = (
    "retrieval_recall",
    "recall_ceiling",
    "greedy_oracle",
    "positive_share",
    "density",
    "saved",
    "candidates",
    "all_pairs",
    "hardness",
)

_ABOUT = "scale seed n steps tokens"
_BESIDE = "low high above_trivial data"
_TEST = {"split": "test"}
_TRAINED, _TUNED = ("roberta", "t5"), ("roberta_ft", "sbert_ft")
_MAIN = {"encoding": "wrapped", "chains": "no", **_TEST}


def _pivot(rows: str) -> Pivot:
    return Pivot(rows=rows, across="metric", about=_ABOUT, beside=_BESIDE, over="fold seed")


_TABLES: dict[str, tuple[Any, Any]] = {
    "table1": (
        _pivot("dataset retriever classifier k subset"),
        {**_MAIN, "classifier": _TRAINED, "metric": ALL_SCORES, "part": "main"},
    ),
    "table2": (
        _pivot("dataset retriever classifier k"),
        {**_MAIN, "classifier": (*_TRAINED, "gpt"), "metric": SCORES, "part": "main"},
    ),
    "table3": (
        _pivot("dataset retriever classifier encoding subset"),
        {**_TEST, "chains": "no", "retriever": _TUNED, "classifier": _TRAINED, "part": "main"},
    ),
    "table4": (
        _pivot("dataset retriever classifier k subset"),
        {**_MAIN, "retriever": ("none", "sbert_ft"), "classifier": _TRAINED, "part": ("main", "sweep")},
    ),
    "table5": (
        _pivot("dataset retriever classifier chains subset"),
        {**_TEST, "encoding": "wrapped", "retriever": ("random", *_TUNED), "classifier": _TRAINED, "part": "main"},
    ),
    "validation": (
        _pivot("dataset retriever classifier encoding chains k"),
        {"split": "validation", "classifier": _TRAINED, "metric": SCORES},
    ),
    "retrieval": (
        _pivot("dataset retriever encoding chains split k"),
        {"classifier": "none", "metric": RETRIEVAL},
    ),
    "significance": (
        Listing("dataset classifier less=retriever k subset metric seed value low high n data scale"),
        {"part": "contrast"},
    ),
    "figure3": (complexity, {"retriever": "random"}),
    "seconds": (seconds, {"part": "timing"}),
    "figure_recall": (retrieval_recall, {"classifier": "none"}),
}
_EVENTS = "Events in the document"
_FIGURES = {
    "figure3": Curves(Axis("events", _EVENTS, ticks="mark"), [Axis("pairs", "Pairs")], "condition", ""),
    "seconds": Curves(
        Axis("events", _EVENTS),
        [
            Axis("apart_seconds", "Seconds, pairs encoded apart"),
            Axis("seconds", "Seconds, document once"),
            Axis("pairs", "Pairs"),
        ],
        "condition",
        "classifier",
    ),
    "figure_recall": Curves(Axis("k", "Partners k"), [Axis("value", "Recall (%)")], "retriever", "dataset"),
}
RESULTS = results_of(
    "event-relations",
    tables=_TABLES,
    figures={name: (name, draw, "E1" if name == "figure_recall" else "") for name, draw in _FIGURES.items()},
    ours={
        "table1": over_all_pairs("table1"),
        "table2": compared_score,
        **{name: over_all_pairs(name) for name in ("table3", "table4", "table5")},
    },
    claims=CLAIMS,
    twins=TWINS,
    unjudged={"nano": "a few documents and steps test the workflow, not the claim"},
)
