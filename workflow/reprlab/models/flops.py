"""FLOPs of one example, what its backward pass keeps, and parameters, counted by PyTorch on the meta device.

There are no weights, and no formula for an architecture but for the scans of Mamba (`models.scan_cost`).

Matrix products are counted, those over the context too (a causal mask saves nothing in this count); look-ups,
normalisation, softmax and the optimizer are not. Attention is the one without a fused kernel, which hides its work.

The work of a transformer is a polynomial of second degree in its lengths and linear in its number of equal blocks. So
it is counted at a few lengths with one block and with two, and known for all.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reprlab.models.counted_models import ALONE, BOTH, READ, CountedModel, Powers

if TYPE_CHECKING:
    import numpy as np

# The unit of lengths, a power of two.
_UNIT = 16
# Lengths in that unit at which the coefficients of as many terms are read off.
_POINTS = {ALONE: ((1, 1), (2, 2), (4, 4)), READ: ((1, 1), (2, 1), (4, 1), (4, 2)),
           BOTH: ((1, 1), (2, 1), (1, 2), (4, 1), (1, 4), (2, 2))}  # fmt: skip
_FLOPS, _KEPT = 0, 1


@dataclass(frozen=True)
class _Pass:
    """The pass that is counted."""

    backward: bool
    """Whether a backward pass follows, for which the forward pass keeps what it reads."""
    with_flops: bool = True
    """Whether FLOPs are wanted: for what is kept alone the backward pass need not be made."""
    training: bool = True
    """Whether the model is in training, where the kernels of Mamba do a block at once."""
    dtype: str = "float32"
    """Arithmetic of the products of matrices."""


_FORWARD, _TRAINING = _Pass(backward=False), _Pass(backward=True)


def forward_flops(model: CountedModel, encoder_tokens: float, decoder_tokens: float, batch: int = 1) -> float:
    """FLOPs of one example forward.

    Args:
        encoder_tokens: tokens of the encoder, or of a model that is an encoder or a decoder alone.
        decoder_tokens: tokens of the decoder, or places at which the output layer of a decoder alone is read.
        batch: examples that share what is done once for all of them (DeBERTa projects its table of positions).
    """
    return _known(model, _FORWARD, _FLOPS, encoder_tokens, decoder_tokens, batch)


def training_flops(model: CountedModel, encoder_tokens: float, decoder_tokens: float, batch: int = 1) -> float:
    """FLOPs of one example forward and backward; of a decoder alone every token has a label."""
    return _known(model, _TRAINING, _FLOPS, encoder_tokens, decoder_tokens, batch)


def kept_bytes(
    model: CountedModel, encoder_tokens: float, decoder_tokens: float, dtype: str = "float32", *, training: bool = True
) -> float:
    """Bytes that the backward pass of one example keeps of its forward pass, without weights, casts of them and logits.

    Attention weights are kept where no fused kernel serves the model: transformers has none (DeBERTa), or positions
    have a learnt bias (T5). Masks of dropout, a byte each, are not counted.

    Args:
        dtype: arithmetic; with bfloat16, under autocast, what lies between products of matrices stays in float32, and
            what they read is kept once more.
        training: false: as a model that only infers would keep it.
    """
    made = _Pass(backward=True, with_flops=False, training=training, dtype=dtype)
    return _known(model, made, _KEPT, encoder_tokens, decoder_tokens, 1)


def parameter_counts(model: CountedModel) -> tuple[int, int]:
    """Parameters of the model, tied ones once, and those of its adapters, or of what else is trained beside it."""
    found, added = _in_blocks(model, lambda part: _parameters_of(part))
    return round(found), round(added)


@dataclass(frozen=True)
class _Count:
    powers: Powers
    coefficients: np.ndarray
    """[terms, 2] of FLOPs and kept bytes."""


_KNOWN: dict[Any, Any] = {}


def _known(model: CountedModel, made: _Pass, what: int, encoder: float, decoder: float, batch: int) -> float:
    def count(examples: int) -> float:
        counted = _count_of(model, made, examples)
        terms = [(encoder / _UNIT) ** e * (decoder / _UNIT) ** d for e, d in counted.powers]
        return float(sum(c * term for c, term in zip(counted.coefficients[:, what], terms, strict=True)))

    one = count(1)
    if model.entry.architecture != "deberta_v2":
        return one
    two = count(2)
    # One example more costs two - one; the rest is done once for a batch.
    return two - one + (2 * one - two) / batch


def _count_of(model: CountedModel, made: _Pass, examples: int) -> _Count:
    powers: list[Powers] = []

    def coefficients(part: CountedModel) -> np.ndarray:
        key = part.key(), made, examples
        # Parts of one block and of two are those of every depth.
        if key not in _KNOWN:
            _KNOWN[key] = _polynomial(part, made, examples)
        powers.append(_KNOWN[key].powers)
        found: np.ndarray = _KNOWN[key].coefficients
        return found

    found = _in_blocks(model, coefficients)
    return _Count(powers[0], found)


def _in_blocks(model: CountedModel, count: Any) -> Any:
    """The result of `count` for all blocks, from one and from two."""
    if model.blocks is None:
        return count(model)
    one, two = (count(model.with_blocks(blocks)) for blocks in (1, 2))
    return one + (model.blocks - 1) * (two - one)


def _parameters_of(model: CountedModel) -> np.ndarray:
    import numpy as np

    key = model.key(), "parameters"
    if key not in _KNOWN:
        _KNOWN[key] = np.array(model.parameters(model.network()), dtype=np.int64)
    found: np.ndarray = _KNOWN[key]
    return found


def _polynomial(model: CountedModel, made: _Pass, examples: int) -> _Count:
    """Terms, and the coefficients with which they give what is counted at each point."""
    import numpy as np

    network = model.network().train(made.training)
    # Of a model with a fused kernel attention weights are counted, and not kept. A learnt bias of positions, whose
    # gradient is wanted, goes to PyTorch's plain kernel, which keeps them.
    biased = hasattr(network.config, "relative_attention_num_buckets")
    fused = not biased and network.config._attn_implementation not in ("eager", None)
    network.config._attn_implementation = "eager"
    powers = model.powers(network, made.backward)
    counted = [_count(network, model, made, (examples, _UNIT * e, _UNIT * d)) for e, d in _POINTS[powers]]
    terms = [[float(e**power * d**other) for power, other in powers] for e, d in _POINTS[powers]]
    found = np.linalg.solve(np.array(terms), np.array(counted, dtype=np.float64))
    if fused:
        found[[sum(power) == 2 for power in powers], _KEPT] = 0
    return _Count(powers, found)


def _gradients_of_convolution(out: Any, inputs: Any, weight: Any, *rest: Any, **_: Any) -> int:
    """The gradients of inputs and of weights, where they are wanted, take what the forward pass takes; PyTorch's own
    count of the second is too large by the number of groups."""
    wanted = rest[7]
    return sum(wanted[:2]) * 2 * math.prod(out) * math.prod(weight[1:])


def _count(network: Any, model: CountedModel, made: _Pass, sizes: tuple[int, int, int]) -> tuple[float, float]:
    """FLOPs of examples of these lengths (examples, tokens of encoder and of decoder), and the bytes kept."""
    import torch
    from torch.multiprocessing.reductions import StorageWeakRef
    from torch.utils.flop_counter import FlopCounterMode

    from reprlab.models.meta_autocast import short_products
    from reprlab.models.scan_cost import counted_kernels

    def place(tensor: torch.Tensor) -> StorageWeakRef:
        return StorageWeakRef(tensor.untyped_storage())

    weights = {place(parameter) for parameter in network.parameters()}
    logits = model.outputs(network)
    kept: dict[StorageWeakRef, float] = {}
    casts: list[torch.Tensor] = []

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_floating_point() and place(tensor) not in weights and tensor.shape[-1:] != (logits,):
            kept[place(tensor)] = tensor.untyped_storage().nbytes()
        return tensor

    counter = FlopCounterMode(
        display=False, custom_mapping={torch.ops.aten.convolution_backward: _gradients_of_convolution}
    )
    mamba = model.entry.architecture.startswith("mamba")
    with contextlib.ExitStack() as within:
        scans = within.enter_context(counted_kernels()) if mamba else []
        within.enter_context(counter)
        within.enter_context(torch.set_grad_enabled(made.backward))
        with contextlib.ExitStack() as forward:
            forward.enter_context(torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor))
            if made.dtype == "bfloat16":
                forward.enter_context(short_products(casts))
            loss = model.run(network, *sizes, made.backward)
        if made.backward and made.with_flops:
            loss.backward()
    cast = {place(weight) for weight in casts}
    found = sum(size for storage, size in kept.items() if storage not in cast)
    return counter.get_total_flops() + sum(scans), found
