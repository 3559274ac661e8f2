"""Variations of a paper: settings that could make a finding by themselves, each changed once to see whether it does.

They are the list `sensitivity` of `config/papers/<slug>.yaml`, one entry for each decision of ours that touches the
sides of a claim's contrast unequally, and one that trains for three times as many updates.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, ValidationError

from reprlab.runtime.errors import ReprlabError
from reprlab.settings.base import Distinct, SafeName, Settings
from reprlab.settings.errors import nearest, registry_error
from reprlab.settings.overrides import Layer

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig


class Variation(Settings):
    """One change of settings, and the claims that are judged again under it."""

    name: SafeName
    reason: Annotated[str, Field(min_length=10)]
    """Why the change could turn a verdict."""
    words: Annotated[str, Field(min_length=3)]
    """What is another, behind "depends on": `the start of adapters (as PyTorch draws them)`."""
    claims: Annotated[list[str], Field(min_length=1), Distinct]
    """Their ids."""
    set: dict[str, Any] = {}
    """New values by dotted setting of the paper. Lists that plan more than the claims need are cut here as well."""
    times: dict[str, float] = {}
    """Factors of numbers, by dotted setting."""
    scales: list[str] = []
    """Scales at which it is made; empty: all."""


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
    names = [one.name for one in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ReprlabError(f"{where}: two variations of {slug} are named {twice[0]}; rename one of them")
    return [one for one in found if not one.scales or scale in one.scales]


def edits_of(variation: Variation, config: LoadedConfig, slug: str) -> list[str]:
    """The variation as dotted edits of the settings of a run, `papers.<slug>.<setting>=<value>`.

    Raises:
        ReprlabError: a factor is given for what is not there or is not a number.
    """
    values = config.plain(slug)
    return [
        f"papers.{slug}.{name}={json.dumps(value)}"
        for name, value in (*_products(variation, values, slug), *variation.set.items())
    ]


def _products(variation: Variation, values: Mapping[str, Any], slug: str) -> Iterator[tuple[str, int | float]]:
    for name, factor in variation.times.items():
        found: Any = values
        for key in name.split("."):
            known = list(found) if isinstance(found, Mapping) else []
            if key not in known:
                said = f"config/papers/{slug}.yaml: sensitivity.{variation.name}.times.{name}: there is no such setting"
                raise ReprlabError(f"{said}{nearest(key, known)}")
            found = found[key]
        if isinstance(found, bool) or not isinstance(found, int | float):
            said = f"config/papers/{slug}.yaml: sensitivity.{variation.name}.times.{name}"
            raise ReprlabError(f"{said}: is {found!r}, not a number; name it under `set` with its new value")
        yield name, round(found * factor) if isinstance(found, int) else found * factor
