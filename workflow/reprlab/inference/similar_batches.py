"""Batches of similar length for a forward pass: by number where a pass is launched, by tokens where it is computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reprlab.inference.generation import sorted_batches

if TYPE_CHECKING:
    import numpy as np

# Of the sizes tried the one with fewest seconds a token: what a layer computes stays in the cache, and short texts yet
# share the cost of a pass. Documents of 150 tokens take twice as long a token in batches of 64.
_CPU_TOKENS = 2048


def similar_batches(lengths: np.ndarray, batch_size: int, device: str) -> Iterator[np.ndarray]:
    """Row numbers in batches of similar length, longest first: `batch_size` rows, or on a CPU at most 2,048 tokens.

    Padding counts among the tokens; a text that is longer is alone in its batch.
    """
    import numpy as np

    if device != "cpu":
        yield from sorted_batches(lengths, batch_size)
        return
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        end = start + max(1, _CPU_TOKENS // max(1, int(lengths[order[start]])))
        yield order[start:end]
        start = end
