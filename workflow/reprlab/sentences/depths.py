"""Depths of a pruned model: shares of its layers, and the two depths that its untrained losses name (L3Prune)."""

from __future__ import annotations

from collections.abc import Sequence

from reprlab.runtime.errors import ReprlabError


def kept_layers(layers: int, percent: int) -> int:
    """Layers that are left when `percent` of them are dropped: floor(n (1 - p)), by whole numbers.

    In floating point 10 layers less 90 % would be none.

    Raises:
        ReprlabError: nothing would be left, or the share is not a share.
    """
    if not 0 <= percent < 100:
        raise ReprlabError(f"prune {percent} % of the layers: write a share from 0 to 99")
    kept = layers * (100 - percent) // 100
    if kept < 1:
        most = 100 * (layers - 1) // layers
        raise ReprlabError(f"prune {percent} % of {layers} layers: none would be left; prune at most {most} %")
    return kept


def chosen_depths(losses: Sequence[float]) -> tuple[int, int]:
    """The number of layers with the least loss in the lower half, and in the upper half (L3Prune, section 3.2).

    Of equal losses the lower depth is taken. A loss that still falls at the end chooses the whole model.

    Args:
        losses: [n], that of the model cut to 1, 2, ..., n layers.

    Raises:
        ReprlabError: fewer than two layers have no halves, or a loss is not finite.
    """
    import math

    if len(losses) < 2:
        raise ReprlabError(f"{len(losses)} layers have no lower and upper half to choose depths from")
    if not all(map(math.isfinite, losses)):
        raise ReprlabError(f"the loss of layer {[*map(math.isfinite, losses)].index(False) + 1} is not finite")
    half = len(losses) // 2
    halves = range(1, half + 1), range(half + 1, len(losses) + 1)
    small, large = (min(depths, key=lambda depth: (losses[depth - 1], depth)) for depths in halves)
    return small, large
