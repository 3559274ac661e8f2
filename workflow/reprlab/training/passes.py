"""Training for this many passes over numbered rows, of texts, pairs, groups or documents."""

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
    """The loop with this many steps, of which the given share warm up; nothing is kept before the last."""
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
    after_pass: Callable[[int, bool], bool] | None = None,
) -> TrainingRun:
    """Train `model` in place on `rows` rows in a fresh order each pass; the steps follow from `epochs`.

    Args:
        batch_of: tensors of (the numbers of some rows, the step), a pure function of both. Parts and processes are each
            given their share of the rows of a step.
        engine: the loop; its steps, warm-up and ladder are replaced.
        after_pass: called with the number of each pass behind us and whether this is the process that writes; true ends
            the training. After an interruption it is called again for the same pass, and must answer the same.
        work, save_every, fingerprint, device: as `reprlab.training.engine.train`, which raises what it raises.
    """
    total = math.ceil(epochs * rows / engine.batch_size)
    engine = lasting(engine, total, warmup_share)
    order = TrainingOrder(rows, engine.batch_size, engine.seed)

    def share_of(step: int, part: int, rank: int, world: int) -> Batch:
        return batch_of(order.rows(step)[rank * engine.accumulation + part :: world * engine.accumulation], step)

    def train_to(end: int) -> TrainingRun:
        return train(
            model,
            share_of,
            loss_of,
            engine.model_copy(update={"steps": end}),
            work=work,
            save_every=save_every,
            fingerprint=fingerprint,
            on_checkpoint=lambda step, model: None,
            device=device,
        )

    if after_pass is None:
        return train_to(total)
    # The rate falls as if all passes were made; each pass ends with a resume point, from which the next one starts.
    engine = engine.model_copy(update={"schedule": engine.schedule.model_copy(update={"horizon_steps": total})})
    for number in range(1, math.ceil(epochs) + 1):
        end = min(total, math.ceil(number * rows / engine.batch_size))
        run = train_to(end)
        # A run that was interrupted in a later pass did not stop after this one.
        if run.diverged_at is not None or (run.step == end and after_pass(number, run.is_main)):
            break
    return run
