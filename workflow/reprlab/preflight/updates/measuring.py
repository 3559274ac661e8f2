"""Time, memory and FLOPs of one call on a device, as one row of the table."""

from __future__ import annotations

import contextlib
import gc
import resource
import statistics
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch

Row = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """Models, batches and lengths of what is timed; those of the published jobs where nothing else is given."""

    device: str = "cuda"
    seq2seq: str = "t5_v1_1_base"
    """A T5 of models.yaml."""
    tuned: str = "olmo_1b"
    """A decoder of models.yaml, trained whole."""
    adapted: str = "llama_3_8b"
    """A Llama of models.yaml, with adapters and for states."""
    layers: int | None = None
    """Every stack is cut to so many."""
    batch: int | None = None
    """Examples of a step; None: as many as the jobs have."""
    length: int = 512
    """Tokens of an example before corruption."""
    steps: int = 20
    """Steps that are timed, after three others."""
    matrix: int = 8192
    """Side of the matrices whose rate is measured."""
    dtype: str = "bfloat16"
    """Arithmetic of encoder-decoders; decoders have that of their jobs."""


@dataclass(frozen=True)
class Update:
    """A step that can be timed."""

    what: str
    model: str
    measured: Callable[[], Row]


def seconds_of(run: Callable[[], object], device: str, repeats: int, warm: int = 3) -> float:
    """Median seconds of a call, after calls that are not timed."""
    times = []
    for number in range(warm + repeats):
        synchronise(device)
        start = time.perf_counter()
        run()
        synchronise(device)
        if number >= warm:
            times.append(time.perf_counter() - start)
    return statistics.median(times)


def synchronise(device: str) -> None:
    """Wait for what was sent to the device."""
    if device == "cuda":
        torch.cuda.synchronize()


def start_memory(device: str) -> None:
    """Forget the models of earlier rows and their peak; a CPU's peak is that of the whole process."""
    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def peak_memory_gb(device: str) -> float:
    """Largest memory since `start_memory`."""
    if device == "cuda":
        return torch.cuda.max_memory_allocated() / 1e9
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def matrix_rate(side: int, device: str) -> float:
    """FLOP per second of a square bfloat16 product."""
    left, right = (torch.randn(side, side, device=device, dtype=torch.bfloat16) for _ in range(2))
    return 2 * side**3 / seconds_of(lambda: left @ right, device, repeats=10)


def precision(dtype: str, device: str) -> AbstractContextManager[Any]:
    """Mixed precision as in the training loop."""
    return torch.autocast(device, dtype=torch.bfloat16) if dtype == "bfloat16" else contextlib.nullcontext()


def training_step(model: Any, loss_of: Callable[[], torch.Tensor], dtype: str, device: str) -> Callable[[], None]:
    """A whole update as the training loop makes it: loss, gradients, clipping, AdamW on what is trained."""
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4, fused=True)

    def step() -> None:
        with precision(dtype, device):
            loss = loss_of()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def row(
    what: str,
    name: str,
    model: Any,
    *,
    device: str,
    batch: int,
    length: int,
    encoder_tokens: int,
    decoder_tokens: int,
    seconds: float,
    flops: float,
    collation: float | None = None,
) -> Row:
    """What a call on `batch` texts of `length` tokens took; `flops` and `collation` (seconds) are of all of them."""
    return {
        "what": what,
        "model": name,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "batch": batch,
        "encoder_tokens": encoder_tokens,
        "decoder_tokens": decoder_tokens,
        "milliseconds": 1e3 * seconds,
        "tokens_per_second": batch * length / seconds,
        "memory_gb": peak_memory_gb(device),
        "tera_flops": flops / seconds / 1e12,
        "collation_share": None if collation is None else collation / seconds,
    }
