"""Training a bi-encoder on pairs: cross-entropy on the scaled dot product (Li et al. 2025, section 3.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from reprlab.models.pooling import Pooling, pool
from reprlab.models.similar_lengths import read_by_length
from reprlab.retrieval.bi_encoder import padded
from reprlab.retrieval.settings import BiEncoderTraining
from reprlab.runtime.errors import ReprlabError
from reprlab.training.engine import TrainingRun
from reprlab.training.finetuning_encoding import Ragged
from reprlab.training.passes import train_passes

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class PairSet:
    """Texts that are encoded together, by their rows, and which pairs of them are related.

    `rows` [n] are rows of the encoded texts; `related` [n, n] bool is symmetric.
    """

    rows: np.ndarray
    related: np.ndarray


class Texts(Protocol):
    """Texts that are paired, as the encoder reads them."""

    def batch(self, rows: np.ndarray) -> dict[str, torch.Tensor]:
        """The texts `rows`, their attention mask among it."""


@dataclass(frozen=True)
class EncodedTexts:
    """Texts as ids."""

    ids: Ragged
    pad: int

    def batch(self, rows: np.ndarray) -> dict[str, torch.Tensor]:
        """Ids and mask [B, L] of the texts `rows`."""
        ids, mask = padded(self.ids, rows, self.pad)
        return {"input_ids": ids, "attention_mask": mask}


@dataclass(frozen=True)
class PairBatches:
    """Batches of sets: a pure function of (seed, step), whatever came before."""

    sets: Sequence[PairSet]
    texts: Texts
    settings: BiEncoderTraining

    def __call__(self, share: np.ndarray, step: int) -> dict[str, torch.Tensor]:
        """Texts and the pairs with their labels of some of the sets."""
        import torch

        pairs, rows, start = [], [], 0
        for number in share.tolist():
            key = [self.settings.engine.seed, step * len(self.sets) + number]
            rng = np.random.Generator(np.random.Philox(key=key))
            found = sampled_pairs(self.sets[number].related, self.settings.negatives, rng)
            pairs.append(found + np.array([start, start, 0]))
            rows.append(self.sets[number].rows)
            start += len(rows[-1])
        return {**self.texts.batch(np.concatenate(rows)), "pairs": torch.from_numpy(np.concatenate(pairs))}


def sampled_pairs(related: np.ndarray, negatives: int, rng: np.random.Generator) -> np.ndarray:
    """[pairs, 3] (first, second, label): every related pair, and `negatives` unrelated ones for each.

    A set without a related pair gives `negatives` unrelated ones, or it would say nothing.
    """
    first, second = np.triu_indices(len(related), 1)
    label = related[first, second]
    unrelated = np.flatnonzero(~label)
    most = min(len(unrelated), negatives * max(int(label.sum()), 1))
    kept = np.concatenate([np.flatnonzero(label), np.sort(rng.permutation(unrelated)[:most])])
    return np.stack([first[kept], second[kept], label[kept]], axis=1).astype(np.int64)


def text_vectors(encoder: Any, pooling: Pooling) -> Any:
    """The encoder as a module from the batches of `EncodedTexts` to vectors [B, d]."""
    import torch

    class TextVectors(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder

        def forward(self, batch: dict[str, Any]) -> torch.Tensor:
            return read_by_length(self.vectors, batch["input_ids"], batch["attention_mask"])

        def vectors(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return pool(self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state, mask, pooling)

    return TextVectors()


def scoring_model(vectors_of: Any, negatives: int, rate_factor: float) -> Any:
    """A module that gives vectors, with the score a (r_h . r_t) / sqrt(d) + b of two of them.

    The scale a starts at 1, the offset b at the log odds of the training pairs. Unscaled, the product of two vectors of
    768 numbers saturates the loss at the first step. A positive a leaves the ranking as it is.
    """
    import torch

    class PairScores(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.vectors_of = vectors_of
            self.scale = torch.nn.Parameter(torch.tensor(1.0))
            self.offset = torch.nn.Parameter(torch.tensor(-math.log(negatives)))
            for parameter in (self.scale, self.offset):
                parameter.rate_factor = rate_factor  # type: ignore[attr-defined]

        def forward(self, batch: dict[str, Any]) -> torch.Tensor:
            vectors = self.vectors_of(batch)
            products = (vectors[batch["pairs"][:, 0]] * vectors[batch["pairs"][:, 1]]).sum(1)
            return self.scale * products / math.sqrt(vectors.shape[1]) + self.offset

    return PairScores()


def pair_loss(model: Any, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Mean binary cross-entropy over the pairs of a batch."""
    import torch

    labels = batch["pairs"][:, 2]
    loss = torch.nn.functional.binary_cross_entropy_with_logits(model(batch).float(), labels.float())
    count = torch.tensor(len(labels), device=loss.device)
    return loss, {"count": count, "loss_sum": loss.detach() * count, "tokens": batch["attention_mask"].sum()}


def train_bi_encoder(
    vectors_of: Any,
    sets: Sequence[PairSet],
    texts: Texts,
    settings: BiEncoderTraining,
    *,
    work: Path,
    save_every: int,
    fingerprint: str,
    device: str,
) -> TrainingRun:
    """Train `vectors_of` in place, a module from the batches of `texts` to vectors [B, d].

    Raises:
        ReprlabError: no set has two texts, or the learnt scale is not positive, so that scores would rank backwards.
    """
    usable = [pair_set for pair_set in sets if len(pair_set.rows) > 1]
    if not usable:
        raise ReprlabError("bi-encoder: no set of the training data has two texts to pair")
    factor = settings.head_learning_rate / settings.engine.optimizer.learning_rate
    model = scoring_model(vectors_of, settings.negatives, factor)
    run = train_passes(
        model,
        len(usable),
        PairBatches(usable, texts, settings),
        pair_loss,
        settings.engine,
        epochs=settings.epochs,
        warmup_share=settings.warmup_share,
        work=work,
        save_every=save_every,
        fingerprint=fingerprint,
        device=device,
    )
    if float(model.scale.detach()) <= 0:
        raise ReprlabError(f"bi-encoder: the learnt scale is {float(model.scale.detach()):g}; lower its learning rate")
    return run
