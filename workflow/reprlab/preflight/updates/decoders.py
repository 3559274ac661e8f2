"""Decoders: an update of the whole model, an update of low-rank adapters, and the collection of hidden states."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from pydantic import BaseModel

from reprlab.config.load import LoadedConfig
from reprlab.models.build import build_from_config
from reprlab.models.flops import CountedModel, forward_flops, training_flops
from reprlab.objectives.causal_lm import IGNORED, causal_loss
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.plan import Plan
from reprlab.preflight.updates.measuring import Row, Sizes, Update, row, seconds_of, start_memory, training_step
from reprlab.registry.models import ModelEntry
from reprlab.representations.adapters import TextBatches, add_adapter, language_model_loss
from reprlab.representations.collection import batches_by_length, collect_states
from reprlab.representations.settings import AdapterSettings, CollectSettings
from reprlab.training.completion_settings import CompletionTuningSettings
from reprlab.training.completion_texts import CompletionTexts

_TUNED, _ADAPTED, _COLLECTED = "fine-tuning step", "adapter step", "hidden states"
_COMPLETION = 0.1
"""Part of a text that is its completion, where the loss is taken."""
_COLLECTED_BATCHES = 2
"""Batches of one call of the collection, so that writing one overlaps as little as it does in a run."""
Settings = TypeVar("Settings", bound=BaseModel)


@dataclass(frozen=True)
class Rehearsed:
    """A decoder of the registry, cut where that was asked for, and random texts for it."""

    name: str
    entry: ModelEntry
    length: int
    device: str

    @property
    def vocabulary(self) -> int:
        """Its tokens."""
        return int(self.entry.config["vocab_size"])

    @property
    def counted(self) -> CountedModel:
        """Its sizes."""
        return CountedModel(self.entry, self.vocabulary)

    def texts(self, count: int) -> list[list[int]]:
        """This many texts of the length."""
        rng = np.random.Generator(np.random.Philox(key=0))
        found: list[list[int]] = rng.integers(3, self.vocabulary, (count, self.length)).tolist()
        return found


def tuning(sizes: Sizes, config: LoadedConfig) -> Iterator[Update]:
    """amuro-char's fine-tuning of a whole decoder: the part of a batch that a device holds at once."""
    decoder = rehearsed(sizes, config.models, sizes.tuned)
    own = settings_of(make_plan(config), "finetune_completions", "olmo1b/", CompletionTuningSettings)
    examples = sizes.batch or own.batch_size // own.accumulation
    yield Update(_TUNED, decoder.name, lambda: _fine_tuning(sizes, decoder, examples, own.dtype))


def adapting(sizes: Sizes, config: LoadedConfig) -> Iterator[Update]:
    """intrinsic-dimension's adapters and states, each with the settings of its jobs."""
    plan, decoder = make_plan(config), rehearsed(sizes, config.models, sizes.adapted)
    adapter = settings_of(plan, "train_adapter", "llama_3_8b/", AdapterSettings)
    part = sizes.batch or adapter.engine.batch_size // adapter.engine.accumulation
    engine = adapter.engine.model_copy(update={"batch_size": part, "accumulation": 1})
    own = adapter.model_copy(update={"engine": engine})
    yield Update(_ADAPTED, decoder.name, lambda: _adapting(sizes, decoder, own))
    collected = settings_of(plan, "collect_states", "llama_3_8b/", CollectSettings)
    tokens = sizes.batch * sizes.length if sizes.batch else collected.batch_tokens
    yield Update(_COLLECTED, decoder.name, lambda: _collecting(sizes, decoder, tokens, collected.dtype))


def settings_of(plan: Plan, stage: str, start: str, kind: type[Settings]) -> Settings:
    """Settings of the first published job whose name starts so."""
    job = next(job for key, job in plan.jobs[stage].items() if key.startswith(start))
    return kind.model_validate_json(job.settings["settings"])


def rehearsed(sizes: Sizes, models: dict[str, ModelEntry], name: str) -> Rehearsed:
    """The decoder of that name, cut to the layers that were asked for."""
    layers = {"num_hidden_layers": sizes.layers} if sizes.layers else {}
    entry = models[name].model_copy(update={"config": {**models[name].config, **layers}})
    return Rehearsed(name, entry, sizes.length, sizes.device)


def _fine_tuning(sizes: Sizes, decoder: Rehearsed, examples: int, dtype: str) -> Row:
    start_memory(decoder.device)
    model: Any = build_from_config(decoder.entry, seed=0)
    model.to(decoder.device).train()
    ids = decoder.texts(examples)
    scored = max(1, round(_COMPLETION * decoder.length))
    labels = [[IGNORED] * (decoder.length - scored) + text[-scored:] for text in ids]
    texts = CompletionTexts(ids, labels, 0)

    def collated() -> dict[str, torch.Tensor]:
        return texts.batch(range(examples), 0)

    # All weights are trained, and labels are at the end alone.
    flops = examples * 3 * forward_flops(decoder.counted, decoder.length, scored)
    return _step(
        _TUNED,
        decoder,
        model,
        collated,
        lambda batch: causal_loss(model, batch["input_ids"], batch["labels"])[0],
        sizes.steps,
        dtype,
        examples,
        scored,
        flops,
    )


def _adapting(sizes: Sizes, decoder: Rehearsed, settings: AdapterSettings) -> Row:
    examples = settings.engine.batch_size
    start_memory(decoder.device)
    model = add_adapter(build_from_config(decoder.entry, seed=0), settings).to(decoder.device).train()
    batches = TextBatches(decoder.texts(examples), settings)
    adapted = replace(decoder.counted, rank=settings.rank, targets=tuple(settings.targets))
    flops = examples * training_flops(adapted, decoder.length, decoder.length)
    return _step(
        _ADAPTED,
        decoder,
        model,
        lambda: batches(0, 0, 0, 1),
        lambda batch: language_model_loss(model, batch)[0],
        sizes.steps,
        settings.engine.dtype,
        examples,
        decoder.length,
        flops,
    )


def _step(
    what: str,
    decoder: Rehearsed,
    model: torch.nn.Module,
    collated: Callable[[], dict[str, torch.Tensor]],
    loss: Callable[[dict[str, torch.Tensor]], torch.Tensor],
    steps: int,
    dtype: str,
    examples: int,
    scored: int,
    flops: float,
) -> Row:
    batch = {name: value.to(decoder.device) for name, value in collated().items()}
    step = training_step(model, lambda: loss(batch), dtype, decoder.device)
    return row(
        what,
        decoder.name,
        model,
        device=decoder.device,
        batch=examples,
        length=decoder.length,
        encoder_tokens=decoder.length,
        decoder_tokens=scored,
        seconds=seconds_of(step, decoder.device, steps),
        flops=flops,
        collation=seconds_of(collated, "cpu", 3, warm=1),
    )


def _collecting(sizes: Sizes, decoder: Rehearsed, batch_tokens: int, dtype: str) -> Row:
    """Two batches through the stage's own function, files included."""
    start_memory(decoder.device)
    model: Any = build_from_config(decoder.entry, seed=0)
    model.to(decoder.device, getattr(torch, dtype))
    examples = _COLLECTED_BATCHES * max(1, batch_tokens // decoder.length)
    prompts = decoder.texts(examples)
    assert len(list(batches_by_length([decoder.length] * examples, batch_tokens))) == _COLLECTED_BATCHES

    def collect() -> None:
        with tempfile.TemporaryDirectory() as folder:
            collect_states(model, prompts, [3, 4], Path(folder), batch_tokens)

    return row(
        _COLLECTED,
        decoder.name,
        model,
        device=decoder.device,
        batch=examples,
        length=decoder.length,
        encoder_tokens=decoder.length,
        decoder_tokens=0,
        seconds=seconds_of(collect, decoder.device, max(1, sizes.steps // 4), warm=1),
        flops=examples * forward_flops(decoder.counted, decoder.length, 0),
    )
