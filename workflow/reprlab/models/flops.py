"""FLOPs of one example, and parameters, counted by PyTorch on the meta device: no weights, and no formula for an
architecture.

Matrix products are counted, those over the context too (a causal mask saves nothing in this count); look-ups,
normalisation, softmax and the optimizer are not. Attention is the one without a fused kernel, which hides its work.

The work of a transformer is a polynomial of second degree in its lengths and linear in its number of equal blocks. So
it is counted at a few lengths with one block and with two, and known for all.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reprlab.config.models import ModelEntry
from reprlab.models.build import architecture_classes, build_from_config, configuration

if TYPE_CHECKING:
    import numpy as np

_BLOCKS = ("num_hidden_layers", "n_layers", "n_layer", "num_layers", "num_decoder_layers")
# The unit of lengths, a power of two, and the terms of each kind of model, by the powers of both lengths.
_UNIT = 16
_Powers = tuple[tuple[int, int], ...]
_ALONE: _Powers = ((0, 0), (1, 0), (2, 0))
_READ: _Powers = (*_ALONE, (0, 1))
_BOTH: _Powers = (*_READ, (0, 2), (1, 1))
# Lengths in that unit at which the coefficients of as many terms are read off.
_POINTS = {_ALONE: ((1, 1), (2, 2), (4, 4)), _READ: ((1, 1), (2, 1), (4, 1), (4, 2)),
           _BOTH: ((1, 1), (2, 1), (1, 2), (4, 1), (1, 4), (2, 2))}  # fmt: skip


@dataclass(frozen=True)
class CountedModel:
    """What the count depends on."""

    entry: ModelEntry
    """Architecture and its numbers."""
    vocabulary: int | None = None
    """Rows of the embedding in place of the entry's."""
    labels: int = 0
    """Outputs of a classification head; 0: the model as the entry has it, a language model."""
    rank: int = 0
    """Rank of low-rank adapters, which alone are trained; 0: all of the model is."""
    targets: tuple[str, ...] = ()
    """Layers with an adapter."""


def forward_flops(model: CountedModel, encoder_tokens: float, decoder_tokens: float, batch: int = 1) -> float:
    """FLOPs of one example forward.

    Args:
        encoder_tokens: tokens of the encoder, or of a model that is an encoder or a decoder alone.
        decoder_tokens: tokens of the decoder, or places at which the output layer of a decoder alone is read.
        batch: examples that share what is done once for all of them (DeBERTa projects its table of positions).
    """
    return _known(_key(model), False, encoder_tokens, decoder_tokens, batch)


def training_flops(model: CountedModel, encoder_tokens: float, decoder_tokens: float, batch: int = 1) -> float:
    """FLOPs of one example forward and backward; of a decoder alone every token has a label."""
    return _known(_key(model), True, encoder_tokens, decoder_tokens, batch)


def parameter_counts(model: CountedModel) -> tuple[int, int]:
    """Parameters of the model, tied ones once, and those of its adapters."""
    return _parameter_counts(_key(model))


_Key = tuple[str, int | None, int, int, tuple[str, ...]]


def _key(model: CountedModel) -> _Key:
    return model.entry.model_dump_json(), model.vocabulary, model.labels, model.rank, model.targets


def _known(key: _Key, training: bool, encoder: float, decoder: float, batch: int) -> float:
    (powers, alone), (_, together) = (_coefficients(key, training, examples) for examples in (1, 2))
    terms = [(encoder / _UNIT) ** e * (decoder / _UNIT) ** d for e, d in powers]
    one, two = (sum(c * term for c, term in zip(found, terms, strict=True)) for found in (alone, together))
    # One example more costs two - one; the rest is done once for a batch.
    return two - one + (2 * one - two) / batch


@functools.cache
def _parameter_counts(key: _Key) -> tuple[int, int]:
    model = _model(key)
    sizes = [(parameter.numel(), parameter.requires_grad) for parameter in _build(model).parameters()]
    # Beside adapters the rest is frozen.
    added = sum(size for size, trained in sizes if trained) if model.rank else 0
    return sum(size for size, _ in sizes) - added, added


def _model(key: _Key) -> CountedModel:
    return CountedModel(ModelEntry.model_validate_json(key[0]), *key[1:])


@functools.cache
def _coefficients(key: _Key, training: bool, examples: int) -> tuple[_Powers, tuple[float, ...]]:
    """The terms of so many examples through the model with all of its blocks, and their coefficients."""
    import numpy as np

    model = _model(key)
    names = [name for name in _BLOCKS if name in model.entry.config]
    blocks = {int(model.entry.config[name]) for name in names}
    if len(blocks) != 1:
        powers, found = _polynomial(model, training, examples)
    else:
        powers, one = _polynomial(_with_blocks(model, names, 1), training, examples)
        _, two = _polynomial(_with_blocks(model, names, 2), training, examples)
        found = one + (blocks.pop() - 1) * (two - one)
    return powers, tuple(np.asarray(found).tolist())


def _with_blocks(model: CountedModel, names: Sequence[str], count: int) -> CountedModel:
    config = {**model.entry.config, **dict.fromkeys(names, count)}
    entry = model.entry.model_copy(update={"config": config})
    return CountedModel(entry, model.vocabulary, model.labels, model.rank, model.targets)


def _polynomial(model: CountedModel, training: bool, examples: int) -> tuple[_Powers, np.ndarray]:
    """Terms, and the coefficients with which they give what is counted at each point."""
    import numpy as np

    network = _build(model)
    powers = _ALONE if model.labels or training else _READ
    powers = _BOTH if network.config.is_encoder_decoder else powers
    points = _POINTS[powers]
    counted = [_count(network, model, training, (examples, _UNIT * e, _UNIT * d)) for e, d in points]
    terms = [[float(e**power * d**other) for power, other in powers] for e, d in points]
    return powers, np.linalg.solve(np.array(terms), np.array(counted, dtype=np.float64))


def _build(model: CountedModel) -> Any:
    import torch
    from transformers import AutoModelForSequenceClassification

    network: Any
    with torch.device("meta"):
        if model.labels:
            config_class, _ = architecture_classes(model.entry.architecture)
            config = configuration(config_class, model.entry, model.vocabulary)
            config.num_labels = model.labels
            network = AutoModelForSequenceClassification.from_config(
                config, attn_implementation="eager", trust_remote_code=False
            )
            # It would be looked for among the ids, which have no values here.
            network.config.pad_token_id = None
            return network
        network = build_from_config(model.entry, model.vocabulary)
        network.config._attn_implementation = "eager"
        if not model.rank:
            return network
        from peft import LoraConfig, get_peft_model

        adapters = LoraConfig(r=model.rank, target_modules=list(model.targets), task_type="CAUSAL_LM")
        return get_peft_model(network, adapters)


def _count(network: Any, model: CountedModel, training: bool, sizes: tuple[int, int, int]) -> int:
    """FLOPs that torch counts for examples of these lengths: examples, tokens of encoder and of decoder."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    examples, encoder, decoder = sizes
    with torch.device("meta"):
        ids = torch.zeros((examples, encoder), dtype=torch.long)
        labels = torch.zeros((examples, decoder), dtype=torch.long)
    options: dict[str, Any] = {"input_ids": ids}
    if network.config.is_encoder_decoder:
        options["labels"] = labels
    elif training and not model.labels:
        options["labels"] = ids
    elif not model.labels:
        options["logits_to_keep"] = decoder
    counter = FlopCounterMode(display=False)
    with counter, torch.set_grad_enabled(training):
        output = network(**options)
        if training:
            (output.logits.sum() if model.labels else output.loss).backward()
    return int(counter.get_total_flops())
