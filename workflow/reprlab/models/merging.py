"""Merging of two models of one architecture, tensor by tensor, by a way of `models/merges`."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from reprlab.models.merges.slerp import slerp
from reprlab.plugins import load_plugin
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import torch

__all__ = ["WAYS", "MergeSettings", "merged_model", "slerp"]
WAYS = "models.merges"


class MergeSettings(BaseModel):
    """A model that is made of two; `MergeSettings(fraction=0.5)` is a point of slerp."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    method: str = "slerp"
    """A module of `models/merges`."""
    options: dict[str, Any]
    """Its settings: for slerp `fraction`, 0 for the first model and 1 for the second."""
    dtype: Literal["float32", "float16", "bfloat16"] = "float16"
    """Type of the merged weights; the arithmetic is float64."""

    @model_validator(mode="before")
    @classmethod
    def _of_slerp(cls, values: Any) -> Any:
        if isinstance(values, dict) and "fraction" in values and not {"method", "options"} & set(values):
            rest = {name: value for name, value in values.items() if name != "fraction"}
            return {**rest, "options": {"fraction": values["fraction"]}}
        return values

    @model_validator(mode="after")
    def _options_fit(self) -> Self:
        _way(self.method).Settings.model_validate(self.options)
        return self


def merged_model(first: Path, second: Path, settings: MergeSettings, base: Path | None = None) -> Any:
    """The model made of the folders `first` and `second`, in float32 after the cast to `dtype`.

    Args:
        base: folder of the model that both were trained from, for ways that read it.

    Raises:
        ReprlabError: tensors differ in name or shape, or in which of them are tied; the way reads a base and there is
            none.
    """
    import torch

    from reprlab.models.build import load_model
    from reprlab.models.shared_weights import names_by_tensor

    way = _way(settings.method)
    options = way.Settings.model_validate(settings.options)
    folders = [second]
    if way.NEEDS_BASE:
        if base is None:
            raise ReprlabError(f"{settings.method}: adds to a base model what training changed; name the base")
        folders.append(base)
    model = load_model(first)
    state = model.state_dict()
    tensors = names_by_tensor(state)
    others = [_matching(folder, first, state, tensors) for folder in folders]
    kept = getattr(torch, settings.dtype)
    with torch.no_grad():
        for name, *_ in tensors:
            value = state[name]
            if value.is_floating_point():
                theirs = [other[name].double() for other in others]
                between = theirs[1] if way.NEEDS_BASE else None
                found = way.merge(options, value.double(), theirs[0], between, _random(settings.method, name, options))
                value.copy_(found.to(value.dtype).to(kept))
    return model


def _way(name: str) -> Any:
    return load_plugin(WAYS, name)


def _matching(folder: Path, first: Path, state: dict[str, Any], tensors: Any) -> dict[str, torch.Tensor]:
    """The tensors of another model, which are named, shaped and tied as those of the first."""
    from reprlab.models.build import load_model
    from reprlab.models.shared_weights import names_by_tensor

    theirs = load_model(folder).state_dict()
    if {name: value.shape for name, value in state.items()} != {name: value.shape for name, value in theirs.items()}:
        raise ReprlabError(f"{folder}: its tensors are not those of {first}; merge models of one architecture and size")
    if tensors != names_by_tensor(theirs):
        raise ReprlabError(
            f"{folder}: ties other weights than {first} (an output layer with the embedding, say); merge models that "
            "tie the same"
        )
    return theirs


def _random(method: str, tensor: str, options: Any) -> torch.Generator:
    """A generator of its own for each tensor: what is drawn for one does not depend on the others."""
    import torch

    digest = hashlib.sha256(f"{method} {tensor} {getattr(options, 'seed', 0)}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))
