"""Neighbours of the plain encoder of each depth: Echo, whitening of its vectors, other layers that are removed,
one training for all depths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from reprlab.papers.overparameterized_encoders.claims import SCORES, WAYS
from reprlab.papers.overparameterized_encoders.tables_pruning import mean_scores
from reprlab.results.frame import Choice, Frame
from reprlab.results.neighbours import Neighbour, Side

_SOURCES = {
    "echo": "Echo (Springer et al. 2024)",
    "whitening": "whitening (Huang et al. 2021)",
    "block_cosine": "block by cosine (Gromov et al. 2024)",
    "replace_me": "ReplaceMe (Shopkhoev et al. 2025)",
    "matryoshka": "2D Matryoshka (Li et al. 2024)",
}


def _mean(part: str) -> Callable[[Frame], float]:
    return lambda frame: float(mean_scores(frame, part).mean())


def _side(name: str, part: str, way: str, sized: dict[str, Choice]) -> Side:
    rows: dict[str, Choice] = {"part": part, "way": way, "training": "trained", "metric": SCORES}
    return Side(name, rows, _mean(part), sized)


NEIGHBOURS = [
    Neighbour(
        way,
        measure="mean score of all tasks, percent",
        better="higher",
        method=_side("the plain encoder", "scores", "", {"part": "cost"}),
        rival=_side(_SOURCES[way], "neighbours", way, {"part": "neighbours", "way": way, "training": "trained"}),
        claim=claim,
        stages=("prune_block", "train_encoder", "evaluate_encoder"),
        by=("depth",),
    )
    for claim, way in WAYS.items()
]
# What a row of a depth cannot say: its training is that of all the others as well, and costs once.
NEIGHBOURS.append(
    replace(NEIGHBOURS[-1], id="matryoshka_curve", measure="mean score of all tasks at all depths, percent", by=())
)
