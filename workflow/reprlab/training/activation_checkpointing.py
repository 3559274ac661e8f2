"""Activation checkpointing: of each block its input is kept, and its forward pass is made again for its gradient."""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

# Names of a cache among a block's arguments.
_CACHES = ("past_key_values", "layer_past", "cache_params")


@contextlib.contextmanager
def checkpointed_blocks(model: torch.nn.Module) -> Iterator[int]:
    """Within this context the blocks of transformers in `model` keep their inputs alone; yields how many there are.

    What is made again is what was made: with the same dropout, precision and attention kernels. Unlike transformers'
    own switch it also works where the modules are not in training, as decoders that are trained without dropout.
    """
    from transformers.modeling_layers import GradientCheckpointingLayer

    blocks = [module for module in model.modules() if isinstance(module, GradientCheckpointingLayer)]
    for block in blocks:
        block.forward = _checkpointed(block.forward)
    try:
        yield len(blocks)
    finally:
        for block in blocks:
            del block.forward


def _checkpointed(forward: Any) -> Any:
    import torch
    from torch.utils.checkpoint import checkpoint

    @functools.wraps(forward)
    def made_again(*inputs: Any, **named: Any) -> Any:
        if not torch.is_grad_enabled():
            return forward(*inputs, **named)
        caches = {name: named.pop(name) for name in _CACHES if named.get(name) is not None}

        def block(*inputs: Any, **named: Any) -> Any:
            # Made again, a block would write to the cache twice, and the cache would keep what is not to be kept.
            # Without any, a trained prefix would be lost, and keys and values would lie otherwise and round otherwise.
            return forward(*inputs, **named, **{name: _copied(cache) for name, cache in caches.items()})

        return checkpoint(block, *inputs, use_reentrant=False, context_fn=_same_kernels, **named)

    return made_again


def _copied(cache: Any) -> Any:
    """A cache with the same tensors, to which a block may write: it binds longer ones to its own layer."""
    found = copy.copy(cache)
    for name, value in vars(cache).items():
        if name in ("self_attention_cache", "cross_attention_cache"):
            setattr(found, name, _copied(value))
        elif name == "layers":
            setattr(found, name, [copy.copy(layer) for layer in value])
        elif isinstance(value, dict):
            setattr(found, name, dict(value))
    return found


def _same_kernels() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """The contexts of the first pass and of the one that is made outside of whatever context the first was in."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = {
        SDPBackend.FLASH_ATTENTION: torch.backends.cuda.flash_sdp_enabled(),
        SDPBackend.EFFICIENT_ATTENTION: torch.backends.cuda.mem_efficient_sdp_enabled(),
        SDPBackend.MATH: torch.backends.cuda.math_sdp_enabled(),
        SDPBackend.CUDNN_ATTENTION: torch.backends.cuda.cudnn_sdp_enabled(),
    }
    return contextlib.nullcontext(), sdpa_kernel([kernel for kernel, on in allowed.items() if on])
