"""Sentence encoders: updates on triples, of one trained vector and of adapters, of all layers and of half of them."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping

import numpy as np
import torch

from reprlab.config.load import LoadedConfig
from reprlab.models.build import build_from_config
from reprlab.models.flops import training_flops
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.plan import Plan
from reprlab.preflight.updates.decoders import Rehearsed, rehearsed, settings_of
from reprlab.preflight.updates.measuring import Row, Sizes, Update, row, seconds_of, start_memory, training_step
from reprlab.sentences.counted_encoders import CountedEncoder
from reprlab.sentences.encoder import build_encoder
from reprlab.sentences.settings import ContrastiveTraining, TripleTexts
from reprlab.sentences.texts import EncodedTexts
from reprlab.sentences.training import triple_loss
from reprlab.training.finetuning_encoding import Ragged

PROMPTED = {
    "soft prompt step": "llama_3_8b/prompt_tuning_spt_uni_eosp_1",
    "encoder adapter step": "llama_3_8b/prompt_tuning_lora_uni_16",
}
PRUNED = {"pruned encoder step": "llama_3_8b/l3prune_p50", "whole encoder step": "llama_3_8b/l3prune_p00"}
"""A published job of each kind, by paper."""


def updates(jobs: Mapping[str, str], sizes: Sizes, config: LoadedConfig) -> Iterator[Update]:
    """An update of each job with its batch, its parts and its longest texts."""
    plan = make_plan(config)
    for what, job in jobs.items():
        settings = settings_of(plan, "train_encoder", job, ContrastiveTraining)
        decoder = rehearsed(sizes, config.models, sizes.adapted)
        if settings.encoder.layers is not None:
            # Of another decoder than the published one, or of one that is cut, there may be fewer.
            fewer = min(int(settings.encoder.layers), decoder.entry.config["num_hidden_layers"])
            settings = settings.model_copy(update={"encoder": settings.encoder.model_copy(update={"layers": fewer})})
        texts = settings_of(plan, "tokenize_triples", job_of(plan, job), TripleTexts)
        length = min(sizes.length, texts.form.longest)
        yield Update(what, decoder.name, functools.partial(_updating, what, sizes, decoder, settings, length))


def job_of(plan: Plan, encoder: str) -> str:
    """The job that tokenises the triples of an encoder."""
    folder = plan.jobs["train_encoder"][encoder].inputs["triples"]
    return next(key for key in plan.jobs["tokenize_triples"] if str(folder).rstrip("/").endswith(key))


def _updating(what: str, sizes: Sizes, decoder: Rehearsed, settings: ContrastiveTraining, length: int) -> Row:
    start_memory(decoder.device)
    triples = sizes.batch or settings.engine.batch_size
    with torch.device(decoder.device):
        model = build_from_config(decoder.entry, seed=0)
    encoder = build_encoder(model, settings.encoder, 0).to(decoder.device).train()
    ids = np.random.Generator(np.random.Philox(key=0)).integers(3, decoder.vocabulary, (3 * triples, length))
    texts = EncodedTexts(Ragged.of(list(ids)), np.zeros(3 * triples, dtype=np.int64), 0)
    loss_of = triple_loss(settings.temperature, settings.part_size)

    def collated() -> dict[str, torch.Tensor]:
        return texts.batch(np.arange(3 * triples))

    batch = {name: value.to(decoder.device) for name, value in collated().items()}
    step = training_step(encoder, lambda: loss_of(encoder, batch)[0], settings.engine.dtype, decoder.device)
    counted = CountedEncoder(decoder.entry, decoder.vocabulary, encoder=settings.encoder)
    return row(
        what,
        decoder.name,
        encoder,
        device=decoder.device,
        batch=3 * triples,
        length=length,
        encoder_tokens=length,
        decoder_tokens=0,
        seconds=seconds_of(step, decoder.device, sizes.steps),
        flops=3 * triples * training_flops(counted, length, 0),
        collation=seconds_of(collated, "cpu", 3, warm=1),
    )
