"""Spherical linear interpolation, tensor by tensor, as mergekit has it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    import torch

NEEDS_BASE = False
# Beyond this cosine (an angle below 1.812 degrees, or its supplement) the arc is as good as a line.
PARALLEL = 0.9995
# A vector that is no longer than this keeps its length where directions are compared.
_SHORT = 1e-8


class Settings(BaseModel):
    """A point of the arc."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    fraction: float = Field(ge=-0.1, le=1.1)
    """t: 0 is the first model, 1 the second."""


def merge(settings: Settings, first: torch.Tensor, second: torch.Tensor, base: Any, random: Any) -> torch.Tensor:
    """The point at the settings' fraction of the arc."""
    return slerp(settings.fraction, first, second)


def slerp(fraction: float, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """The point at `fraction` of the arc from `first` (0) to `second` (1), tensors of one shape, taken as vectors.

    Directions are compared at unit length and the weights applied to the vectors as they are; vectors that are nearly
    parallel or antiparallel are interpolated linearly.
    """
    one, two = first.double().flatten(), second.double().flatten()
    cosine = float((_unit(one) * _unit(two)).sum())
    if abs(cosine) > PARALLEL:
        weights = (1 - fraction, fraction)
    else:
        angle = math.acos(cosine)
        weights = (math.sin((1 - fraction) * angle) / math.sin(angle), math.sin(fraction * angle) / math.sin(angle))
    return (weights[0] * first.double() + weights[1] * second.double()).to(first.dtype)


def _unit(vector: torch.Tensor) -> torch.Tensor:
    norm = vector.norm()
    return vector / norm if norm > _SHORT else vector
