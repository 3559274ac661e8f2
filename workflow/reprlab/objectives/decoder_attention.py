"""Inputs of a decoder besides its tokens, with left padding, so that padding changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def attention_inputs(
    attention: torch.Tensor, dtype: torch.dtype, *, bidirectional: bool, before: int = 0
) -> dict[str, Any]:
    """`attention_mask` and `position_ids` of a batch.

    Positions count the tokens and not the padding: where rotary positions would have a gap, scores move by 1e-3.

    Args:
        attention: [B, L], 1 on tokens. dtype: that of the states.
        bidirectional: each token sees all tokens, by an additive mask [B, 1, L, L]; else those before it.
        before: positions that are taken by keys from elsewhere, which every token sees.
    """
    import torch

    positions = (attention.cumsum(1) - 1).clamp(min=0) + before
    seen = torch.cat([attention.new_ones(len(attention), before), attention], dim=1)
    if not bidirectional:
        return {"attention_mask": seen, "position_ids": positions}
    hidden = torch.zeros(seen.shape, dtype=dtype, device=seen.device).masked_fill(seen == 0, torch.finfo(dtype).min)
    mask = hidden[:, None, None, :].expand(-1, 1, attention.shape[1], -1)
    return {"attention_mask": mask, "position_ids": positions}
