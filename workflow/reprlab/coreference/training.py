"""Training of a coreference head, on frozen sources or with its encoder, with early stopping and exact resume."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from reprlab.coreference.documents import Document, clusters_of
from reprlab.coreference.model import CoreferenceModel, document_tensors, input_tensors, loss_of, open_encoder
from reprlab.coreference.scores import score_counts, scores_of
from reprlab.coreference.settings import CoreferenceTraining
from reprlab.coreference.states import StoredStates
from reprlab.training.early_stopping import BestPass
from reprlab.training.engine import TrainingRun
from reprlab.training.passes import train_passes

TRAIN, HELD_OUT = "train", "validation"
_WEIGHTS = "trained.safetensors"


@dataclass(frozen=True)
class Probe:
    """One training: its documents, and its sources as encoders or as stored states.

    `encoders` are folders in both cases; `states` are folders of stored states where those are read instead.
    """

    settings: CoreferenceTraining
    documents: dict[str, list[Document]]
    encoders: Sequence[Path]
    states: Sequence[Path]
    tokenizer: Any

    @cached_property
    def model(self) -> CoreferenceModel:
        """The model with a new head, drawn with the seed."""
        torch.manual_seed(self.settings.engine.seed)
        if self.states:
            return CoreferenceModel([], len(self.states), self._stored[TRAIN].width, self.settings)
        encoders = [
            open_encoder(folder, layer) for folder, layer in zip(self.encoders, self.settings.layers, strict=True)
        ]
        # The head's weights depend on the seed alone, not on how many numbers an encoder drew while it was opened.
        torch.manual_seed(self.settings.engine.seed)
        return CoreferenceModel(encoders, len(encoders), encoders[0].config.hidden_size, self.settings)

    @cached_property
    def _stored(self) -> dict[str, StoredStates]:
        joined = self.settings.aggregation.concatenated
        return {
            split: StoredStates.open(self.states, split, self.settings.layers, joined, documents)
            for split, documents in self.documents.items()
        }

    def tensors(self, split: str, number: int, step: int | None = None) -> dict[str, torch.Tensor]:
        """What the model reads of a document: in training (`step`) a window of it, drawn with seed and step."""
        document, head = self.documents[split][number], self.settings.head
        spare, first, segments = len(document.segments) - head.max_segments, 0, None
        if step is not None and spare > 0:
            draw = np.random.default_rng([self.settings.engine.seed, step, number])
            first, segments = int(draw.integers(spare + 1)), head.max_segments
        batch, part = document_tensors(document, head.genres, first, segments)
        if self.states:
            return {**batch, "states": self._stored[split].of(number, part)}
        return {**batch, **input_tensors(document, self.tokenizer, first, segments)}

    def train(self, *, work: Path, save_every: int, fingerprint: str, device: str) -> Outcome:
        """Train the model; the pass with the best CoNLL F1 on the held-out documents is kept."""
        with no_denormals():
            return self._train(work, save_every, fingerprint, device)

    def _train(self, work: Path, save_every: int, fingerprint: str, device: str) -> Outcome:
        model, engine = self.model, self.settings.engine
        current: dict[str, float] = {}
        best = BestPass(work, fingerprint, self.settings.patience, lambda: current["conll_f1"], self._save)

        def after_pass(number: int, is_main: bool) -> bool:
            counts, weights = self.evaluate()
            current["conll_f1"] = float(scores_of(counts.sum(0))["conll_f1"])
            if is_main:
                best.beside("weights", number).keep({"fingerprint": fingerprint}, weights)
            return best(number, is_main)

        run = train_passes(
            model,
            len(self.documents[TRAIN]),
            lambda rows, step: self.tensors(TRAIN, int(rows[0]), step),
            loss_of,
            engine.model_copy(update={"log_every": len(self.documents[TRAIN])}),
            epochs=self.settings.epochs,
            warmup_share=self.settings.warmup_share,
            work=work,
            save_every=save_every,
            fingerprint=fingerprint,
            device=device,
            after_pass=after_pass,
        )
        scores = best.scores()
        if scores:
            self._restore(work / "best" / _WEIGHTS)
        by = {"fingerprint": fingerprint}
        return Outcome(self, run, scores, {number: best.beside("weights", number).read(by) or [] for number in scores})

    def evaluate(self, split: str = HELD_OUT) -> tuple[np.ndarray, list[float]]:
        """Counts of each document [D, 3, 4] (see `scores`), and the mean weight of each source over its tokens."""
        model = self.model.eval()
        device = next(model.head.parameters()).device
        counts, weights = [], []
        with torch.no_grad():
            for number, document in enumerate(self.documents[split]):
                batch = {name: value.to(device) for name, value in self.tensors(split, number).items()}
                found, weight = model(batch)
                spans = list(zip(found.starts.tolist(), found.ends.tolist(), strict=True))
                counts.append(score_counts(clusters_of(spans, found.best()), document.clusters))
                weights.append(weight.double().mean(1))
        return np.stack(counts), torch.stack(weights).mean(0).tolist()

    def _trained(self) -> dict[str, torch.Tensor]:
        return {name: value for name, value in self.model.named_parameters() if value.requires_grad}

    def _save(self, folder: Path) -> None:
        from safetensors.torch import save_file

        save_file(
            {name: value.detach().cpu().contiguous() for name, value in self._trained().items()}, folder / _WEIGHTS
        )

    def _restore(self, path: Path) -> None:
        from safetensors.torch import load_file

        kept = load_file(path)
        with torch.no_grad():
            for name, value in self._trained().items():
                value.copy_(kept[name])


@contextlib.contextmanager
def no_denormals() -> Iterator[None]:
    """Take numbers below the normal range of floats for 0.

    Antecedents that score far below the best one have such gradients, and the backward pass of a trained head took
    eight times as long with them (69 and 8 ms a document of 222 tokens on one core).
    """
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


@dataclass(frozen=True)
class Outcome:
    """A finished training: the model of its best pass, scores by pass, weights of the sources by pass."""

    probe: Probe
    run: TrainingRun
    scores: dict[int, float]
    weights: dict[int, list[float]]
