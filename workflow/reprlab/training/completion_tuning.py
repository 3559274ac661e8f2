"""Fine-tuning of one checkpoint with one learning rate: a cell that resumes exactly and is kept when it is done."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reprlab.models.build import load_model, save_model
from reprlab.objectives.causal_lm import causal_loss
from reprlab.training.completion_settings import CompletionTuningSettings
from reprlab.training.completion_texts import CompletionTexts
from reprlab.training.engine import train
from reprlab.training.finetuning_order import TrainingOrder
from reprlab.training.processes import choose_device
from reprlab.training.seeds import finished_run, keep_run
from reprlab.training.settings import EngineSettings, OptimizerSettings, ScheduleSettings

_EVALUATED_AT_ONCE = 16


@dataclass(frozen=True)
class TrainingData:
    """The training data of every cell of a job."""

    train: CompletionTexts
    held_out: CompletionTexts
    pad: int


def engine_settings(settings: CompletionTuningSettings, rate: float, rows: int) -> EngineSettings:
    """The training loop of one cell."""
    steps = max(1, settings.epochs * rows // settings.batch_size)
    warmup = int(settings.warmup_ratio * steps)
    whole = settings.batch_size % settings.accumulation == 0
    return EngineSettings(
        steps=steps,
        batch_size=settings.batch_size,
        accumulation=settings.accumulation if whole else 1,
        optimizer=OptimizerSettings(
            learning_rate=rate, weight_decay=settings.weight_decay, clip_norm=settings.clip_norm
        ),
        schedule=ScheduleSettings(name="linear", warmup_steps=warmup),
        dtype=settings.dtype,
        seed=settings.seed,
    )


def tune_cell(
    data: TrainingData,
    settings: CompletionTuningSettings,
    model: Path,
    rate: float,
    *,
    work: Path,
    save_every: int,
    fingerprint: str,
    device: str,
) -> dict[str, Any] | None:
    """Fine-tune, measure the loss on held-out rows, and save the model at `work/model`; returns the row of metrics.

    A finished cell in `work` is read back. Of several processes, only the main one has a row.

    Args:
        work: folder of this cell; holds the resume points while it trains, the model and its row afterwards.
        fingerprint: identity of everything that the cell depends on.
    """
    if (found := finished_run(work, fingerprint)) is not None:
        return found[0]
    import torch

    network: Any = load_model(model)
    before = held_out_loss(network, data, settings.dtype, device)
    engine = engine_settings(settings, rate, len(data.train))
    order = TrainingOrder(len(data.train), engine.batch_size, engine.seed)

    def batch_of(step: int, part: int, rank: int, world: int) -> dict[str, Any]:
        parts = engine.accumulation * world
        return data.train.batch(order.rows(step)[rank * engine.accumulation + part :: parts], data.pad)

    def loss_of(network: Any, batch: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        loss, parts = causal_loss(network, batch["input_ids"], batch["labels"])
        return loss, {**parts, "tokens": batch["tokens"].sum()}

    run = train(
        network,
        batch_of,
        loss_of,
        engine,
        work=work,
        save_every=save_every,
        fingerprint=fingerprint,
        on_checkpoint=lambda step, model: None,
        device=device,
    )
    if not run.is_main:
        return None
    row = {
        "learning_rate": rate,
        "rows": len(data.train),
        "dropped_rows": data.train.dropped,
        "steps": run.step,
        "tokens": run.tokens,
        "diverged": int(run.diverged_at is not None),
        "train_loss": run.metrics[-1]["loss"] if run.metrics else float("nan"),
        "held_out_rows": len(data.held_out),
        "held_out_loss_before": before,
        "held_out_loss": held_out_loss(network, data, settings.dtype, device),
    }
    keep_run(work, fingerprint, [row], lambda folder: save_model(network.to(getattr(torch, settings.dtype)), folder))
    return row


def held_out_loss(network: Any, data: TrainingData, dtype: str, device: str) -> float:
    """Mean cross-entropy of the held-out completions' tokens."""
    import torch

    place = choose_device(device)
    network.to(place).eval()
    precision = torch.autocast(place.type, dtype=torch.bfloat16) if dtype == "bfloat16" else contextlib.nullcontext()
    total, count = 0.0, 0
    with torch.inference_mode(), precision:
        for start in range(0, len(data.held_out), _EVALUATED_AT_ONCE):
            rows = range(start, min(start + _EVALUATED_AT_ONCE, len(data.held_out)))
            batch = data.held_out.batch(rows, data.pad)
            _, parts = causal_loss(network, batch["input_ids"].to(place), batch["labels"].to(place))
            total += float(parts["loss_sum"])
            count += int(parts["count"])
    return total / count


def best_row(rows: Sequence[dict[str, Any]]) -> int:
    """Place of the row with the lowest loss on held-out rows; one that diverged only where all did."""
    return min(range(len(rows)), key=lambda place: (rows[place]["diverged"], rows[place]["held_out_loss"]))
