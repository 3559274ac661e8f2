"""Encoder-decoders: T5, DEPTH, and DEPTH's batches with T5's plain masks, which is what its masks do not cost."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import torch

from reprlab.config.load import LoadedConfig
from reprlab.models.build import build_from_config
from reprlab.models.flops import CountedModel, training_flops
from reprlab.objectives import depth, t5
from reprlab.objectives.attention_masks import plain_masks
from reprlab.objectives.losses import batch_loss
from reprlab.objectives.masked_seq2seq import mask_dtype
from reprlab.preflight.updates.measuring import Row, Sizes, Update, row, seconds_of, start_memory, training_step
from reprlab.registry.models import ModelEntry
from reprlab.text.vocabulary import Vocabulary

_BATCH = 25
"""Examples that one device holds at once: a part of DEPTH's 200."""
DEPTH, _WITHOUT = "depth step", "depth step with t5's masks"


@dataclasses.dataclass(frozen=True)
class Case:
    """One kind of step: how a batch is made of text, and the loss of a batch."""

    name: str
    objective: Any
    loss: Callable[[Any, dict[str, torch.Tensor]], torch.Tensor]


def updates(sizes: Sizes, config: LoadedConfig) -> Iterator[Update]:
    """T5, DEPTH, DEPTH under T5's masks."""
    entry, vocabulary = config.models[sizes.seq2seq], Vocabulary(32_000)
    if sizes.layers:
        layers = {"num_layers": sizes.layers, "num_decoder_layers": sizes.layers}
        entry = entry.model_copy(update={"config": {**entry.config, **layers}})
    for case in cases(sizes, vocabulary):
        yield Update(case.name, sizes.seq2seq, functools.partial(_row, case, sizes, entry, vocabulary))


def share_of_masks(rows: Iterable[Row]) -> float | None:
    """The part of DEPTH's step that its masks cost; None where a step was not measured."""
    taken = {row["what"]: row.get("milliseconds") for row in rows}
    whole, without = taken.get(DEPTH), taken.get(_WITHOUT)
    return 1 - without / whole if whole and without else None


def cases(sizes: Sizes, vocabulary: Vocabulary) -> Iterator[Case]:
    """T5, DEPTH, and DEPTH's batches under T5's masks."""
    plain = t5.Objective(t5.Settings(), vocabulary, sizes.length, sizes.length)
    hierarchical = depth.Objective(depth.Settings(), vocabulary, sizes.length, sizes.length)

    def without_masks(model: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        masks = plain_masks(batch["encoder_ids"], batch["decoder_ids"].shape[1], dtype=mask_dtype(model))
        return batch_loss(model, batch, masks, vocabulary, None)[0]

    yield Case("t5 step", plain, lambda model, batch: plain.loss(model, batch)[0])
    yield Case(DEPTH, hierarchical, lambda model, batch: hierarchical.loss(model, batch)[0])
    yield Case(_WITHOUT, hierarchical, without_masks)


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


def _row(case: Case, sizes: Sizes, entry: ModelEntry, vocabulary: Vocabulary) -> Row:
    device, examples = sizes.device, sizes.batch or _BATCH
    start_memory(device)
    model: Any = build_from_config(entry, vocabulary.padded_size, seed=0)
    model.to(device).train()
    marked = isinstance(case.objective, depth.Objective)
    texts = text(examples, sizes.length, vocabulary, marked=marked)

    def collated() -> dict[str, torch.Tensor]:
        rng = np.random.Generator(np.random.Philox(key=1))
        keywords = {"shuffled": True} if marked else {}
        return {
            name: torch.from_numpy(array) for name, array in case.objective.collate(*texts, rng, **keywords).items()
        }

    batch = {name: value.to(device) for name, value in collated().items()}
    step = training_step(model, lambda: case.loss(model, batch), sizes.dtype, device)
    seconds = seconds_of(step, device, sizes.steps)
    encoder, decoder = batch["encoder_ids"].shape[1], batch["decoder_ids"].shape[1]
    return row(
        case.name,
        sizes.seq2seq,
        model,
        device=device,
        batch=examples,
        length=sizes.length,
        encoder_tokens=encoder,
        decoder_tokens=decoder,
        seconds=seconds,
        flops=examples * training_flops(CountedModel(entry, vocabulary.padded_size), encoder, decoder, examples),
        collation=seconds_of(collated, "cpu", 3, warm=1),
    )
