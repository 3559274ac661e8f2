"""Cost of one fine-tuning run: seconds of PEMA and of training, peak memory, size of the optimizer's state."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from reprlab.evaluation.examples import TRAIN
from reprlab.runtime.training_memory import TrainingMemory
from reprlab.training.embedding_ways import reduce_embedding
from reprlab.training.engine import train
from reprlab.training.finetuning import PreparedTask, engine_settings
from reprlab.training.finetuning_order import TrainingOrder
from reprlab.training.finetuning_settings import FinetuneSettings

_MOMENTS = "optimizer.exp_avg"


@dataclass(frozen=True)
class TrainingCost:
    """Costs of one run. Parameters and moments are counted on the tensors that were trained, not from a formula."""

    vocabulary: int
    """Rows of the whole embedding."""
    used: int
    """Rows that were trained."""
    width: int
    """Columns of the embedding."""
    parameters: int
    """Parameters while training."""
    moments: int
    """Numbers in the two moments of Adam."""
    examples: int
    """Training examples."""
    steps: int
    """Optimizer steps."""
    tokens: int
    """Tokens trained on."""
    pema_seconds: float
    """Counting, renumbering, cutting out and writing back, or taking apart; 0 where the whole matrix is trained."""
    train_seconds: float
    """All optimizer steps."""
    peak_bytes: int
    """Largest memory of the process (or of the GPU's allocator) up to the end of training, less that before loading."""


def training_cost(prepared: PreparedTask, settings: FinetuneSettings, model: Path, device: str) -> TrainingCost:
    """Fine-tune once with the first learning rate and measure it. Use a fresh process: peaks do not fall again."""
    data = prepared.encoded[TRAIN]
    engine = engine_settings(settings, settings.learning_rates[0], len(data))
    order = TrainingOrder(len(data), engine.batch_size, engine.seed)
    before = _memory_now()
    torch.manual_seed(engine.seed)
    network: Any = prepared.task.load(model, settings.dropout)
    rows, width = network.get_input_embeddings().weight.shape
    started = time.monotonic()
    way = reduce_embedding(prepared.task, prepared.encoded, settings.embedding, network)
    data = way.trained(data)
    seconds = time.monotonic() - started if settings.embedding is not None else 0.0
    used = rows if way.vocabulary is None else len(way.vocabulary.selected)

    def batch_of(step: int, part: int, rank: int, world: int) -> dict[str, torch.Tensor]:
        return prepared.task.batch(
            data, order.rows(step)[rank * engine.accumulation + part :: world * engine.accumulation]
        )

    with tempfile.TemporaryDirectory() as work:
        run = train(
            network,
            batch_of,
            prepared.task.loss,
            engine,
            work=Path(work),
            save_every=engine.steps,
            fingerprint="",
            on_checkpoint=lambda step, model: None,
            device=device,
            # Memory is what is measured.
            memory=TrainingMemory(),
        )
        moments = _stored_moments(Path(work))
    peak = peak_memory(next(network.parameters()).device) - before
    parameters = sum(parameter.numel() for parameter in network.parameters())
    if settings.embedding is not None:
        fresh: Any = prepared.task.load(model, settings.dropout)
        started = time.monotonic()
        way.finish(network, lambda: fresh)
        seconds += time.monotonic() - started
    return TrainingCost(
        vocabulary=rows,
        used=used,
        width=width,
        parameters=parameters,
        moments=moments,
        examples=len(data),
        steps=run.step,
        tokens=run.tokens,
        pema_seconds=seconds,
        train_seconds=run.throughput[-1]["seconds"],
        peak_bytes=peak,
    )


def _stored_moments(work: Path) -> int:
    """Numbers in the moments that the last resume point holds."""
    from safetensors import safe_open

    newest = max(work.glob("resume-*"))
    with safe_open(newest / "tensors.safetensors", framework="pt") as stored:
        shapes: list[Any] = [stored.get_slice(name).get_shape() for name in stored.keys() if name.startswith(_MOMENTS)]  # noqa: SIM118
    return sum(int(torch.Size(shape).numel()) for shape in shapes)


def _memory_now() -> int:
    """Bytes that the process holds; 0 on systems that do not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    import resource

    return 0 if torch.cuda.is_available() else pages * resource.getpagesize()


def peak_memory(device: torch.device) -> int:
    """Largest bytes so far: of the GPU's allocator where the model lies there, else of the process."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    import resource
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux reports kilobytes, macOS bytes.
    return peak if sys.platform == "darwin" else peak * 1024
