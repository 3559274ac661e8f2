"""The training loop: accumulation, clipping, schedules, exact resume, several processes, divergence.

A step depends on nothing but the weights, the optimizer and (seed, step): data, corruption and dropout are functions of
those two numbers. So a run that was killed and resumed gives the same bytes as one that was not.
"""

from __future__ import annotations

import contextlib
import math
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from reprlab.objectives.objective import EMPTY, EMPTY_OF
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.log import get_logger
from reprlab.runtime.progress import track
from reprlab.runtime.training_memory import TrainingMemory, training_memory
from reprlab.training.activation_checkpointing import checkpointed_blocks
from reprlab.training.checkpoints import Progress, discard_unfinished, load_resume_point, save_resume_point
from reprlab.training.metrics import means_of, note_extremes
from reprlab.training.processes import ProcessGroup, join_processes
from reprlab.training.schedules import learning_rate_factor
from reprlab.training.settings import EngineSettings, OptimizerSettings

if TYPE_CHECKING:
    import torch

    Batch = dict[str, torch.Tensor]
    BatchOf = Callable[[int, int, int, int], Batch]
    LossOf = Callable[[torch.nn.Module, Batch], tuple[torch.Tensor, dict[str, torch.Tensor]]]

_SEED_STRIDE = 1_000_003


@dataclass(frozen=True)
class TrainingRun:
    """Outcome of a run besides its model.

    `metrics` has the same values for the same settings; `throughput` (seconds, tokens per second) has not. `is_main` is
    true in the one process that writes files. `diverged_at` is the update whose loss or gradient was not finite; the
    run stopped before making it.
    """

    step: int
    tokens: int
    diverged_at: int | None
    is_main: bool
    metrics: list[dict[str, Any]] = field(default_factory=list)
    throughput: list[dict[str, Any]] = field(default_factory=list)


def train(
    model: torch.nn.Module,
    batch_of: BatchOf,
    loss_of: LossOf,
    settings: EngineSettings,
    *,
    work: Path,
    save_every: int,
    fingerprint: str,
    on_checkpoint: Callable[[int, torch.nn.Module], None],
    device: str,
    after_update: Callable[[], None] | None = None,
    memory: TrainingMemory | None = None,
) -> TrainingRun:
    """Train `model` in place, resuming from `work` where it holds a resume point of the same `fingerprint`.

    Args:
        model: moved to the device; parameters with `requires_grad` are trained.
        batch_of: the tensors of (step, part, rank, processes), a pure function; `part` counts the accumulated parts.
            Parts and ranks cut the batch of a step, so that any cut gives the same update.
        loss_of: mean loss of a part, and detached sums and counts. `count` is required: the number of labels that the
            mean is over, by which parts and processes are weighted. `tokens`, if given, counts the text consumed.
        settings: loop, optimizer and schedule.
        work: folder for resume points; it survives failure and is the caller's to remove.
        save_every: updates between resume points; it does not change the result.
        fingerprint: identity of everything that the result depends on, frozen weights too, which are not saved.
        on_checkpoint: called with (step, model) after each step of the ladder, in the main process. It may be called
            again for a step after a resume and must write the same files.
        device: `cpu`, `cuda` or `auto`.
        after_update: called after each update, in every process: restores what the weights must keep (norms, say).
        memory: how memory is saved, which is not part of the settings; None: as the command of the job says.

    Returns:
        Metrics, throughput and whether the run diverged (never an exception: a sweep wants to know).

    Raises:
        ReprlabError: SIGTERM came (state is saved; the same command goes on), or a batch has no label.
    """
    group = join_processes(device)
    if group.is_main:
        discard_unfinished(work)
    model.to(group.device)
    optimizer = build_optimizer(model, settings.optimizer)
    progress = load_resume_point(work, model, optimizer, fingerprint) or Progress()
    memory = training_memory() if memory is None else memory
    loop = _Loop(model, batch_of, loss_of, settings, group, optimizer, progress, memory, after_update)

    def save() -> None:
        if group.is_main:
            save_resume_point(work, progress, model, optimizer, fingerprint)
        group.wait()

    def keep() -> None:
        if group.is_main and progress.step in settings.ladder:
            on_checkpoint(progress.step, model)
        group.wait()

    if progress.step == 0:
        keep()
    blocks = checkpointed_blocks(model) if memory.checkpointing else contextlib.nullcontext()
    with _stop_request() as stop, blocks:
        steps = range(progress.step, settings.steps if progress.diverged_at is None else progress.step)
        for _ in track(steps, "training", total=settings.steps, initial=progress.step):
            stopped = loop.advance(bool(stop))
            if progress.diverged_at is not None:
                save()
                break
            keep()
            if stopped or progress.step % save_every == 0 or progress.step == settings.steps:
                save()
            if stopped and progress.step < settings.steps:
                raise ReprlabError(
                    f"{work}: stopped by SIGTERM at step {progress.step} of {settings.steps}; "
                    "the state is saved, the same command goes on from there"
                )
    return TrainingRun(
        progress.step, progress.tokens, progress.diverged_at, group.is_main, progress.metrics, progress.throughput
    )


def build_optimizer(model: torch.nn.Module, settings: OptimizerSettings) -> torch.optim.Optimizer:
    """Fused AdamW over the parameters that need a gradient.

    A parameter with the attribute `rate_factor` (a new head's, say) learns at this many times the rate of the others;
    one whose `decays` is false has no weight decay, and one whose `warms_up` is false no warm-up.
    """
    import torch

    groups: dict[tuple[float, bool, bool], list[torch.nn.Parameter]] = {}
    for parameter in model.parameters():
        if parameter.requires_grad:
            about = (("rate_factor", 1.0), ("decays", True), ("warms_up", True))
            key: Any = tuple(getattr(parameter, name, usual) for name, usual in about)
            groups.setdefault(key, []).append(parameter)
    return torch.optim.AdamW(
        [
            {"params": parameters, "factor": factor, "warms_up": warms_up, **({} if decays else {"weight_decay": 0.0})}
            for (factor, decays, warms_up), parameters in groups.items()
        ],
        lr=settings.learning_rate,
        betas=(settings.beta1, settings.beta2),
        eps=settings.epsilon,
        weight_decay=settings.weight_decay,
        fused=True,
    )


class _Loop:
    """One run in progress: `advance` makes one update and books it."""

    def __init__(
        self,
        model: torch.nn.Module,
        batch_of: BatchOf,
        loss_of: LossOf,
        settings: EngineSettings,
        group: ProcessGroup,
        optimizer: torch.optim.Optimizer,
        progress: Progress,
        memory: TrainingMemory,
        after_update: Callable[[], None] | None = None,
    ) -> None:
        self.model, self.batch_of, self.settings = model, batch_of, settings
        self.after_update = after_update
        self.group, self.optimizer, self.progress = group, optimizer, progress
        self.cuts = memory.parts(settings.batch_size // (settings.accumulation * group.world) or 1)
        self.loss = group.wrap(_loss_module(model, loss_of))
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]

    def advance(self, stop: bool) -> bool:
        """Make one update; true when any process was asked to stop."""
        started = time.monotonic()
        step = self.progress.step
        _seed_everything(self.settings.seed, step, self.group.rank)
        peak, schedule = self.settings.optimizer.learning_rate, self.settings.schedule
        rate = peak * learning_rate_factor(step, self.settings.steps, schedule)
        cold = peak * learning_rate_factor(step, self.settings.steps, schedule.model_copy(update={"warmup_steps": 0}))
        for parameters in self.optimizer.param_groups:
            parameters["lr"] = (rate if parameters["warms_up"] else cold) * parameters["factor"]
        self.model.train()
        sums = self._gradients(step, stop)
        stopped = sums.pop("stop") > 0
        empty = sums["count"] == 0
        if empty and EMPTY not in sums:
            raise ReprlabError(f"training: the batch of step {step} has no label; use longer texts or targets")
        if EMPTY in sums:
            # Of the update, however many parts and processes its batch was cut into.
            sums[EMPTY], sums[EMPTY_OF] = float(empty), 1.0
        norm = 0.0 if empty else self._scale_gradients(sums["count"])
        if empty:
            # An objective that counts such batches takes no step on them.
            self.progress.step += 1
        elif math.isfinite(sums["objective"]) and math.isfinite(norm):
            self.optimizer.step()
            if self.after_update is not None:
                self.after_update()
            self.progress.step += 1
        else:
            self.progress.diverged_at = step + 1
            get_logger().warning("training diverged: loss or gradient of update %d is not finite", step + 1)
        self.optimizer.zero_grad(set_to_none=True)
        self._book(sums, rate, norm, time.monotonic() - started)
        return stopped

    def _gradients(self, step: int, stop: bool) -> dict[str, float]:
        """Accumulate gradients of the summed loss; return the sums over all parts and processes."""
        import torch

        total: dict[str, torch.Tensor] = {}
        pieces = self.settings.accumulation * self.cuts
        for number in range(pieces):
            # What memory asks for is cut as if there were more processes, since a batch is the same by any cut.
            part, cut = divmod(number, self.cuts)
            batch = self.batch_of(step, part, self.group.rank * self.cuts + cut, self.group.world * self.cuts)
            batch = {name: value.to(self.group.device, non_blocking=True) for name, value in batch.items()}
            with self.group.without_sync(self.loss, skip=number < pieces - 1):
                with self._precision():
                    mean, parts = self.loss(batch)
                # Sums, not means: parts with more labels weigh more, as they would in one batch.
                summed = mean * parts["count"]
                summed.backward()
            for name, value in {**parts, "objective": summed.detach()}.items():
                total[name] = total[name] + value if name in total else value
        names = list(total)
        flag = torch.tensor(float(stop), dtype=torch.float64, device=self.group.device)
        vector = self.group.sum(torch.stack([*(total[name].double() for name in names), flag]))
        return dict(zip([*names, "stop"], vector.tolist(), strict=True))

    def _precision(self) -> contextlib.AbstractContextManager[Any]:
        import torch

        if self.settings.dtype == "float32":
            return contextlib.nullcontext()
        return torch.autocast(self.group.device.type, dtype=torch.bfloat16)

    def _scale_gradients(self, count: float) -> float:
        """Turn the sums into clipped means; return the 2-norm of the mean gradient before clipping."""
        import torch

        gradients = [parameter.grad for parameter in self.parameters if parameter.grad is not None]
        # DistributedDataParallel has averaged over the processes; its mean is undone here.
        mean_of_sum = self.group.world / count
        norm = float(torch.nn.utils.get_total_norm(gradients, foreach=True)) * mean_of_sum
        limit = self.settings.optimizer.clip_norm
        clip = 1.0 if limit is None else min(1.0, limit / (norm + 1e-6))
        if math.isfinite(norm):
            torch._foreach_mul_(gradients, mean_of_sum * clip)
        return norm

    def _book(self, sums: dict[str, float], rate: float, norm: float, seconds: float) -> None:
        progress, every = self.progress, self.settings.log_every
        progress.tokens += int(sums.pop("tokens", 0))
        progress.seconds += seconds
        for name, value in sums.items():
            progress.window[name] = progress.window.get(name, 0.0) + value
        note_extremes(progress.window, sums)
        diverged = progress.diverged_at is not None
        step = progress.diverged_at or progress.step
        if not (diverged or step % every == 0 or step == self.settings.steps or step in self.settings.ladder):
            return
        window = progress.window
        objective = window["objective"] / (window["count"] or 1)
        row: dict[str, Any] = {"step": step, "loss": objective, "objective": objective, **means_of(window)}
        if not window["count"]:
            row["loss"] = 0.0
        row.update(learning_rate=rate, gradient_norm=norm, tokens=progress.tokens, diverged=int(diverged))
        progress.metrics.append(row)
        previous = progress.throughput[-1] if progress.throughput else {"seconds": 0.0, "tokens": 0}
        elapsed = max(progress.seconds - previous["seconds"], 1e-9)
        speed = (progress.tokens - previous["tokens"]) / elapsed
        progress.throughput.append(
            {"step": step, "seconds": progress.seconds, "tokens": progress.tokens, "tokens_per_second": speed}
        )
        progress.window = {}


def _loss_module(model: torch.nn.Module, loss_of: LossOf) -> torch.nn.Module:
    """Model and loss as one module, because DistributedDataParallel watches one forward call."""
    import torch

    class Loss(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, batch: Batch) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
            return loss_of(self.model, batch)

    return Loss()


def _seed_everything(seed: int, step: int, rank: int) -> None:
    import numpy
    import torch

    mixed = (seed * _SEED_STRIDE + step) * _SEED_STRIDE + rank
    torch.manual_seed(mixed % 2**63)
    numpy.random.seed(mixed % 2**32)
    random.seed(mixed)


@contextlib.contextmanager
def _stop_request() -> Iterator[list[int]]:
    """A list that is empty until SIGTERM comes; the loop then saves and ends instead of dying in the middle."""
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    def note(number: int, _frame: FrameType | None) -> None:
        received.append(number)

    before = signal.signal(signal.SIGTERM, note)
    try:
        yield received
    finally:
        signal.signal(signal.SIGTERM, before)
