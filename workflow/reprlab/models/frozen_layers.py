"""Encoders whose lowest layers are kept as they are, so that training goes back through the upper ones alone."""

from __future__ import annotations

from typing import Any

from reprlab.runtime.errors import ReprlabError


def freeze_lowest(encoder: Any, layers: int) -> None:
    """Keep the embeddings and the lowest `layers` layers of an encoder as they are, in place; 0 trains everything.

    What is kept gets no gradient and draws no dropout: it is the same function of a text at each step. Words that were
    added to the vocabulary keep the vectors they were drawn with.

    Raises:
        ReprlabError: the encoder is not built as BERT is (`embeddings`, `encoder.layer`), or no layer would be trained.
    """
    if layers == 0:
        return
    import torch

    try:
        embeddings, stack = encoder.embeddings, encoder.encoder.layer
    except AttributeError:
        raise ReprlabError(
            f"frozen_layers: {type(encoder).__name__} does not keep its layers as BERT does; set it to 0"
        ) from None
    if layers >= len(stack):
        raise ReprlabError(
            f"frozen_layers: {layers}, but {type(encoder).__name__} has {len(stack)}; leave one to train"
        )
    # ELECTRA's embeddings are projected to the layers' width. MPNet's layers share the bias by distance, which has its
    # gradient from each of them.
    beside = (getattr(encoder, "embeddings_project", None), getattr(encoder.encoder, "relative_attention_bias", None))
    for part in (embeddings, *(one for one in beside if one is not None), *stack[:layers]):
        part.requires_grad_(False)
        for module in part.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
