"""The contrastive loss of an untrained decoder cut at each of its layers, and the depths that it chooses (L3Prune)."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reprlab.models.pooling import pool
from reprlab.objectives.decoder_attention import attention_inputs
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.contrastive import contrastive_loss
from reprlab.sentences.depths import chosen_depths
from reprlab.sentences.early_exit import layer_outputs, layers_of
from reprlab.sentences.settings import TEXTS_AT_ONCE, EncoderSettings, LayerLosses
from reprlab.sentences.triples import Triples

if TYPE_CHECKING:
    import torch


def layer_losses(model: Any, triples: Triples, settings: LayerLosses) -> np.ndarray:
    """[batches, layers] losses: one pass over the sample gives those of every depth.

    Raises:
        ReprlabError: there are too few triples, or a loss is not finite.
    """
    import torch

    from reprlab.runtime.progress import track

    device = next(model.parameters()).device
    model.eval()
    encoder = settings.encoder
    precision = (
        torch.autocast(device.type, dtype=torch.bfloat16) if settings.dtype == "bfloat16" else contextlib.nullcontext()
    )
    losses = np.empty((settings.batches, len(layers_of(model)[0])))
    sample = triples.sample(settings.batch_size, settings.batches, settings.seed)
    with torch.inference_mode(), precision:
        for place, rows in enumerate(track(sample, "layers")):
            batch = {name: value.to(device) for name, value in triples.batch(rows).items()}
            lengths = batch["attention_mask"].sum(1)
            order = lengths.argsort(descending=True, stable=True)
            # Texts of similar length together: half of one batch of all would be padding.
            parts = [
                _layer_vectors(
                    model, {name: value[part, -int(lengths[part].max()) :] for name, value in batch.items()}, encoder
                )
                for part in order.split(TEXTS_AT_ONCE)
            ]
            for layer, vectors in enumerate(torch.cat(parts, dim=1)[:, order.argsort()]):
                anchors, positives, negatives = vectors.chunk(3)
                loss, _ = contrastive_loss(anchors, positives, negatives, settings.temperature)
                losses[place, layer] = loss.item()
    if not np.isfinite(losses).all():
        layer = int(np.argmin(np.isfinite(losses).all(0))) + 1
        raise ReprlabError(f"the loss of layer {layer} is not finite; use dtype float32")
    return losses


def _layer_vectors(model: Any, batch: dict[str, torch.Tensor], encoder: EncoderSettings) -> torch.Tensor:
    """[layers, texts, d] float32: the texts' vectors at each depth."""
    import torch

    attention = batch["attention_mask"]
    inputs = attention_inputs(attention, model.dtype, bidirectional=encoder.bidirectional)
    states = layer_outputs(model, input_ids=batch["input_ids"], **inputs)
    return torch.stack([pool(one, attention, encoder.pooling, batch["text_mask"]).float() for one in states])


def with_layers(settings: EncoderSettings, depths: Path | None) -> EncoderSettings:
    """The settings with a number in place of `small` and `large`, by a table of losses by layer.

    Raises:
        ReprlabError: there is no table, or one that lacks the loss of a layer.
    """
    if settings.layers not in ("small", "large"):
        return settings
    if depths is None:
        raise ReprlabError(f"layers: {settings.layers} needs the losses by layer, which choose it")
    from reprlab.artifacts.tables import read_tsv

    means = read_tsv(depths).groupby("layer")["loss"].mean().sort_index()
    if means.index.tolist() != [*range(1, len(means) + 1)]:
        found = ", ".join(map(str, means.index))
        raise ReprlabError(f"{depths}: losses of the layers {found}, not of each from 1 on; delete it and run again")
    small, large = chosen_depths(means.tolist())
    return settings.model_copy(update={"layers": small if settings.layers == "small" else large})
