"""The line between two models (model soups, Wortsman et al. 2022)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reprlab.models.merges import slerp

if TYPE_CHECKING:
    import torch

NEEDS_BASE = False


class Settings(slerp.Settings):
    """A point of the line; 0 is the first model, 1 the second, each bit for bit."""


def merge(settings: Settings, first: torch.Tensor, second: torch.Tensor, base: Any, random: Any) -> torch.Tensor:
    """(1 - t) first + t second."""
    return (1 - settings.fraction) * first + settings.fraction * second
