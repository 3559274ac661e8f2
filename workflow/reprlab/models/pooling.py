"""One vector for a text from the states of its tokens, whatever side is padded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import torch

Pooling = Literal["first", "last", "mean", "weighted_mean"]


def pool(
    states: torch.Tensor, attention: torch.Tensor, pooling: Pooling, text: torch.Tensor | None = None
) -> torch.Tensor:
    """[B, d] float32 of the states [B, L, d].

    `weighted_mean` weighs the i-th token by i / (1 + ... + L), counted from the first one that is pooled (Muennighoff
    2022). Sums are taken in float32, because in bfloat16 they hide small differences.

    Args:
        attention: [B, L], 1 on tokens and 0 on padding; every row has a token.
        text: [B, L], 1 on the tokens that are pooled, a part of `attention` (an instruction is left out); all of them
            by default. A row without any stands for its last token.
    """
    import torch

    states, chosen = states.float(), attention if text is None else text
    positions = torch.arange(states.shape[1], device=states.device)
    last = torch.nn.functional.one_hot((attention * positions).argmax(1), states.shape[1])
    chosen = torch.where(chosen.any(1, keepdim=True), chosen, last)
    if pooling == "first":
        return states[torch.arange(len(states)), chosen.argmax(1)]
    if pooling == "last":
        return states[torch.arange(len(states)), (chosen * positions).argmax(1)]
    weights = (chosen.cumsum(1) * chosen if pooling == "weighted_mean" else chosen).float()
    with torch.autocast(states.device.type, enabled=False):
        return torch.einsum("bl,bld->bd", weights, states) / weights.sum(1, keepdim=True)
