"""Seconds of calls on a device, which is waited for: a GPU's return before their work is done."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def call_seconds(call: Callable[[], object], device: torch.device, *, repeats: int, warmups: int) -> list[float]:
    """Seconds of each of `repeats` calls after `warmups` that are not timed."""
    import torch

    wait = torch.cuda.synchronize if device.type == "cuda" else (lambda: None)
    found = []
    for _ in range(warmups + repeats):
        wait()
        started = time.perf_counter()
        call()
        wait()
        found.append(time.perf_counter() - started)
    return found[warmups:]
