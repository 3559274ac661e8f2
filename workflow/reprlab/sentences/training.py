"""Contrastive training of a sentence encoder on triples; the best checkpoint on held-out pairs is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reprlab.models.similar_lengths import of_similar_length
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.training_memory import memory_cut_elsewhere
from reprlab.sentences.contrastive import contrastive_loss, vectors_in_parts
from reprlab.sentences.encoder import save_encoder
from reprlab.sentences.held_out import LikenessPairs
from reprlab.sentences.matryoshka import NestedLoss, nested_loss
from reprlab.sentences.settings import ContrastiveTraining
from reprlab.sentences.triples import Triples
from reprlab.training.attention_kernel import attention_for_training
from reprlab.training.early_stopping import BestPass
from reprlab.training.engine import TrainingRun, train

if TYPE_CHECKING:
    import torch

# Tokens up to which attention's products are taken apart on a CPU.
_SHORT = 64


@dataclass(frozen=True)
class TripleBatches:
    """Batches of triples: a pure function of the step."""

    triples: Triples
    batch_size: int
    seed: int
    mixed: bool
    _passes: dict[int, np.ndarray] = field(default_factory=dict)

    def __call__(self, step: int, part: int, rank: int, processes: int) -> dict[str, torch.Tensor]:
        """The texts of a step's triples.

        Raises:
            ReprlabError: several processes would each have a part of the candidates.
        """
        if processes != 1:
            raise ReprlabError(f"{processes} processes would share the negatives of a batch; train with one process")
        turn, place = divmod(step, len(self._pass(0)))
        return self.triples.batch(self._pass(turn)[place])

    def _pass(self, turn: int) -> np.ndarray:
        if turn not in self._passes:
            for old in [old for old in self._passes if old]:
                del self._passes[old]
            self._passes[turn] = self.triples.rows(self.batch_size, self.seed, turn, mixed=self.mixed)
        return self._passes[turn]


def triple_loss(
    temperature: float, part_size: int, nested: NestedLoss | None = None
) -> Callable[..., tuple[torch.Tensor, dict[str, torch.Tensor]]]:
    """The loss of an encoder on a batch of triples, whose texts are read in parts, and each part by length.

    Args:
        nested: what is added to it; the sum `loss_sum` is without.
    """
    import torch

    def loss_of(encoder: Any, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        names = list(batch)
        lengths = batch["attention_mask"].sum(1)
        order = lengths.argsort(descending=True, stable=True)
        parts = [tuple(batch[name][rows] for name in names) for rows in order.split(part_size)]
        read, added = nested.draw(encoder) if nested else (encoder, None)

        def encode(*part: torch.Tensor) -> torch.Tensor:
            found = []
            for group in of_similar_length(dict(zip(names, part, strict=True))):
                with attention_for_training(group["input_ids"], _SHORT):
                    found.append(read(group))
            return torch.cat(found)

        vectors, *shallow = vectors_in_parts(encode, parts)[order.argsort()].chunk(2 if added else 1, dim=1)
        anchors, positives, negatives = vectors.chunk(3)
        loss, hits = contrastive_loss(anchors, positives, negatives, temperature)
        count = torch.tensor(len(anchors), device=loss.device)
        sums = {"loss_sum": loss.detach() * count, "count": count, "correct": hits, "total": count}
        return loss + added(vectors, *shallow) if added else loss, {**sums, "tokens": lengths.sum()}

    return loss_of


def train_encoder(
    encoder: Any,
    triples: Triples,
    held_out: list[LikenessPairs],
    settings: ContrastiveTraining,
    *,
    work: Path,
    save_every: int,
    fingerprint: str,
    device: str,
) -> tuple[TrainingRun, dict[int, list[float]], BestPass]:
    """Train in place, with the one learning rate and seed of the settings.

    Returns:
        the run, by step the mean score on the held-out pairs and that of each set, and where the best of the means is
        kept; of equal ones the earlier.

    Raises:
        ReprlabError: a batch is larger than the data, or is to be accumulated, which would change its negatives.
    """
    engine = settings.engine
    if engine.accumulation != 1:
        raise ReprlabError("accumulation: it would take negatives away; set part_size, which saves memory alone")
    every = settings.evaluate_every if held_out else engine.steps
    looks = [*range(every, engine.steps + 1, every)]
    engine = engine.model_copy(update={"ladder": looks if engine.steps in looks else [*looks, engine.steps]})
    size, dtype = settings.part_size, engine.dtype
    # Every text of a batch is a candidate of the loss, whose gradient smaller parts of the texts leave as it is.
    memory, cuts = memory_cut_elsewhere()

    sets: list[float] = []

    def score() -> float:
        # Without pairs there is one look, at the last update.
        sets[:] = [one.score(encoder, size, dtype) for one in held_out]
        return sum(sets) / max(1, len(sets))

    best = BestPass(work, fingerprint, engine.steps + 1, score, lambda at: save_encoder(encoder, settings.encoder, at))

    def look(step: int, _: Any) -> None:
        best(step, True)
        # Of a run of another fingerprint the scores of a step are written anew before they are read.
        best.beside("sets", step).keep({"fingerprint": fingerprint}, sets)

    run = train(
        encoder.train(),
        TripleBatches(triples, engine.batch_size, engine.seed, settings.mixed),
        triple_loss(settings.temperature, max(1, size // cuts), nested_loss(settings)),
        engine,
        work=work,
        save_every=save_every,
        fingerprint=fingerprint,
        on_checkpoint=look,
        device=device,
        memory=memory,
    )
    by = {"fingerprint": fingerprint}
    scores = {step: [mean, *(best.beside("sets", step).read(by) or [])] for step, mean in best.scores().items()}
    return run, scores, best
