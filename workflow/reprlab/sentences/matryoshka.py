"""One training of an encoder for all of its depths, and for prefixes of its vectors.

2D Matryoshka (Li et al. 2024, "2D Matryoshka Sentence Embeddings"): to the loss L(N, D) of the last layer's whole
vectors each update adds those of a drawn layer n, of a drawn prefix of d dimensions, and of both, and the divergence
of the drawn layer's vectors from the last one's, as distributions over dimensions:

    L(N, D) + w (L(n, D) + L(N, d) + L(n, d)) + a t KL(softmax(v_N / t) || softmax(v_n / t))

A layer's states go through the final norm, so that its vectors are those of the encoder cut there, bit by bit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reprlab.models.pooling import pool
from reprlab.objectives.decoder_attention import attention_inputs
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.contrastive import contrastive_loss
from reprlab.sentences.early_exit import layers_of
from reprlab.sentences.settings import ContrastiveTraining, EncoderSettings, Matryoshka2D

if TYPE_CHECKING:
    import torch


def drawn_place(layers: int, width: int, narrowest: int) -> tuple[int, int]:
    """A layer from 1 to the last but one, and the length of a prefix, each evenly.

    They follow from torch's seed, which the engine sets for each update by the run's seed and the update's number;
    nothing is taken from torch's generator, so that dropout is that of the plain training.

    Args:
        layers, width: of the decoder, N and D.
        narrowest: dimensions of the shortest prefix; others have twice, four times ... as many, and fewer than all.

    Raises:
        ReprlabError: there is one layer alone, or no prefix is that short.
    """
    import torch

    if layers < 2 or narrowest >= width:
        raise ReprlabError(
            f"objective: an encoder of {layers} layers and {width} dimensions has none to draw; keep 2 layers at least,"
            f" and set narrowest ({narrowest}) below {width}"
        )
    rng = np.random.Generator(np.random.Philox(key=torch.initial_seed()))
    lengths = (width - 1) // narrowest
    return int(rng.integers(1, layers)), narrowest << int(rng.integers(lengths.bit_length()))


def nested_vectors(encoder: Any, settings: EncoderSettings, layer: int, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """[B, 2 D] float32 from one pass: the encoder's vectors, and beside them those of it cut to `layer` layers.

    Args:
        encoder: as `build_encoder` gives it for the methods `full` and `lora`.
        layer: from 1 on, and not the last.
    """
    import torch

    attention, decoder = batch["attention_mask"], encoder.decoder
    inputs = attention_inputs(attention, decoder.dtype, bidirectional=settings.bidirectional)
    _, norm = layers_of(decoder)
    passed = decoder(input_ids=batch["input_ids"], output_hidden_states=True, use_cache=False, **inputs)
    # transformers gives the last of them behind the norm, and no other.
    states = passed.hidden_states[-1], norm(passed.hidden_states[layer])
    return torch.cat([pool(one, attention, settings.pooling, batch["text_mask"]) for one in states], dim=1)


def divergence(teacher: torch.Tensor, student: torch.Tensor, temperature: float) -> torch.Tensor:
    """t KL(softmax(teacher / t) || softmax(student / t)) of vectors [B, D], mean over texts, nats.

    The teacher has no gradient by it: the shallow layer follows the last, and not the other way round.
    """
    from torch.nn import functional

    scaled = (student / temperature).log_softmax(-1), (teacher.detach() / temperature).log_softmax(-1)
    return functional.kl_div(*scaled, reduction="batchmean", log_target=True) * temperature


@dataclass(frozen=True)
class NestedLoss:
    """What an objective adds to the contrastive loss of an encoder."""

    objective: Matryoshka2D
    encoder: EncoderSettings
    temperature: float
    """Of the contrastive loss."""

    def draw(self, encoder: Any) -> tuple[Callable[..., torch.Tensor], Callable[..., torch.Tensor]]:
        """For one update: what reads a batch as `nested_vectors` does, and the loss that is added, of both halves of
        these vectors for all its texts."""
        config = encoder.decoder.config
        layer, length = drawn_place(config.num_hidden_layers, config.hidden_size, self.objective.narrowest)
        read = functools.partial(nested_vectors, encoder, self.encoder, layer)
        return read, functools.partial(self.added, length)

    def added(self, length: int, last: torch.Tensor, shallow: torch.Tensor) -> torch.Tensor:
        """The losses at the drawn layer and the prefix, and the divergence, each with its weight.

        Args:
            length: dimensions of the prefix.
            last, shallow: [3 N, D] vectors of anchors, positives and negatives.
        """
        import torch

        losses = []
        for vectors in (shallow, last[:, :length], shallow[:, :length]):
            anchors, positives, negatives = vectors.chunk(3)
            losses.append(contrastive_loss(anchors, positives, negatives, self.temperature)[0])
        # As cosines: in bfloat16 a distribution over some thousand dimensions would have no mass that is its own.
        with torch.autocast(last.device.type, enabled=False):
            aligned = divergence(last, shallow, self.objective.temperature)
        return self.objective.weight * sum(losses[1:], losses[0]) + self.objective.alignment * aligned


def nested_loss(settings: ContrastiveTraining) -> NestedLoss | None:
    """What a training adds to its contrastive loss; None: nothing."""
    if settings.objective is None:
        return None
    return NestedLoss(settings.objective, settings.encoder, settings.temperature)
