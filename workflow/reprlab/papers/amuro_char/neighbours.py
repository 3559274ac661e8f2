"""Neighbours of fine-tuning the last checkpoint: RE-Adapt, which moves the fine-tuning of an earlier one to it."""

from __future__ import annotations

from collections.abc import Callable

from reprlab.papers.amuro_char.claims import RIVALS
from reprlab.papers.amuro_char.names import WAYS
from reprlab.papers.amuro_char.tables_changes import OTHER, OWN, pairs_of_task
from reprlab.papers.amuro_char.tables_scores import HEADLINE, in_pairs, scores
from reprlab.results.frame import Choice, Frame, Option
from reprlab.results.neighbours import Neighbour, Side

_MEASURES = {OWN: "score on the own task, percent", OTHER: "score on tasks of another kind, percent"}


def _mean(task: str) -> Callable[[Frame], float]:
    def find(frame: Frame) -> float:
        rows = scores(frame)
        rows = rows[in_pairs(rows, pairs_of_task(frame.options["groups"], task))]
        return float(rows[rows["train"].isin(frame.options["moved"])]["performance"].mean())

    return find


def _side(name: str, way: str, task: str) -> Side:
    rows: dict[str, Choice] = {"family": Option("ladder"), "ckpt": Option("last"), "way": way}
    return Side(name, {**HEADLINE, **rows}, _mean(task))


NEIGHBOURS = [
    Neighbour(
        f"{way}_on_{task}",
        measure=_MEASURES[task],
        better="higher",
        method=_side("fine-tuning of the last checkpoint", "", task),
        rival=_side(WAYS[way], way, task),
        claim=claim,
        stages=("finetune_completions", "merge_models"),
    )
    for claim, (way, task) in RIVALS.items()
]
