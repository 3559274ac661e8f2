"""Task arithmetic (Ilharco et al. 2023): the base plus a weighted sum of what each training changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    import torch

NEEDS_BASE = True


class Settings(BaseModel):
    """How much of each change is added."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    scale: float = Field(default=1.0, ge=0)
    """Factor of both changes."""
    weights: tuple[float, float] = (1.0, 1.0)
    """Of the first model's change and of the second's; with a scale of 1, (1, 0) is the first model bit for bit."""


def merge(
    settings: Settings, first: torch.Tensor, second: torch.Tensor, base: torch.Tensor, random: Any
) -> torch.Tensor:
    """base + scale (w1 (first - base) + w2 (second - base))."""
    return base + settings.scale * weighted(settings, first - base, second - base)


def weighted(settings: Settings, one: torch.Tensor, two: torch.Tensor) -> torch.Tensor:
    """The weighted sum of both changes."""
    return settings.weights[0] * one + settings.weights[1] * two
