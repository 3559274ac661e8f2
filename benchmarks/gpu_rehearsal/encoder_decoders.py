"""Encoder-decoders: T5, DEPTH, and DEPTH's batches with T5's plain masks, which is what its masks do not cost."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from reprlab.models.build import build_from_config
from reprlab.models.flops import CountedModel, training_flops
from reprlab.objectives import depth, t5
from reprlab.objectives.attention_masks import plain_masks
from reprlab.objectives.losses import batch_loss
from reprlab.objectives.masked_seq2seq import mask_dtype
from reprlab.registry.models import ModelEntry
from reprlab.text.vocabulary import Vocabulary

from benchmarks.gpu_rehearsal.measuring import Row, row, seconds_of, start_memory, training_step

_BATCH = 25
"""Examples that one device holds at once: a part of DEPTH's 200."""


@dataclasses.dataclass(frozen=True)
class Case:
    """One kind of step: how a batch is made of text, and the loss of a batch."""

    name: str
    objective: Any
    loss: Callable[[Any, dict[str, torch.Tensor]], torch.Tensor]


def rows(options: argparse.Namespace, models: dict[str, ModelEntry]) -> list[Row]:
    """T5, DEPTH, DEPTH under T5's masks; the second one's `masks_share` is the part of its step that masks cost."""
    entry, vocabulary = models[options.seq2seq], Vocabulary(32_000)
    if options.layers:
        layers = {"num_layers": options.layers, "num_decoder_layers": options.layers}
        entry = entry.model_copy(update={"config": {**entry.config, **layers}})
    found = [_row(case, options, entry, vocabulary) for case in cases(options, vocabulary)]
    found[1]["masks_share"] = 1 - found[2]["milliseconds"] / found[1]["milliseconds"]
    return found


def cases(options: argparse.Namespace, vocabulary: Vocabulary) -> Iterator[Case]:
    """T5, DEPTH, and DEPTH's batches under T5's masks."""
    plain = t5.Objective(t5.Settings(), vocabulary, options.length, options.length)
    hierarchical = depth.Objective(depth.Settings(), vocabulary, options.length, options.length)

    def without_masks(model: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        masks = plain_masks(batch["encoder_ids"], batch["decoder_ids"].shape[1], dtype=mask_dtype(model))
        return batch_loss(model, batch, masks, vocabulary, None)[0]

    yield Case("t5 step", plain, lambda model, batch: plain.loss(model, batch)[0])
    yield Case("depth step", hierarchical, lambda model, batch: hierarchical.loss(model, batch)[0])
    yield Case("depth step with t5's masks", hierarchical, without_masks)


def text(batch: int, length: int, vocabulary: Vocabulary, *, marked: bool) -> tuple[np.ndarray, ...]:
    """Full rows of random tokens; `marked` puts them into DEPTH's format, with sentences of 25 tokens.

    Returns:
        ids [batch, length] int32, sentence numbers of the same shape int16, lengths [batch].
    """
    rng = np.random.Generator(np.random.Philox(key=0))
    shape = (batch, length)
    ids = rng.integers(3, vocabulary.pieces, shape).astype(np.int32)
    lengths = np.full(batch, length, np.int64)
    if not marked:
        ids[:, -1] = 1
        return ids, np.ones(shape, np.int16), lengths
    places = np.arange(length)
    # EOSEN SENT x … EOSEN SENT x …: the end of one sentence is before the next one's token.
    width = max(25, -(-length // 20))
    ids[:, places % width == 0] = vocabulary.eosen_id
    sentences = (places % width == 1).sum()
    drawn = np.argsort(rng.random((batch, 20)), axis=1)[:, :sentences]
    ids[:, places % width == 1] = vocabulary.first_sentence + drawn
    types = np.broadcast_to(np.maximum(places - 1, 0) // width + 1, shape).astype(np.int16)
    ids[:, -2], ids[:, -1] = vocabulary.eosen_id, 1
    return ids, types, lengths


def _row(case: Case, options: argparse.Namespace, entry: ModelEntry, vocabulary: Vocabulary) -> Row:
    device, examples = options.device, options.batch or _BATCH
    start_memory(device)
    model = build_from_config(entry, vocabulary.padded_size, seed=0).to(device).train()
    marked = case.objective.token_format == "depth"
    texts = text(examples, options.length, vocabulary, marked=marked)

    def collated() -> dict[str, torch.Tensor]:
        rng = np.random.Generator(np.random.Philox(key=1))
        keywords = {"shuffled": True} if marked else {}
        return {
            name: torch.from_numpy(array) for name, array in case.objective.collate(*texts, rng, **keywords).items()
        }

    batch = {name: value.to(device) for name, value in collated().items()}
    step = training_step(model, lambda: case.loss(model, batch), options.dtype, device)
    seconds = seconds_of(step, device, options.steps)
    encoder, decoder = batch["encoder_ids"].shape[1], batch["decoder_ids"].shape[1]
    return row(
        case.name,
        options.seq2seq,
        model,
        device=device,
        batch=examples,
        length=options.length,
        encoder_tokens=encoder,
        decoder_tokens=decoder,
        seconds=seconds,
        flops=examples * training_flops(CountedModel(entry, vocabulary.padded_size), encoder, decoder, examples),
        collation=seconds_of(collated, "cpu", 3, warm=1),
    )
