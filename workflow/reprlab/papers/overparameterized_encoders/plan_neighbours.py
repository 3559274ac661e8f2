"""Neighbours of L3Prune's encoders, each beside the plain one of its depth: Echo, whitening, other ways to prune, one
training for all depths."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from reprlab.papers.overparameterized_encoders.plan_backbone import Backbone, Reading
from reprlab.papers.overparameterized_encoders.results import PARTS
from reprlab.results.sources import Missing, Source, Value
from reprlab.sentences.settings import Matryoshka2D, Whitening
from reprlab.settings.base import derive

WHOLE = "p00"
"""The depth of which nothing is dropped."""


def neighbour_sources(jobs: Backbone) -> Iterator[Source | Missing]:
    """Plan all neighbours of a decoder, with and without training; their scores and parameters.

    Echo and what is pruned in another way train encoders of their own, with the updates and the rate of the plain one;
    whitening maps the vectors of the plain one; 2D Matryoshka trains the whole decoder once, and untrained it is the
    plain one. A depth that the decoder is not run at stays empty.
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
        own |= {"alpha": pruning.alpha, "first_tokens": pruning.first_tokens} if way == "replace_me" else {}
        pruned = replace(jobs.plain, name=f"{way}_", pruning=own)
        for depth in pruning.depths:
            yield from _beside(jobs, way, depth, pruned, pruned)
    nested = replace(jobs.plain, name="matryoshka_", objective=derive(Matryoshka2D, jobs.paper.neighbours.matryoshka))
    for depth in jobs.paper.neighbours.matryoshka.depths:
        yield from _beside(jobs, "matryoshka", depth, nested, nested)


def _beside(jobs: Backbone, way: str, depth: str, reading: Reading, trained_as: Reading) -> Iterator[Source | Missing]:
    about: dict[str, Value] = {**jobs.about, "part": "neighbours", "way": way, "depth": depth}
    if depth not in jobs.backbone.depths:
        yield Missing(factors=about, reason=f"backbones.{jobs.name}.depths has no {depth}")
        return
    for training in PARTS:
        trained = jobs.trained(WHOLE if reading.objective else depth, trained_as) if training == PARTS[0] else {}
        # Nothing is added to a loss where nothing is trained.
        read_as = reading if trained or reading.objective is None else jobs.plain
        path = Path(jobs.evaluated(depth, training, trained, read_as))
        scored = {**about, "training": training}
        yield from jobs.scores(path, scored)
        first = next(iter(jobs.tasks))
        keys = {"seed": "seed", "layers": "layers"}
        yield Source(path=path, factors=scored, keys=keys, where={"dataset": first}, wide=["parameters"])
