"""What event relations declares about its results: factors, metrics, tables, figures, claims and printed tables."""

from reprlab.papers.event_relations.claims import CLAIMS
from reprlab.papers.event_relations.tables import compared_score, complexity, retrieval_recall, seconds
from reprlab.results.comparison import Printed
from reprlab.results.figures import Axis, Curves
from reprlab.results.records import Figure, PaperResults, Table
from reprlab.results.schema import Factor, Metric
from reprlab.results.tables import Pivot

RETRIEVERS = ("none", "random", "roberta", "roberta_ft", "sbert", "sbert_ft")
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

FACTORS = {
    "dataset": Factor(about="the corpus, by its column in the paper", values=("esc", "red", "maven")),
    "fold": Factor(about="fold over topics that is tested on", kind="whole"),
    "retriever": Factor(
        about="none: all pairs; random: random negatives in training, all pairs tested", values=RETRIEVERS
    ),
    "classifier": Factor(
        about="classifier of pairs; none: rows of the retriever alone", values=("none", "roberta", "t5", "gpt")
    ),
    "encoding": Factor(about="text of a mention", values=("wrapped", "trigger", "graph")),
    "chains": Factor(about="whether the triggers of the coreference chain are appended", values=("no", "yes")),
    "part": Factor(
        about="main: with the paper's number of partners; sweep: with another; timing: seconds",
        values=("main", "sweep", "timing"),
    ),
    "k": Factor(about="partners retrieved for each event", kind="whole"),
    "events": Factor(about="events of the document whose seconds are measured", kind="whole"),
    "seed": Factor(about="seed of retriever and classifier", kind="whole"),
}
METRICS = {
    "precision": Metric(about="micro precision over the relations (regime 1)", unit="percent"),
    "recall": Metric(about="micro recall over the relations (regime 1)", unit="percent"),
    "f1": Metric(about="micro F1 over the relations (regime 1)", unit="percent"),
    "accuracy": Metric(about="accuracy over all labels, no relation among them (regime 2)", unit="percent"),
    "macro_precision": Metric(about="mean precision over the labels that occur (regime 2)", unit="percent"),
    "macro_recall": Metric(about="mean recall over the labels that occur (regime 2)", unit="percent"),
    "macro_f1": Metric(about="mean F1 over the labels that occur (regime 2)", unit="percent"),
    "weighted_precision": Metric(about="precision weighted by support (regime 2)", unit="percent"),
    "weighted_recall": Metric(about="recall weighted by support (regime 2)", unit="percent"),
    "weighted_f1": Metric(about="harmonic mean of the two weighted ones (regime 2)", unit="percent"),
    "retrieval_recall": Metric(about="related pairs of which either end names the other", unit="percent"),
    "recall_ceiling": Metric(
        about="the most that k partners for each event can recall (a maximum flow)", unit="percent"
    ),
    "greedy_oracle": Metric(about="recall of the gold relations as scores, ties by place", unit="percent"),
    "positive_share": Metric(about="related pairs among the candidates", unit="percent"),
    "density": Metric(about="related pairs among all pairs", unit="percent"),
    "saved": Metric(about="share of the directed pairs that are no candidates", unit="percent"),
    "candidates": Metric(about="directed candidates, k for each event", unit="count"),
    "all_pairs": Metric(about="directed pairs, n (n - 1) for each document", unit="count"),
    "seconds": Metric(about="classifier's time for one document, fastest of several runs", unit="seconds"),
    "encode_seconds": Metric(about="of these, the one pass over the document", unit="seconds"),
    "pair_seconds": Metric(about="of these, the head over the pairs", unit="seconds"),
    "apart_seconds": Metric(about="the same encoder, reading each pair by itself as two sentences", unit="seconds"),
    "mention_seconds": Metric(about="the same encoder, reading each mention by itself (stage 1)", unit="seconds"),
    "classified_pairs": Metric(about="pairs of that document that are classified", unit="count"),
    "hardness": Metric(
        about="retriever's score of hard negatives above random ones, in standard deviations", unit="number"
    ),
}
_ABOUT = "scale seed n steps tokens"
_BESIDE = "low high learned data"
_TEST = {"split": "test"}
_MAIN = {"encoding": "wrapped", "chains": "no", **_TEST}


def _pivot(rows: str) -> Pivot:
    return Pivot(rows=rows, across="metric", about=_ABOUT, beside=_BESIDE, over="fold seed")


TABLES = [
    Table(
        "table1",
        "Scores over all labels under each definition, by retriever and classifier (Table 1).",
        _pivot("dataset retriever classifier k subset"),
        {**_MAIN, "classifier": ("roberta", "t5"), "metric": ALL_SCORES, "part": "main"},
    ),
    Table(
        "table2",
        "Micro scores over the relations, by retriever and classifier (Table 2).",
        _pivot("dataset retriever classifier k"),
        {**_MAIN, "classifier": ("roberta", "t5", "gpt"), "metric": SCORES, "part": "main"},
    ),
    Table(
        "table3",
        "Encodings of a mention (Table 3).",
        _pivot("dataset retriever classifier encoding subset"),
        {
            **_TEST,
            "chains": "no",
            "retriever": ("roberta_ft", "sbert_ft"),
            "classifier": ("roberta", "t5"),
            "part": "main",
        },
    ),
    Table(
        "table4",
        "Numbers of partners; none: all pairs (Table 4).",
        _pivot("dataset retriever classifier k subset"),
        {**_MAIN, "retriever": ("none", "sbert_ft"), "classifier": ("roberta", "t5"), "part": ("main", "sweep")},
    ),
    Table(
        "table5",
        "Coreference chains (Table 5).",
        _pivot("dataset retriever classifier chains subset"),
        {
            **_TEST,
            "encoding": "wrapped",
            "retriever": ("random", "roberta_ft", "sbert_ft"),
            "classifier": ("roberta", "t5"),
            "part": "main",
        },
    ),
    Table(
        "validation",
        "Micro scores over the relations on the validation documents, on which settings are chosen.",
        _pivot("dataset retriever classifier encoding chains k"),
        {"split": "validation", "classifier": ("roberta", "t5"), "metric": SCORES},
    ),
    Table(
        "retrieval",
        "Recall of each retriever beside its ceiling, and the pairs that are left to classify.",
        _pivot("dataset retriever encoding chains split k"),
        {"classifier": "none", "metric": RETRIEVAL},
    ),
    Table(
        "figure3",
        "Pairs to classify by events in a document, with and without a retriever (Figure 3).",
        complexity,
        {"retriever": "random"},
    ),
    Table(
        "seconds",
        "Seconds over documents of growing size, with k partners and over all pairs, by what is encoded.",
        seconds,
        {"part": "timing"},
    ),
    Table("figure_recall", "Recall of related pairs by number of partners.", retrieval_recall, {"classifier": "none"}),
]
FIGURES = [
    Figure(
        "figure3",
        "Pairs to classify by events in a document (Figure 3).",
        "figure3",
        Curves(
            Axis("events", "Events in the document", ticks="mark"),
            [Axis("pairs", "Pairs")],
            line="condition",
            panel="scale",
        ),
    ),
    Figure(
        "seconds",
        "Seconds and pairs by events in a document (Figure 3's second panel, ours).",
        "seconds",
        Curves(
            Axis("events", "Events in the document"),
            [
                Axis("apart_seconds", "Seconds, each pair encoded by itself"),
                Axis("seconds", "Seconds, document encoded once"),
                Axis("pairs", "Pairs"),
            ],
            line="condition",
            panel="classifier",
        ),
    ),
    Figure(
        "figure_recall",
        "Recall of related pairs by number of partners.",
        "figure_recall",
        Curves(Axis("k", "Partners k"), [Axis("value", "Recall (%)")], line="retriever", panel="dataset"),
    ),
]
_UNDEFINED = (
    "the paper does not define its scores over all pairs (micro ones would be equal); ours stand under each definition "
    "in our table, and none of them is called the paper's"
)
_PRF = tuple(f"{name}_{score}" for name in ("esc", "red") for score in ("p", "r", "f1"))
_ESC = ("esc_p", "esc_r", "esc_f1")
PRINTED = {
    "table1": Printed(("retriever", "classifier"), _PRF, _UNDEFINED),
    "table2": Printed(("method",), (*_PRF, "maven_p", "maven_r", "maven_f1"), compared_score),
    "table3": Printed(("retriever", "encoding"), _PRF, _UNDEFINED),
    "table4": Printed(("k",), _ESC, _UNDEFINED),
    "table5": Printed(("retriever", "chains"), _ESC, _UNDEFINED),
}
LABELS = {
    "none": "all pairs", "random": "random", "roberta": "RoBERTa", "roberta_ft": "RoBERTa fine-tuned",
    "sbert": "S-BERT", "sbert_ft": "S-BERT fine-tuned", "t5": "T5", "gpt": "GPT-3.5",
    "esc": "ESC", "red": "RED", "maven": "MAVEN-ERE",
}  # fmt: skip
RESULTS = PaperResults(
    factors=FACTORS,
    metrics=METRICS,
    tables=TABLES,
    claims=CLAIMS,
    figures=FIGURES,
    printed=PRINTED,
    unjudged={"nano": "a few documents and steps test the workflow, not the claim"},
    labels=LABELS,
)
