"""The common beginning of all texts of a cell (the solved examples), run through a decoder once for all of them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

# Shorter starts are not worth a run of their own.
_LEAST = 16


class SharedStart:
    """Cached keys and values of the tokens that all texts begin with.

    Attributes:
        length: how many tokens these are.
    """

    def __init__(self, model: Any, ids: Sequence[int], device: Any) -> None:
        import torch

        self.length = len(ids)
        with torch.inference_mode():
            output = model(input_ids=torch.tensor([list(ids)], device=device), use_cache=True, logits_to_keep=1)
        self._cache = output.past_key_values

    def to_read(self) -> Any:
        """A cache that a batch of any size reads: it keeps nothing of the batch."""
        from reprlab.inference.start_layers import reading_cache

        return reading_cache(self._cache)

    def to_grow(self, rows: int) -> Any:
        """A cache of its own for a batch of `rows` texts, which generation goes on with."""
        cache = copy.deepcopy(self._cache)
        cache.batch_repeat_interleave(rows)
        return cache


def shared_start(model: Any, texts: Sequence[list[int]], device: Any) -> SharedStart | None:
    """The start that all texts share, or none where that is short; the last token of each text is not part of it.

    One text that lost an example for its length begins with another one: then hardly anything is common to all.
    """
    # All texts lie, in order, between the smallest and the largest: what these two share, all share.
    pairs = enumerate(zip(min(texts), max(texts), strict=False))
    shortest = min(map(len, texts))
    length = min(next((place for place, (one, other) in pairs if one != other), shortest), shortest - 1)
    return SharedStart(model, texts[0][:length], device) if length >= _LEAST and len(texts) > 1 else None
