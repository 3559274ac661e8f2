"""A curriculum of concepts: hubs that the domain names, what is near them, less what is common or absent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from reprlab.concepts.graph import UNREACHED, ConceptGraph
from reprlab.concepts.settings import CurriculumSettings, FilterSettings, SweepSettings

STEPS = ("graph", "frequent", "basic", "expanded", "after_general", "after_domain")
"""Concepts of the graph; those above the frequency; the basic ones; those within the hops; after either filter."""
_SWEPT = ("frequency", "basic", "general_limit", "domain_least")


@dataclass(frozen=True)
class Counts:
    """Occurrences of each concept of a graph, [concepts] int64."""

    domain: np.ndarray
    general: np.ndarray


def basic_concepts(graph: ConceptGraph, domain: np.ndarray, frequency: int, limit: int) -> np.ndarray:
    """Ids of S: the `limit` concepts of highest degree among those that occur more than `frequency` times.

    Fewer are not an error: with few concepts above the frequency, `limit` does not bind (spec T4).
    """
    return graph.hubs(domain > frequency, limit)


def kept_concepts(reached: np.ndarray, counts: Counts, settings: FilterSettings) -> tuple[np.ndarray, np.ndarray]:
    """Which of `reached` [concepts] bool stay after the general filter, and after the domain's as well."""
    rare = reached & (counts.general <= settings.general_limit)
    return rare, rare & (counts.domain >= settings.domain_least)


def curriculum_sizes(graph: ConceptGraph, counts: Counts, settings: CurriculumSettings) -> dict[str, int]:
    """Concepts after each of `STEPS`."""
    basic = basic_concepts(graph, counts.domain, settings.frequency, settings.basic)
    reached = graph.distances(basic, settings.hops) != UNREACHED
    sets = (reached, *kept_concepts(reached, counts, settings))
    sizes = (len(graph.concepts), int((counts.domain > settings.frequency).sum()), len(basic))
    return dict(zip(STEPS, (*sizes, *(int(one.sum()) for one in sets)), strict=True))


def sweep(graph: ConceptGraph, counts: Counts, settings: SweepSettings) -> Iterator[dict[str, Any]]:
    """The sizes at each value of each threshold, the others as they are: threshold, setting, step, value."""
    given = settings.curriculum
    cells: list[tuple[str, float]] = [("hops", float(hops)) for hops in settings.hops]
    for name in _SWEPT:
        whole = name != "general_limit"
        values = [times * getattr(given, name) for times in settings.times]
        cells += [(name, value) for value in dict.fromkeys(float(max(round(v), 1)) if whole else v for v in values)]
    for name, value in cells:
        chosen = value if name == "general_limit" else int(value)
        found = curriculum_sizes(graph, counts, given.model_copy(update={name: chosen}))
        for step, size in found.items():
            yield {"threshold": name, "setting": value, "step": step, "metric": "concepts", "value": size}
