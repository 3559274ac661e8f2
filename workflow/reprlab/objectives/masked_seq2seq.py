"""A T5 that takes one mask for each of its three attentions.

`T5ForConditionalGeneration.forward` has a single `attention_mask` for the encoder and for cross-attention, so the
encoder and the decoder are called here by themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from reprlab.objectives.attention_masks import AttentionMasks


def mask_dtype(model: Any) -> torch.dtype:
    """The dtype in which this model's masks are built: that of its weights."""
    return unwrapped(model).get_input_embeddings().weight.dtype


def unwrapped(model: Any) -> Any:
    """The model inside a wrapper of data parallelism."""
    return model.module if hasattr(model, "module") else model


def encode(model: Any, encoder_ids: torch.Tensor, encoder_mask: torch.Tensor) -> torch.Tensor:
    """Encoder output [B, Le, D] under an additive mask [B or 1, 1, Le or 1, Le]."""
    return unwrapped(model).encoder(input_ids=encoder_ids, attention_mask=encoder_mask).last_hidden_state


def decoder_states(
    model: Any, encoder_ids: torch.Tensor, decoder_ids: torch.Tensor, masks: AttentionMasks
) -> torch.Tensor:
    """Decoder output [B, Ld, D], ready for `project`.

    Tied v1.0 models scale it by d_model ** -0.5 as transformers does; v1.1 models do not.
    """
    inner = unwrapped(model)
    states = inner.decoder(
        input_ids=decoder_ids,
        attention_mask=masks.decoder,
        encoder_hidden_states=encode(inner, encoder_ids, masks.encoder),
        encoder_attention_mask=masks.cross,
        use_cache=False,
    ).last_hidden_state
    return states * (inner.model_dim**-0.5) if inner.config.scale_decoder_outputs else states


def project(model: Any, states: torch.Tensor) -> torch.Tensor:
    """Logits [..., V] of decoder states [..., D]."""
    return unwrapped(model).lm_head(states)


def seq2seq_logits(
    model: Any, encoder_ids: torch.Tensor, decoder_ids: torch.Tensor, masks: AttentionMasks
) -> torch.Tensor:
    """Logits [B, Ld, V] of a `T5ForConditionalGeneration` under separate masks."""
    return project(model, decoder_states(model, encoder_ids, decoder_ids, masks))
