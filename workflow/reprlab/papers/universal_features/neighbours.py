"""Neighbours of slerp: other ways to merge the two children, on one footing."""

from __future__ import annotations

import math
from collections.abc import Callable

from reprlab.papers.universal_features.claims import WAYS, best_point
from reprlab.results.frame import Choice, Frame
from reprlab.results.neighbours import Neighbour, Side

_SOURCES = {
    "linear": "the line between the weights (Wortsman et al. 2022)",
    "task_arithmetic": "task arithmetic (Ilharco et al. 2023)",
    "ties": "TIES (Yadav et al. 2023)",
    "dare": "DARE (Yu et al. 2024)",
}


def loss_at_best(way: str) -> Callable[[Frame], float]:
    """Nats a token at the best point of a way to merge, on the batches that did not choose it, in the mean over the
    children's corpora and then over seeds."""

    def find(frame: Frame) -> float:
        seeds = frame.select()["seed"].dropna().unique()
        points = [best_point(frame.narrowed({"seed": int(seed)}), way) for seed in seeds]
        losses = [
            float(sums["loss_sum"].sum() / sums["count"].sum()) for one in points if one for sums in one[1].values()
        ]
        return sum(losses) / len(losses) if losses else math.nan

    return find


def _side(name: str, way: str) -> Side:
    rows: dict[str, Choice] = {
        "part": "models",
        "model": way,
        "corpus": ("lua", "stories"),
        "metric": ("loss_sum", "count"),
    }
    return Side(name, rows, loss_at_best(way), sized={"part": "sizes", "model": way})


NEIGHBOURS = [
    Neighbour(
        way,
        measure="loss of the merged model on held-out text, nats a token",
        better="lower",
        method=_side("slerp", "sweep"),
        rival=_side(_SOURCES[way], way),
        claim=claim,
        stages=("evaluate_merges",),
        # A sixtieth of the least that fine-tuning changes at `mini`, 0.6 nats: nobody would choose a way by less.
        margin=0.01,
    )
    for claim, way in WAYS.items()
]
