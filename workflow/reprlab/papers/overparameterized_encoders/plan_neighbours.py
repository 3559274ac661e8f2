"""Neighbours of L3Prune's encoders, each beside the plain one of its depth: Echo, whitening, other ways to prune."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from reprlab.papers.overparameterized_encoders.plan_backbone import Backbone, Reading
from reprlab.papers.overparameterized_encoders.results import PARTS
from reprlab.results.sources import Missing, Source, Value
from reprlab.sentences.settings import Whitening
from reprlab.settings.base import derive


def neighbour_sources(jobs: Backbone) -> Iterator[Source | Missing]:
    """Plan all neighbours of a decoder, with and without training; their scores and parameters.

    Echo and what is pruned in another way train encoders of their own, with the updates and the rate of the plain one;
    whitening maps the vectors of the plain one. A depth that the decoder is not run at stays empty.
    """
    echo, whitening = jobs.paper.neighbours.echo, jobs.paper.neighbours.whitening
    twice = Reading(echo.pooling, echo.part_size, name="echo_", echo=echo.between)
    white = Reading(
        jobs.plain.pooling,
        jobs.plain.part_size,
        name="whitening_",
        both_ends=whitening.both_ends,
        whitening=derive(Whitening, whitening),
    )
    # Fitted on what it is scored on, it is another way, and no claim is made on it.
    of_test = "" if whitening.fit_on == "train" else "_of_test"
    for depth in echo.depths:
        yield from _beside(jobs, "echo", depth, twice, twice)
    for depth in whitening.depths:
        yield from _beside(jobs, f"whitening{of_test}", depth, white, jobs.plain)
    pruning = jobs.paper.neighbours.pruning
    for way in pruning.ways:
        own: dict[str, Any] = {"method": way, "texts": pruning.texts, "seed": pruning.seed}
        own |= {"alpha": pruning.alpha} if way == "replace_me" else {}
        pruned = replace(jobs.plain, name=f"{way}_", pruning=own)
        for depth in pruning.depths:
            yield from _beside(jobs, way, depth, pruned, pruned)


def _beside(jobs: Backbone, way: str, depth: str, reading: Reading, trained_as: Reading) -> Iterator[Source | Missing]:
    about: dict[str, Value] = {**jobs.about, "part": "neighbours", "way": way, "depth": depth}
    if depth not in jobs.backbone.depths:
        yield Missing(factors=about, reason=f"backbones.{jobs.name}.depths has no {depth}")
        return
    for training in PARTS:
        trained = jobs.trained(depth, trained_as) if training == PARTS[0] else {}
        path = Path(jobs.evaluated(depth, training, trained, reading))
        scored = {**about, "training": training}
        yield from jobs.scores(path, scored)
        first = next(iter(jobs.tasks))
        keys = {"seed": "seed", "layers": "layers"}
        yield Source(path=path, factors=scored, keys=keys, where={"dataset": first}, wide=["parameters"])
