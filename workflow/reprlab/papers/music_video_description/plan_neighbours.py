"""Neighbours of the adaptor with LoRA, before a language model that stays as it is: a linear prefix, the adaptor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reprlab.music.prefix_settings import PrefixDescription, PrefixTraining
from reprlab.papers.music_video_description.plan_descriptions import ADAPTOR, Descriptions
from reprlab.planning.plan import Job
from reprlab.results.sources import Source
from reprlab.settings.base import derive

PREFIX = "prefix"


def neighbour_sources(made: Descriptions) -> Iterator[Source]:
    """Scores and losses of both, each seed, with the main row's inputs.

    Both have the updates, rates and stages of the main row; what differs is what is trained.
    """
    inputs, untrained = made.paper.main, made.untrained
    for seed in made.paper.seeds:
        yield made.scores(ADAPTOR, inputs, seed, made.described(ADAPTOR, inputs, seed), untrained)
        yield made.losses(f"description_{ADAPTOR}", inputs, seed, made.trained("description", inputs, seed, lora=False))
        yield made.scores(PREFIX, inputs, seed, _described(made, inputs, seed), untrained)
        for task in ("caption", "description"):
            yield made.losses(f"{task}_{PREFIX}", inputs, seed, _trained(made, task, inputs, seed))


def _trained(made: Descriptions, task: str, inputs: str, seed: int) -> dict[str, str]:
    # Captions say what is in the music alone.
    caption, inputs = task == "caption", "1" if task == "caption" else inputs
    given = made.given()
    if not caption:
        given["start"] = _trained(made, "caption", inputs, seed)["out"]
    engine, epochs = made.engine_of(task, seed)
    settings = PrefixTraining(
        task="caption" if caption else "description",
        inputs=inputs,
        vectors=made.paper.neighbours.prefix.vectors,
        max_length=made.paper.lora.max_length,
        engine=engine,
        epochs=epochs,
    )
    key = f"{made.paper.model}/{made.paper.name}/{task}_{inputs}_s{seed}"
    return made.plan.add("train_prefix", key, Job(given, {"settings": settings}))


def _described(made: Descriptions, inputs: str, seed: int) -> Path:
    generation = made.paper.generation
    given = made.given(prefix=_trained(made, "description", inputs, seed)["out"])
    settings = derive(PrefixDescription, generation, inputs=inputs, seed=seed, limit=generation.tracks)
    key = f"{made.paper.model}/{made.paper.name}/{inputs}_{PREFIX}_s{seed}"
    return Path(made.plan.add("describe_by_prefix", key, Job(given, {"settings": settings}))["out"])
