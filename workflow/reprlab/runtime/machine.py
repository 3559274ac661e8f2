"""Properties of this machine, found without importing torch."""

import functools
import os
from pathlib import Path
from typing import Literal

# What `auto` meant on the machine that planned the run: another one must not compute otherwise than was planned.
PLANNED_DTYPE = "REPRLAB_PLANNED_DTYPE"

_ISAS_WITHOUT_BFLOAT16 = {"SSE41", "AVX", "AVX2", "AVX2_VNNI", "AVX2_VNNI_2", "AVX512_CORE", "AVX512_CORE_VNNI"}


def count_gpus() -> int:
    """Number of NVIDIA GPUs that this process may use."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([name for name in visible.split(",") if name.strip() not in ("", "-1")])
    return len(list(Path("/dev").glob("nvidia[0-9]*")))


@functools.cache
def has_bfloat16_products() -> bool:
    """Whether the processor multiplies bfloat16 matrices in hardware and oneDNN is allowed to use it."""
    if os.environ.get("ONEDNN_MAX_CPU_ISA", "DEFAULT").upper() in _ISAS_WITHOUT_BFLOAT16:
        return False
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").split()
    except OSError:
        return False
    # Without AMX, AVX-512's products still took a third of the time of float32 in a model 576 wide (Zen, one core).
    return not {"amx_bf16", "avx512_bf16"}.isdisjoint(flags)


def resolve_dtype(dtype: str, device: str) -> Literal["float32", "bfloat16"]:
    """`auto`: bfloat16 on GPUs and CPUs that multiply it, else float32; in jobs of a cluster, what was planned."""
    if dtype != "auto":
        return "bfloat16" if dtype == "bfloat16" else "float32"
    if planned := os.environ.get(PLANNED_DTYPE):
        return "bfloat16" if planned == "bfloat16" else "float32"
    on_gpu = device.startswith("cuda") or (device == "auto" and count_gpus() > 0)
    return "bfloat16" if on_gpu or has_bfloat16_products() else "float32"
