"""Merging of two models of one architecture by spherical linear interpolation, tensor by tensor (mergekit's slerp)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import torch

# Beyond this cosine (an angle below 1.812 degrees, or its supplement) the arc is as good as a line.
PARALLEL = 0.9995
# A vector that is no longer than this keeps its length where directions are compared.
_SHORT = 1e-8


class MergeSettings(BaseModel):
    """A point between two models."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    fraction: float = Field(ge=-0.1, le=1.1)
    """t: 0 is the first model, 1 the second."""
    dtype: Literal["float32", "float16", "bfloat16"] = "float16"
    """Type of the merged weights; the arithmetic is float32."""


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


def merged_model(first: Path, second: Path, settings: MergeSettings) -> Any:
    """The model between the folders `first` and `second`, in float32 after the cast to `dtype`.

    Raises:
        ReprlabError: their tensors differ in name or shape, or in which of them are tied.
    """
    import torch

    from reprlab.models.build import load_model
    from reprlab.models.shared_weights import names_by_tensor

    model, other = load_model(first), load_model(second)
    theirs = other.state_dict()
    kept = getattr(torch, settings.dtype)
    state = model.state_dict()
    if {name: value.shape for name, value in state.items()} != {name: value.shape for name, value in theirs.items()}:
        raise ReprlabError(f"{second}: its tensors are not those of {first}; merge models of one architecture and size")
    tensors = names_by_tensor(state)
    if tensors != names_by_tensor(theirs):
        raise ReprlabError(
            f"{second}: ties other weights than {first} (an output layer with the embedding, say); merge models that "
            "tie the same"
        )
    with torch.no_grad():
        for name, *_ in tensors:
            value = state[name]
            if value.is_floating_point():
                value.copy_(slerp(settings.fraction, value, theirs[name]).to(kept))
    return model
