"""DARE (Yu et al. 2024; DAREx): changes are dropped at random and the rest is enlarged, then added to the base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from reprlab.models.merges import task_arithmetic

if TYPE_CHECKING:
    import torch

NEEDS_BASE = True


class Settings(task_arithmetic.Settings):
    """Task arithmetic of thinned changes."""

    drop: float = Field(ge=0, le=1)
    """p: share of the numbers of a change that are dropped. 0 is task arithmetic bit for bit, 1 the base."""
    rescale: float | None = Field(default=None, gt=0)
    """q: what is kept is divided by it; null: by 1 - p, so that the mean over draws is the whole change."""
    seed: int = Field(default=0, ge=0)
    """Of what is dropped."""


def merge(
    settings: Settings, first: torch.Tensor, second: torch.Tensor, base: torch.Tensor, random: torch.Generator
) -> torch.Tensor:
    """base + scale (w1 m1 (first - base) + w2 m2 (second - base)) / q with masks m of share 1 - p."""
    thinned = [_thinned(settings, one - base, random) for one in (first, second)]
    return base + settings.scale * task_arithmetic.weighted(settings, *thinned)


def _thinned(settings: Settings, change: torch.Tensor, random: torch.Generator) -> torch.Tensor:
    import torch

    if settings.drop == 1:
        return torch.zeros_like(change)
    kept = torch.rand(change.shape, generator=random, dtype=torch.float64) >= settings.drop
    return change * kept / (settings.rescale or 1 - settings.drop)
