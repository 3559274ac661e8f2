"""TIES (Yadav et al. 2023): changes are trimmed, a sign is elected for each number, and those of that sign averaged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from reprlab.models.merges import task_arithmetic

if TYPE_CHECKING:
    import torch

NEEDS_BASE = True


class Settings(task_arithmetic.Settings):
    """Task arithmetic of trimmed changes that agree in sign."""

    density: float = Field(gt=0, le=1)
    """Share of the numbers of a change, the largest ones of each tensor, that stay."""


def merge(
    settings: Settings, first: torch.Tensor, second: torch.Tensor, base: torch.Tensor, random: Any
) -> torch.Tensor:
    """base + scale times the mean, over the models of the elected sign, of their trimmed and weighted changes.

    The elected sign is that of the sum of the trimmed changes; where it is 0, it is positive.
    """
    import torch

    trimmed = torch.stack([_trimmed(settings.density, one - base) for one in (first, second)])
    elected = torch.where(trimmed.sum(0) >= 0, 1.0, -1.0)
    agreeing = (trimmed.sign() == elected).to(trimmed.dtype)
    weights = torch.tensor(settings.weights, dtype=trimmed.dtype).reshape(-1, *[1] * first.ndim)
    return base + settings.scale * (trimmed * weights * agreeing).sum(0) / agreeing.sum(0).clamp(min=1)


def _trimmed(density: float, change: torch.Tensor) -> torch.Tensor:
    import torch

    kept = change.flatten().abs().topk(int(density * change.numel())).indices
    mask = torch.zeros(change.numel(), dtype=change.dtype)
    mask[kept] = 1
    return change * mask.reshape(change.shape)
