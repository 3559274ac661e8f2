"""Training a classifier of event pairs and predicting with it, whichever kind it is."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.evaluation.relation_scores import related_scores
from reprlab.events.documents import EventDocument
from reprlab.events.pairs import LabelledPairs, Ranking, inference_pairs, training_pairs
from reprlab.events.scoring import confusions
from reprlab.events.settings import PairClassification
from reprlab.runtime.errors import ReprlabError
from reprlab.training.early_stopping import BestPass
from reprlab.training.engine import TrainingRun
from reprlab.training.passes import train_passes
from reprlab.training.processes import choose_device

_HELD_OUT_BATCH = 16


def open_classifier(
    folder: Path, settings: PairClassification, *, tokenizer: Path | None = None, trained: bool = False
) -> Any:
    """The classifier of `settings.kind` from a model folder; `trained`: one that was saved, with its tokenizer."""
    reader = folder if tokenizer is None else tokenizer
    if settings.kind == "discriminative":
        from reprlab.events.discriminative import SpanPairs

        return SpanPairs(folder, reader, settings, trained=trained)
    from reprlab.events.generative import TextPairs

    return TextPairs(folder, reader, settings, trained=trained)


def train_classifier(
    classifier: Any,
    documents: Sequence[EventDocument],
    held_out: Sequence[EventDocument],
    rankings: dict[str, Ranking],
    *,
    work: Path,
    save_every: int,
    fingerprint: str,
    device: str,
) -> tuple[TrainingRun, Callable[[Path], None]]:
    """Train in place on all positives and the negatives that the settings ask for.

    Returns:
        The run, and how its model is saved: that of the last pass, or with `patience` of the best one on `held_out`.

    Raises:
        ReprlabError: the documents have no pair to train on.
    """
    settings: PairClassification = classifier.settings
    rng = np.random.Generator(np.random.Philox(key=settings.engine.seed))
    pairs = [training_pairs(document, rankings[document.name], settings, rng) for document in documents]
    items = classifier.prepare(documents, pairs)
    if not len(items):
        raise ReprlabError("events: the training documents have no pair of events")
    best = None
    if settings.patience is not None:
        # What cannot be read of the held-out documents is named before the first update, not after the first pass.
        classifier.prepare(held_out, [inference_pairs(one, rankings[one.name], settings) for one in held_out])

        def score() -> float:
            return held_out_f1(classifier, held_out, rankings, device=device)

        best = BestPass(work, fingerprint, settings.patience, score, classifier.save)
    run = train_passes(
        classifier.model,
        len(items),
        lambda rows, step: items.batch(rows),
        classifier.loss,
        settings.engine,
        epochs=settings.epochs,
        warmup_share=settings.warmup_share,
        work=work,
        save_every=save_every,
        fingerprint=fingerprint,
        device=device,
        after_pass=best,
    )
    return run, best.keep if best else classifier.save


def held_out_f1(
    classifier: Any, documents: Sequence[EventDocument], rankings: dict[str, Ranking], *, device: str
) -> float:
    """Micro F1 over the relations in percent (regime 1), as the test split is scored."""
    settings: PairClassification = classifier.settings
    pairs = [inference_pairs(document, rankings[document.name], settings) for document in documents]
    labels = predict_labels(classifier, documents, pairs, device=device, batch_size=_HELD_OUT_BATCH)
    tables = [confusions(*one, settings)[0] for one in zip(documents, pairs, labels, strict=True)]
    return float(related_scores(np.sum(tables, axis=0))["f1"])


def predict_labels(
    classifier: Any,
    documents: Sequence[EventDocument],
    pairs: Sequence[LabelledPairs],
    *,
    device: str,
    batch_size: int,
) -> list[np.ndarray]:
    """The predicted label number of each pair of each document; the number of a pair is a function of it alone."""
    import torch

    place = choose_device(device)
    classifier.model.to(place).eval()
    bfloat16 = classifier.settings.engine.dtype == "bfloat16"
    precision = torch.autocast(place.type, dtype=torch.bfloat16) if bfloat16 else contextlib.nullcontext()
    items = classifier.prepare(documents, pairs)
    with torch.inference_mode(), precision:
        found = classifier.predict(items, place, batch_size)
    answers = [np.zeros(0, dtype=np.int64) for _ in documents]
    for number, labels in zip(items.kept, found, strict=True):
        answers[number] = labels
    return answers
