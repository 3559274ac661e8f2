"""Training for so many passes over numbered rows, of texts, pairs, groups or documents."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from reprlab.training.engine import TrainingRun, train
from reprlab.training.finetuning_order import TrainingOrder
from reprlab.training.settings import EngineSettings

if TYPE_CHECKING:
    import torch

    from reprlab.training.engine import Batch, LossOf


def lasting(engine: EngineSettings, steps: int, warmup_share: float) -> EngineSettings:
    """The loop with so many steps, of which the given share warm up; nothing is kept before the last."""
    schedule = engine.schedule.model_copy(update={"warmup_steps": int(warmup_share * steps)})
    return engine.model_copy(update={"steps": steps, "schedule": schedule, "ladder": []})


def train_passes(
    model: torch.nn.Module,
    rows: int,
    batch_of: Callable[[np.ndarray, int], Batch],
    loss_of: LossOf,
    engine: EngineSettings,
    *,
    epochs: float,
    warmup_share: float,
    work: Path,
    save_every: int,
    fingerprint: str,
    device: str,
) -> TrainingRun:
    """Train `model` in place on `rows` rows in a fresh order each pass; the steps follow from `epochs`.

    Args:
        batch_of: tensors of (the numbers of some rows, the step), a pure function of both. Parts and processes are each
            given their share of the rows of a step.
        engine: the loop; its steps, warm-up and ladder are replaced.
        work, save_every, fingerprint, device: as `reprlab.training.engine.train`, which raises what it raises.
    """
    engine = lasting(engine, math.ceil(epochs * rows / engine.batch_size), warmup_share)
    order = TrainingOrder(rows, engine.batch_size, engine.seed)

    def share_of(step: int, part: int, rank: int, world: int) -> Batch:
        return batch_of(order.rows(step)[rank * engine.accumulation + part :: world * engine.accumulation], step)

    return train(
        model,
        share_of,
        loss_of,
        engine,
        work=work,
        save_every=save_every,
        fingerprint=fingerprint,
        on_checkpoint=lambda step, model: None,
        device=device,
    )
