"""Results of state-space rerankers, declared: factors, metrics, tables, figures, claims, printed tables."""

from typing import Any

from reprlab.papers.ssm_rerankers.claims import CLAIMS, TWINS
from reprlab.papers.ssm_rerankers.names import LABELS
from reprlab.papers.ssm_rerankers.neighbours import NEIGHBOURS
from reprlab.papers.ssm_rerankers.tables_reranking import (
    beir,
    by_attention,
    draw_operators,
    first_stage,
    orders,
    out_of_domain,
    reranked,
    speed,
)
from reprlab.results.comparison import Find
from reprlab.results.figures import Axis, Curves
from reprlab.results.table_forms import Listing, Pivot
from reprlab.results.words import results_of

SPEED = "speed"
CONTRAST = "contrast"
ORDERED = "orders"
LISTS = "lists"
_TIMED = "n dtype kernels device data scale"
_LINES: dict[str, Any] = {"line": "model", "panel": "size"}
_QUALITY = ("mrr_at_10", "mrr_at_100", "ndcg_at_10")
_RECALL = tuple(f"recall_at_{depth}" for depth in (10, 20, 50, 100, 1000))


def _pivot(rows: str) -> Pivot:
    return Pivot(
        rows=rows, across="metric", about="scale n steps tokens", over="seed", beside="low high above_trivial data"
    )


_TABLES: dict[str, tuple[Any, Any]] = {
    "table2": (_pivot("model dataset split"), {"part": "in_domain", "metric": _QUALITY}),
    "table3": (out_of_domain, {"part": "out_of_domain", "metric": "ndcg_at_10"}),
    "table4": (_pivot("model truncation dataset split"), {"part": "document", "metric": _QUALITY}),
    "table5": (
        Listing(f"model size attention length batch queries_per_second=value reason {_TIMED}", empty=True),
        {"part": SPEED, "metric": "scoring_speed"},
    ),
    "table7": (
        _pivot("part model dataset split"),
        {"part": ("in_domain", "out_of_domain"), "truncation": "none", "metric": (*_QUALITY, *_RECALL)},
    ),
    "table8": (
        _pivot("part model dataset split"),
        {"part": "document", "truncation": "none", "metric": (*_QUALITY, *_RECALL)},
    ),
    "significance": (
        Listing("model less dataset truncation split seed metric difference=value low high p queries=n data scale"),
        {"part": CONTRAST},
    ),
    "orders": (
        orders,
        {"part": ("in_domain", ORDERED), "truncation": "firstp", "metric": (*_QUALITY, "pair_tokens")},
    ),
    "lists": (
        Pivot(
            rows="model method dataset split",
            across="metric",
            about="scale n steps tokens",
            over="seed",
            beside="low high above_trivial data",
        ),
        {"part": LISTS, "metric": (*_QUALITY, "pair_tokens", "parameters")},
    ),
    "throughput": (
        Listing(f"model size attention batch length tokens_per_second=value reason {_TIMED}", empty=True),
        {"part": SPEED, "metric": "training_speed"},
    ),
    "operators": (
        Listing(f"model attention operator share=value reason length batch {_TIMED}", empty=True),
        {"part": SPEED, "metric": "operator_share"},
    ),
}
_FIGURES: dict[str, tuple[Any, ...]] = {
    "figure1": (
        "throughput",
        by_attention(Curves(Axis("batch", "Sequences"), [Axis("tokens_per_second", "Tokens a second")], **_LINES)),
        "M9",
    ),
    "figure2": ("operators", by_attention(draw_operators)),
    "inference": (
        "table5",
        by_attention(Curves(Axis("length", "Tokens"), [Axis("queries_per_second", "Queries a second")], **_LINES)),
        "M10",
    ),
}
_OURS: dict[str, Find] = {
    "table2": reranked("table2", "mrr_at_10"),
    "table3": beir,
    "table4": reranked("table4", "mrr_at_100"),
    "table5": speed,
    "table7": first_stage("table7", "mrr_at_10", "in_domain", dict.fromkeys(("dev", "dl19", "dl20"), 1000)),
    # As the paper's statements say, which the audit holds against each other.
    "table8": first_stage("table8", "mrr_at_100", "document", {"dev": 1000, "dl19": 100, "dl20": 100}),
    "table11": beir,
}
RESULTS = results_of(
    "ssm-rerankers",
    tables=_TABLES,
    figures=_FIGURES,
    ours=_OURS,
    claims=CLAIMS,
    twins=TWINS,
    neighbours=NEIGHBOURS,
    unjudged={"nano": "a few queries and steps test the workflow, not the claim"},
    labels=LABELS,
)
