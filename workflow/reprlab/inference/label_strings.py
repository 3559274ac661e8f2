"""The likeliest of a few label strings for an encoder-decoder, so that every answer is in the set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def label_string_scores(
    model: Any, input_ids: torch.Tensor, attention_mask: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    """[B, C] float32: mean log-probability of the tokens of each label string; the inputs are encoded once.

    Args:
        input_ids: [B, L]. attention_mask: [B, L].
        labels: [C, T] ids of the label strings with their end token, -100 behind it.
    """
    from transformers.modeling_outputs import BaseModelOutput

    rows, classes = len(input_ids), len(labels)
    states = model.get_encoder()(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
    # Without `labels`, of which the model would make a loss that nobody reads.
    logits = model(
        encoder_outputs=BaseModelOutput(last_hidden_state=states.repeat_interleave(classes, dim=0)),
        attention_mask=attention_mask.repeat_interleave(classes, dim=0),
        decoder_input_ids=model.prepare_decoder_input_ids_from_labels(labels).repeat(rows, 1),
    ).logits.float()
    known = labels != -100
    tokens = labels.clamp(min=0).repeat(rows, 1).unsqueeze(-1)
    chosen = logits.gather(-1, tokens).squeeze(-1) - logits.logsumexp(-1)
    return (chosen.view(rows, classes, -1) * known).sum(-1) / known.sum(-1)
