"""Weights that a model has under several names, as an output layer that is its embedding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def names_by_tensor(state: Mapping[str, torch.Tensor]) -> list[tuple[str, ...]]:
    """The names of each tensor of a model's state, in the order of the state: several where weights are tied.

    `state_dict()` lists a tied tensor under each of its names, so that what changes tensors in place, or adds up over
    them, would meet it more than once. Names of one tensor are those of one place in memory with one layout.
    """
    found: dict[tuple[object, ...], list[str]] = {}
    for name, value in state.items():
        # A tensor without elements has no place of its own.
        place = (value.device, value.data_ptr(), value.shape, value.stride()) if value.numel() else (name,)
        found.setdefault(place, []).append(name)
    return [tuple(names) for names in found.values()]
