"""Cached keys and values that a batch reads and does not add to."""

from __future__ import annotations

from typing import Any

import torch
from transformers.cache_utils import Cache, DynamicLayer


class _StartLayer(DynamicLayer):
    """Keys and values [1, heads, S, d] of a start, before those of any batch."""

    def __init__(self, start: Any) -> None:
        super().__init__()
        self.lazy_initialization(start.keys, start.values)
        self.keys, self.values = start.keys, start.values

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values [B, heads, S + L, d]; they are gone when the layer of the model is done with them."""
        return _after(self.keys, key_states), _after(self.values, value_states)


def _after(start: Any, states: torch.Tensor) -> torch.Tensor:
    return torch.cat([start.expand(len(states), -1, -1, -1), states], dim=-2)


def reading_cache(cache: Any) -> Cache:
    """A cache of the same start for batches of any size, which leaves `cache` as it is."""
    return Cache(layers=[_StartLayer(layer) for layer in cache.layers])
