"""Variations of a paper: settings that could make a finding by themselves, each changed once to see whether it does.

They are the list `sensitivity` of `config/papers/<slug>.yaml`, one entry for each decision of ours that touches the
sides of a claim's contrast unequally, and one that trains for three times as many updates.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field, ValidationError

from reprlab.runtime.errors import ReprlabError
from reprlab.settings.base import Distinct, SafeName, Settings
from reprlab.settings.errors import nearest, registry_error
from reprlab.settings.overrides import Layer


class Variation(Settings):
    """One change of settings, and the claims that are judged again under it."""

    name: SafeName
    reason: Annotated[str, Field(min_length=10)]
    """Why the change could turn a verdict."""
    words: Annotated[str, Field(min_length=3)]
    """What is another, behind "depends on": `the start of adapters (as PyTorch draws them)`."""
    claims: Annotated[list[str], Field(min_length=1), Distinct]
    """Their ids."""
    set: dict[str, Any] = Field(default_factory=dict)
    """New values by dotted setting of the paper."""
    times: dict[str, float] = Field(default_factory=dict)
    """Factors of a number, or of each number of a list, by dotted setting."""
    cut: dict[str, Any] = Field(default_factory=dict)
    """What is left out before and after, for minutes: seeds, and conditions that the claims do not need."""
    scales: list[str] = Field(default_factory=list)
    """Scales at which it is made; empty: all. Two variations may have one name where they have no scale in common."""


def variations_of(file: Layer, slug: str, scale: str) -> list[Variation]:
    """The variations in a paper's file that are made at a scale.

    Raises:
        ReprlabError: the list is not one of variations, or two have one name.
    """
    where, given = f"{file.origin}: sensitivity", file.values.get("sensitivity", [])
    if not isinstance(given, list):
        raise ReprlabError(f"{where}: must be a list of variations (got {str(given)[:80]!r})")
    found = []
    for place, values in enumerate(given):
        try:
            found.append(Variation.model_validate(values, strict=True))
        except ValidationError as error:
            raise registry_error(error, Variation, f"{where}.{place}.") from None
    found = [one for one in found if not one.scales or scale in one.scales]
    names = [one.name for one in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ReprlabError(f"{where}: two variations of {slug} are named {twice[0]}; rename one of them")
    return found


def edits_of(variation: Variation, values: Mapping[str, Any], slug: str, *, before: bool = False) -> list[str]:
    """The variation as dotted edits of a run, `papers.<slug>.<setting>=<value>`; `before`: its cut alone. `values`: of
    the paper, as the run has them.

    Raises:
        ReprlabError: a factor is given for what is not there or is not a number.
    """
    changed = [] if before else [*_products(variation, values, slug), *variation.set.items()]
    return [f"papers.{slug}.{name}={json.dumps(value)}" for name, value in (*variation.cut.items(), *changed)]


def _products(variation: Variation, values: Mapping[str, Any], slug: str) -> Iterator[tuple[str, Any]]:
    for name, factor in variation.times.items():
        found: Any = values
        where = f"config/papers/{slug}.yaml: sensitivity.{variation.name}.times.{name}"
        for key in name.split("."):
            known = list(found) if isinstance(found, Mapping) else []
            if key not in known:
                raise ReprlabError(f"{where}: there is no such setting{nearest(key, known)}")
            found = found[key]
        numbers = found if isinstance(found, list) else [found]
        if any(isinstance(one, bool) or not isinstance(one, int | float) for one in numbers):
            raise ReprlabError(f"{where}: is {found!r}, not a number; name it under `set` with its new value")
        times = [round(one * factor) if isinstance(one, int) else one * factor for one in numbers]
        yield name, times if isinstance(found, list) else times[0]
