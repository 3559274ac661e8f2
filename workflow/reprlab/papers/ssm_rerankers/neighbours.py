"""Neighbours of the paper's rerankers: query and document in the other order and twice, and lists in place of pairs."""

from __future__ import annotations

from reprlab.papers.ssm_rerankers.claims import ORDERS
from reprlab.results.frame import Choice
from reprlab.results.neighbours import Neighbour, Side, mean_value

_SOURCES = {
    "reversed": "the other part first (Arora et al. 2024)",
    "twice": "both read twice (Arora et al. 2024)",
    "reversed_twice": "the other part first, both read twice (Arora et al. 2024)",
}


def _side(name: str, **where: Choice) -> Side:
    return Side(name, {"truncation": "firstp", "metric": "mrr_at_10", **where}, mean_value)


def _way(name: str, method: str) -> Side:
    where: dict[str, Choice] = {"part": "lists", "method": method}
    return Side(name, {**where, "metric": "mrr_at_10"}, mean_value, where)


NEIGHBOURS = [
    Neighbour(
        f"read_{order}",
        measure="MRR@10 on passages in-domain, percent",
        better="higher",
        method=_side("the paper's order, read once", part="in_domain", order=""),
        rival=_side(_SOURCES[order], part="orders", order=order),
        claim=claim,
        stages=("train_reranker", "rerank_passages"),
        by=("model",),
    )
    for claim, order in ORDERS.items()
] + [
    Neighbour(
        "first",
        measure="MRR@10 on passages in-domain, percent",
        better="higher",
        method=_way("the reranker of pairs", "pointwise"),
        rival=_way("FIRST (Gangi Reddy et al. 2024)", "listwise"),
        claim="M14",
        stages=("train_reranker", "rerank_passages"),
        by=("model",),
    )
]
