"""RE-Adapt (Fleshman and Van Durme 2024): further pre-training of the base, and what fine-tuning changed before it.

LoRE-Adapt keeps a low rank of the fine-tuning's change to each matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    import torch

NEEDS_BASE = True


class Settings(BaseModel):
    """How much of the fine-tuning stays."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rank: int | None = Field(default=None, ge=0)
    """r: of the change to each matrix the r largest singular values stay; null: all of it."""


def merge(
    settings: Settings, first: torch.Tensor, second: torch.Tensor, base: torch.Tensor, random: Any
) -> torch.Tensor:
    """first + (second - base): `first` was fine-tuned from the base, `second` is the base after further pre-training.

    In this order nothing is rounded where `second` is the base: that gives `first` bit for bit. With a rank, what it
    leaves out of first - base is taken off first; tensors that are no matrices keep their whole change.
    """
    if settings.rank is not None and first.ndim == 2:
        first = first - left_out(settings.rank, first - base)
    return first + (second - base)


def left_out(rank: int, change: torch.Tensor) -> torch.Tensor:
    """A matrix [m, n] less its best approximation of a rank; its norm is that of the further singular values."""
    import torch

    left, values, right = torch.linalg.svd(change, full_matrices=False)
    return left[:, rank:] * values[rank:] @ right[rank:]
