"""Encoders whose lowest layers are kept as they are, so that training goes back through the upper ones alone."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import torch

# Bytes of states that are remembered; what comes later is computed each time.
_REMEMBERED = 2**28


def freeze_lowest(encoder: Any, layers: int, *, recurring: bool = False) -> None:
    """Keep the embeddings and the lowest `layers` layers of an encoder as they are, in place; 0 trains everything.

    What is kept gets no gradient and draws no dropout: it is the same function of a text at each step. Words that were
    added to the vocabulary keep the vectors they were drawn with.

    Args:
        recurring: the same batches come again in each pass, as those of one document do. On a CPU the states that the
            kept layers gave for them are then used again, bit by bit the same.

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
            f"frozen_layers: {layers}, but {type(encoder).__name__} has {len(stack)}; train one at least"
        )
    # ELECTRA's embeddings are projected to the layers' width. MPNet's layers share the bias by distance, which has its
    # gradient from each of them.
    beside = (getattr(encoder, "embeddings_project", None), getattr(encoder.encoder, "relative_attention_bias", None))
    for part in (embeddings, *(one for one in beside if one is not None), *stack[:layers]):
        part.requires_grad_(False)
        for module in part.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
    if recurring and encoder.config.model_type != "mpnet":
        # A layer of MPNet gives a tuple.
        _remember(stack[:layers])


def _remember(kept: Any) -> None:
    """Let the first of the layers give what all of them give, from memory where it can, and the others pass it on.

    Their `forward` is replaced and no module: what is saved has the same names.
    """
    import torch

    forwards = [layer.forward for layer in kept]
    known: dict[bytes, torch.Tensor] = {}

    def whole(states: torch.Tensor, *rest: Any, **options: Any) -> torch.Tensor:
        for forward in forwards:
            states = forward(states, *rest, **options)
        return states

    def first(states: torch.Tensor, mask: torch.Tensor | None = None, *rest: Any, **options: Any) -> torch.Tensor:
        if states.device.type != "cpu" or not torch.is_grad_enabled():
            return whole(states, mask, *rest, **options)
        about = (states.shape, states.dtype, torch.is_autocast_enabled("cpu"), mask is None)
        digest = hashlib.blake2b(repr(about).encode())
        for part in (states, *(() if mask is None else (mask,))):
            digest.update(part.contiguous().view(torch.uint8).numpy())
        key = digest.digest()
        if key in known:
            return known[key]
        found = whole(states, mask, *rest, **options)
        if found.nbytes * (len(known) + 1) < _REMEMBERED:
            known[key] = found
        return found

    kept[0].forward = first
    for layer in kept[1:]:
        layer.forward = lambda states, *_, **__: states
