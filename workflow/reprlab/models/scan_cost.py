"""Cost of Mamba's compiled kernels, by formula: PyTorch counts products of matrices, which scans are not.

A kernel keeps its inputs for the backward pass, no state: it goes through them again there. In training one kernel does
a whole block from the first projection on, and keeps what it is given and what its scan puts out; the rest it computes
again. Source: `MambaInnerFn` (selective_scan_interface.py) and `MambaSplitConv1dScanCombinedFn` (ssd_combined.py) of
state-spaces/mamba, which transformers calls in training.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

# The backward pass of a kernel: twice the work of the forward pass, as with matrices, and the states once more.
_BACKWARD = 3
_BACKWARD_OF_CONVOLUTION = 2
_BACKWARD_OF_PRODUCTS = 2
# Tokens after each of which the kernel of Mamba-1 keeps the states, with the product of decays up to there.
_STATES_EVERY = 2048


def selective_scan_flops(length: int, channels: int, states: int) -> int:
    """Mamba-1, one example: for each token, channel and state the decay (a product and its exponential), the input (a
    product), the new state (a product and a sum) and what is read of it (the same)."""
    return 7 * length * channels * states


def state_space_dual_flops(length: int, heads: int, width: int, groups: int, states: int, chunk: int) -> int:
    """Mamba-2, one example: products of matrices over chunks, the upper half of a chunk's scores included.

    Scores of a group and their product with the inputs of each head, then the states at the ends of chunks and what is
    read of them. Source: Dao and Gu 2024, section 6.
    """
    inside = 2 * chunk * (groups * states + heads * width)
    return length * (inside + 4 * heads * width * states)


@contextlib.contextmanager
def counted_kernels() -> Iterator[list[int]]:
    """Within it transformers' Mamba models call what computes nothing; the list gets the FLOPs of each call, with those
    of its backward pass where there will be one."""
    from transformers.models.mamba import modeling_mamba
    from transformers.models.mamba2 import modeling_mamba2

    found: list[int] = []

    def book(forward: int, backward: int, inputs: Any) -> None:
        import torch

        found.append(forward * (1 + backward if torch.is_grad_enabled() and inputs.requires_grad else 1))

    def scan(inputs: Any, dt: Any, A: Any, B: Any, C: Any, *_: Any, z: Any = None, **__: Any) -> Any:  # noqa: N803
        batch, channels, length = inputs.shape
        book(batch * selective_scan_flops(length, channels, A.shape[1]), _BACKWARD, inputs)
        return _kernel().apply(inputs, dt, B, C, z)

    def dual(inputs: Any, dt: Any, A: Any, B: Any, C: Any, chunk_size: int, *_: Any, **__: Any) -> Any:  # noqa: N803
        batch, length, heads, width = inputs.shape
        groups, states = B.shape[2:]
        flops = state_space_dual_flops(length, heads, width, groups, states, chunk_size)
        book(batch * flops, _BACKWARD, inputs)
        return _kernel().apply(inputs, dt, B, C)

    def convolution(inputs: Any, weight: Any, *_: Any, **__: Any) -> Any:
        book(2 * inputs.numel() * weight.shape[-1], _BACKWARD_OF_CONVOLUTION, inputs)
        return _kernel().apply(inputs)

    def block(forward: int, backward: int, inputs: torch.Tensor, width: int, *kept: torch.Tensor) -> torch.Tensor:
        import torch

        found.append(forward + (backward if torch.is_grad_enabled() and inputs.requires_grad else 0))
        return _block().apply(inputs, width, *kept)

    def mamba_block(inputs: Any, taps: Any, _: Any, mixed: Any, steps: Any, out: Any, *rest: Any, **__: Any) -> Any:
        import torch

        batch, _, length = inputs.shape
        # A, behind the bias of the last projection.
        channels, states = rest[1].shape
        product = 2 * batch * length * channels
        of_steps, products = product * steps.shape[1], product * (mixed.shape[0] + steps.shape[1] + out.shape[0])
        convolution = product * taps.shape[-1]
        scan = batch * selective_scan_flops(length, channels, states)
        # The convolution and the steps are computed again.
        backward = _BACKWARD_OF_PRODUCTS * products + (_BACKWARD_OF_CONVOLUTION + 1) * convolution
        backward += _BACKWARD * scan + of_steps
        put_out = inputs.new_empty((batch, channels, length))
        # B and C are copied out of what the steps are read from.
        read = inputs.new_empty((batch, length, mixed.shape[0] + 2 * states))
        ends = torch.empty((batch, channels, -(-length // _STATES_EVERY), 2 * states), device=inputs.device)
        forward = products + convolution + scan
        return block(forward, backward, inputs.transpose(1, 2), out.shape[0], put_out, read, ends)

    def mamba2_block(
        inputs: Any, taps: Any, *_rest: Any, chunk_size: int, outproj_weight: Any, headdim: int, ngroups: int, **_: Any
    ) -> Any:
        batch, length, _width = inputs.shape
        (convolved, taken), (width, inner) = taps.shape, outproj_weight.shape
        heads, states = inner // headdim, (convolved - inner) // (2 * ngroups)
        products = 2 * batch * length * inner * width
        convolution = 2 * batch * length * convolved * taken
        scan = batch * state_space_dual_flops(length, heads, headdim, ngroups, states, chunk_size)
        backward = _BACKWARD_OF_PRODUCTS * products + (_BACKWARD_OF_CONVOLUTION + 1) * convolution + _BACKWARD * scan
        put_out = inputs.new_empty((batch, length, inner))
        forward = products + convolution + scan
        return block(forward, backward, inputs, width, put_out)

    replaced = [
        (modeling_mamba, "mamba_inner_fn", mamba_block),
        (modeling_mamba2, "mamba2_split_conv1d_scan_combined", mamba2_block),
        (modeling_mamba, "mamba_selective_scan", scan),
        (modeling_mamba2, "mamba2_chunk_scan", dual),
        (modeling_mamba, "causal_conv1d_fn", convolution),
        (modeling_mamba2, "causal_conv1d_fn", convolution),
    ]
    originals = [getattr(module, name) for module, name, _ in replaced]
    for module, name, counted in replaced:
        setattr(module, name, counted)
    try:
        yield found
    finally:
        for (module, name, _), original in zip(replaced, originals, strict=True):
            setattr(module, name, original)


@functools.cache
def _kernel() -> Any:
    import torch

    class Kernel(torch.autograd.Function):
        """An output of the first input's shape, from inputs that are kept."""

        @staticmethod
        def forward(ctx: Any, *inputs: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(*inputs)
            return torch.empty_like(inputs[0])

        @staticmethod
        def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
            return tuple(None if each is None else torch.empty_like(each) for each in ctx.saved_tensors)

    return Kernel


@functools.cache
def _block() -> Any:
    import torch

    class Block(torch.autograd.Function):
        """[batch, L, width] from inputs [batch, L, ...], which are kept, as is what is given beside them."""

        @staticmethod
        def forward(ctx: Any, inputs: torch.Tensor, width: int, *kept: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(inputs, *kept)
            return inputs.new_empty((*inputs.shape[:2], width))

        @staticmethod
        def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
            inputs, *kept = ctx.saved_tensors
            return torch.empty_like(inputs), None, *[None for _ in kept]

    return Block
