"""Tables of event relations that are not a selection of the frame, and our side of the printed ones."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from reprlab.events.settings import ALL
from reprlab.papers.event_relations.names import MATCHED
from reprlab.reporting.comparison import Counterpart
from reprlab.results.comparison import Cell, Own, about
from reprlab.results.frame import Frame, Rows

if TYPE_CHECKING:
    from reprlab.results.comparison import Find

_MOST_EVENTS = 60
# Events of the documents that the paper marks in Figure 3: the mean and the most of the Event StoryLine Corpus.
_MARKS = {18: "18 mean", 20: "", 50: "", 51: "51 most"}
_SECONDS = ("seconds", "encode_seconds", "pair_seconds", "apart_seconds", "mention_seconds")
# Rows of Table 2 to retriever and classifier; a retriever is taken for the fine-tuned one, as in the best of Table 1.
_METHODS = {
    "RoBERTa": ("none", "roberta"),
    "T5": ("none", "t5"),
    "GPT-3.5": ("none", "gpt"),
    "RoBERTa + RoBERTa": ("roberta_ft", "roberta"),
    "S-BERT + RoBERTa": ("sbert_ft", "roberta"),
    "RoBERTa + T5": ("roberta_ft", "t5"),
    "S-BERT + T5": ("sbert_ft", "t5"),
}
_SCORES = {"p": "precision", "r": "recall", "f1": "f1"}
_KEYS = ("retriever", "classifier", "encoding", "chains")
_WEIGHTED = "the paper does not define its scores over all pairs: ours are weighted by support"


def candidates(events: int, k: int) -> int:
    """Directed candidates of a document: k for each event, as many as there are where there are fewer."""
    return events * min(k, max(events - 1, 0))


def complexity(frame: Frame) -> Rows:
    """Directed pairs to classify by events in a document: all of them, and with each k."""
    conditions = {"all pairs": _MOST_EVENTS} | {f"k = {k}": k for k in frame.options["ks"]}
    return type(frame.rows)(
        [
            {
                "events": n,
                "condition": name,
                "pairs": candidates(n, k),
                "saved": _saved(n, k),
                "mark": _MARKS.get(n, str(n) if n % 10 == 0 else ""),
                "scale": frame.scale,
            }
            for name, k in conditions.items()
            for n in range(1, _MOST_EVENTS + 1)
        ]
    )


def _saved(events: int, k: int) -> float:
    pairs = events * (events - 1)
    return 100 * (1 - candidates(events, k) / pairs) if pairs else 0.0


def seconds(frame: Frame) -> Rows:
    """Measured seconds and pairs of one document by its events, over all pairs and with each k."""
    rows = frame.select()
    names = rows["k"].map(lambda k: f"k = {k}").where(rows["retriever"] != "none", "all pairs")
    keys = ["classifier", "events", "condition", "data", "scale"]
    wide = rows.assign(condition=names).pivot(index=keys, columns="metric", values="value").reset_index()
    wide = wide.reindex(columns=[*keys[:3], "classified_pairs", *_SECONDS, *keys[3:]])
    wide = wide.astype({"classified_pairs": "Int64"})
    return wide.rename(columns={"classified_pairs": "pairs"}).rename_axis(columns=None)


def retrieval_recall(frame: Frame) -> Rows:
    """Recall on the test split by retriever and k, mean over seeds and folds."""
    rows = frame.select(metric="retrieval_recall", split="test", encoding="wrapped", chains="no")
    found = rows.groupby(["dataset", "retriever", "k", "data", "scale"], sort=False)["value"].mean()
    return found.reset_index()


def compared_score(own: Own, row: Cell, column: str) -> Counterpart:
    """Our micro score over the relations beside a cell of Table 2."""
    if row["method"] not in _METHODS:
        return Counterpart("", "quoted by the paper from others; not built here")
    dataset, _, score = column.partition("_")
    retriever, classifier = _METHODS[row["method"]]
    where = {"dataset": dataset, "retriever": retriever, "classifier": classifier}
    return _beside(own, "table2", where, _SCORES[score])


def over_all_pairs(table: str) -> Find:
    """Our scores over all labels beside the cells of Tables 1, 3, 4 and 5, which the paper calls "all event pairs".

    It does not define them. Ours are means over labels weighted by support, over all pairs, and F1 is the harmonic mean
    of the two, as in its rows (specification, 2.7).
    """

    def find(own: Own, row: Cell, column: str) -> Counterpart:
        dataset, _, score = column.partition("_")
        where = {"dataset": dataset, "classifier": "t5", **{key: row[key] for key in _KEYS if key in row}}
        if "k" in row:
            whole = row["k"] == "all"
            where |= {
                "retriever": "none" if whole else MATCHED,
                "k": own.frame.options["k"] if whole else int(row["k"]),
            }
        found = _beside(own, table, where, f"weighted_{_SCORES[score]}", {"subset": ALL})
        return Counterpart(found.ours, f"{found.note}; {_WEIGHTED}") if found.ours else found

    return find


def _beside(
    own: Own, table: str, where: Mapping[str, Any], metric: str, narrowed: Mapping[str, Any] = MappingProxyType({})
) -> Counterpart:
    ours = own.rows(table, **where, **narrowed)
    if metric not in ours or ours[metric].isna().all():
        return own.missing(**where)
    cell = ours.iloc[0]
    return Counterpart(f"{cell[metric]:.1f}", about(cell, metric, own.frame.scale))
