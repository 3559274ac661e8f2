"""Memory that gives out: how it is recognised, and how a training that did not fit is kept as a result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

OUT_OF_MEMORY = "out of memory"
"""Beginning of the reason of a row that memory did not suffice for."""
# What PyTorch's allocator on a CPU says, by platform; it has no class of its own for this error.
_REFUSED = ("DefaultCPUAllocator: can't allocate memory", "DefaultCPUAllocator: not enough memory")
_MARKER = "out_of_memory.json"


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory was refused, by an accelerator, by PyTorch's allocator on a CPU, or by Python."""
    import torch

    refused = isinstance(error, RuntimeError) and any(text in str(error) for text in _REFUSED)
    return refused or isinstance(error, torch.cuda.OutOfMemoryError | MemoryError)


def write_unfit(out: Path, metrics: Path, seeds: Sequence[int], error: Exception) -> None:
    """In place of trained models: `out` with a marker alone, and `metrics` with a row without a loss for each seed."""
    from reprlab.artifacts.json_files import write_json
    from reprlab.artifacts.tsv import write_rows
    from reprlab.runtime.errors import first_line
    from reprlab.runtime.files import atomic_directory
    from reprlab.runtime.log import get_logger

    reason = f"{OUT_OF_MEMORY} in training"
    get_logger().warning(
        "%s: %s (%s); its scores say so. With more memory, runtime.accumulation or runtime.activation_checkpointing "
        "delete that folder and run again",
        out, reason, first_line(error),
    )  # fmt: skip
    with atomic_directory(out) as folder:
        write_json(folder / _MARKER, {"reason": reason, "error": first_line(error)})
    write_rows(metrics, [{"seed": seed, "step": 0, "tokens": 0, "loss": math.nan} for seed in seeds])


def unfit(models: Path) -> str:
    """Why there are no models in the folder; "" where there are."""
    from reprlab.artifacts.json_files import read_json

    marker = models / _MARKER
    return str(read_json(marker)["reason"]) if marker.exists() else ""
