"""Decoders: an update of the whole model, an update of low-rank adapters, and the collection of hidden states."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from reprlab.config.load import LoadedConfig
from reprlab.config.models import ModelEntry
from reprlab.models.build import build_from_config
from reprlab.models.formula import adapter_parameters
from reprlab.objectives.causal_lm import IGNORED, causal_loss
from reprlab.reporting.cost_formula import forward_flops, training_flops
from reprlab.reporting.cost_layout import Shape
from reprlab.representations.adapters import TextBatches, add_adapter, language_model_loss
from reprlab.representations.collection import batches_by_length, collect_states
from reprlab.representations.settings import AdapterSettings
from reprlab.training.completion_texts import CompletionTexts
from reprlab.training.settings import EngineSettings, OptimizerSettings

from benchmarks.gpu_rehearsal.measuring import (
    Row,
    parameter_count,
    peak_memory_gb,
    seconds_of,
    start_memory,
    training_step,
)

_COMPLETION = 0.1
"""Part of a text that is its completion, where the loss is taken."""
_COLLECTED_BATCHES = 2
"""Batches of one call of the collection, so that writing one overlaps as little as it does in a run."""


def rows(options: argparse.Namespace, config: LoadedConfig) -> Iterator[Row]:
    """amuro-char's fine-tuning, then the adapters and the states of intrinsic-dimension, as their papers have them."""
    tuning = config.papers["amuro-char"].finetuning
    family = config.papers["amuro-char"].families["olmo1b"]
    yield _fine_tuning(options, _cut(options, options.tuned), options.batch or family.batch_size, tuning.dtype)
    paper = config.papers["intrinsic-dimension"]
    adapter = paper.finetuning
    settings = AdapterSettings(
        engine=EngineSettings(
            steps=1,
            batch_size=options.batch or adapter.batch_size // adapter.accumulation,
            optimizer=OptimizerSettings(learning_rate=adapter.learning_rate),
            dtype=adapter.dtype,
        ),
        rank=adapter.rank,
        alpha=adapter.alpha,
        dropout=adapter.dropout,
        targets=adapter.targets,
        max_length=max(adapter.max_length, options.length),
    )
    yield _adapting(options, _cut(options, options.adapted), settings)
    tokens = options.batch * options.length if options.batch else paper.collection.batch_tokens
    yield _collecting(options, _cut(options, options.adapted), tokens, options.dtype)


def _cut(options: argparse.Namespace, name: str) -> ModelEntry:
    entry: ModelEntry = options.models[name]
    layers = {"num_hidden_layers": options.layers} if options.layers else {}
    return entry.model_copy(update={"config": {**entry.config, **layers}})


def _texts(count: int, length: int, vocabulary: int) -> list[list[int]]:
    rng = np.random.Generator(np.random.Philox(key=0))
    found: list[list[int]] = rng.integers(3, vocabulary, (count, length)).tolist()
    return found


def _fine_tuning(options: argparse.Namespace, entry: ModelEntry, examples: int, dtype: str) -> Row:
    device, vocabulary = options.device, int(entry.config["vocab_size"])
    start_memory(device)
    model = build_from_config(entry, seed=0).to(device).train()
    ids = _texts(examples, options.length, vocabulary)
    scored = max(1, round(_COMPLETION * options.length))
    labels = [[IGNORED] * (options.length - scored) + text[-scored:] for text in ids]
    texts = CompletionTexts(ids, labels, 0)
    batch = {name: value.to(device) for name, value in texts.batch(range(examples), 0).items()}

    def loss() -> torch.Tensor:
        return causal_loss(model, batch["input_ids"], batch["labels"])[0]

    seconds = seconds_of(training_step(model, loss, dtype, device), device, options.steps)
    flops = examples * training_flops(Shape.of_llama(entry.config, vocabulary), options.length, scored)
    collation = seconds_of(lambda: texts.batch(range(examples), 0), "cpu", 3, warm=1)
    return _row("fine-tuning step", options.tuned, model, options, examples, scored, seconds, flops, collation)


def _adapting(options: argparse.Namespace, entry: ModelEntry, settings: AdapterSettings) -> Row:
    device, vocabulary, examples = options.device, int(entry.config["vocab_size"]), settings.engine.batch_size
    start_memory(device)
    model = add_adapter(build_from_config(entry, seed=0), settings).to(device).train()
    batches = TextBatches(_texts(examples, options.length, vocabulary), settings)
    batch = {name: value.to(device) for name, value in batches(0, 0, 0, 1).items()}
    step = training_step(model, lambda: language_model_loss(model, batch)[0], settings.engine.dtype, device)
    seconds = seconds_of(step, device, options.steps)
    adapters = adapter_parameters(entry.config, settings.rank, settings.targets)
    shape = Shape.of_llama(entry.config, vocabulary)
    flops = examples * training_flops(shape, options.length, options.length, adapter_parameters=adapters)
    collation = seconds_of(lambda: batches(0, 0, 0, 1), "cpu", 3, warm=1)
    return _row("adapter step", options.adapted, model, options, examples, options.length, seconds, flops, collation)


def _collecting(options: argparse.Namespace, entry: ModelEntry, batch_tokens: int, dtype: str) -> Row:
    """Two batches through the stage's own function, files included."""
    device, vocabulary = options.device, int(entry.config["vocab_size"])
    start_memory(device)
    model = build_from_config(entry, seed=0).to(device, getattr(torch, dtype))
    examples = _COLLECTED_BATCHES * max(1, batch_tokens // options.length)
    prompts = _texts(examples, options.length, vocabulary)
    assert len(list(batches_by_length([options.length] * examples, batch_tokens))) == _COLLECTED_BATCHES

    def collect() -> None:
        with tempfile.TemporaryDirectory() as folder:
            collect_states(model, prompts, [3, 4], Path(folder), batch_tokens)

    seconds = seconds_of(collect, device, max(1, options.steps // 4), warm=1)
    flops = examples * forward_flops(Shape.of_llama(entry.config, vocabulary), options.length, 0)
    return _row("hidden states", options.adapted, model, options, examples, 0, seconds, flops, None)


def _row(
    what: str,
    name: str,
    model: Any,
    options: argparse.Namespace,
    examples: int,
    decoder_tokens: int,
    seconds: float,
    flops: float,
    collation: float | None,
) -> Row:
    return {
        "what": what,
        "model": name,
        "parameters": parameter_count(model),
        "batch": examples,
        "encoder_tokens": options.length,
        "decoder_tokens": decoder_tokens,
        "milliseconds": 1e3 * seconds,
        "tokens_per_second": examples * options.length / seconds,
        "memory_gb": peak_memory_gb(options.device),
        "tera_flops": flops / seconds / 1e12,
        "collation_share": None if collation is None else collation / seconds,
    }
