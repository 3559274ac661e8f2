"""Encoders of which one state is read, that of the first token: their last layer is computed for it alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

# Encoders of BERT's modules: `encoder.layer[i].attention.self` with query, key and value, and what follows them.
_KINDS = ("bert", "roberta", "electra")


@contextlib.contextmanager
def only_first_state(encoder: Any) -> Iterator[None]:
    """Within this context `encoder` returns its first state alone [B, 1, d], the same as otherwise, without dropout.

    The last layer's keys and values are those of all tokens; its query, output and feed-forward part, five sixths of
    its products of matrices, are those of one. Encoders that are not built as BERT is stay as they are.
    """
    if encoder.config.model_type not in _KINDS or encoder.config.is_decoder:
        yield
        return
    layers = encoder.encoder.layer
    last = layers[-1]
    layers[-1] = _of_first(last)
    try:
        yield
    finally:
        layers[-1] = last


def _of_first(layer: Any) -> Any:
    import torch

    class FirstOfLayer(torch.nn.Module):
        def forward(self, states: torch.Tensor, mask: torch.Tensor | None = None, *_: Any, **__: Any) -> torch.Tensor:
            attention = layer.attention.self
            heads, width = attention.num_attention_heads, attention.attention_head_size

            def split(projection: Any, tokens: torch.Tensor) -> torch.Tensor:
                return projection(tokens).view(*tokens.shape[:2], heads, width).transpose(1, 2)

            if mask is not None:
                # Flash attention is given [B, L], the others [B, 1, L or 1, L].
                mask = mask[:, None, None, :].bool() if mask.dim() == 2 else mask[:, :, :1]
            first = states[:, :1]
            context = torch.nn.functional.scaled_dot_product_attention(
                split(attention.query, first),
                split(attention.key, states),
                split(attention.value, states),
                attn_mask=mask,
            )
            seen = layer.attention.output(context.transpose(1, 2).reshape(len(states), 1, heads * width), first)
            return layer.output(layer.intermediate(seen), seen)

    return FirstOfLayer()
