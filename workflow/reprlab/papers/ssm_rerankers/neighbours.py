"""Neighbours of the paper's order of query and document: the other order, and reading twice."""

from __future__ import annotations

from reprlab.papers.ssm_rerankers.claims import ORDERS
from reprlab.results.frame import Choice, Frame
from reprlab.results.neighbours import Neighbour, Side

_SOURCES = {
    "reversed": "the other part first (Arora et al. 2024)",
    "twice": "both read twice (Arora et al. 2024)",
    "reversed_twice": "the other part first, both read twice (Arora et al. 2024)",
}


def _mean(frame: Frame) -> float:
    return float(frame.select()["value"].mean())


def _side(name: str, **where: Choice) -> Side:
    return Side(name, {"truncation": "firstp", "metric": "mrr_at_10", **where}, _mean)


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
]
