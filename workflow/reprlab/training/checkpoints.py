"""Resume points: everything that a run needs to go on as if it had never stopped.

A resume point is a folder with `tensors.safetensors` (trained weights, buffers, optimizer) and `state.json` (the rest,
and the digest of the tensors). It appears whole or not at all, and the newest two are kept, so that one damaged on disk
costs a few steps and not the run. Random states need no place in it: the loop seeds every generator from (seed, step).
Nor do frozen weights: whoever resumes builds the same model, and the fingerprint must cover the files that it is from.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.runtime.files import atomic_directory
from reprlab.runtime.log import get_logger
from reprlab.runtime.storage import storage_errors

if TYPE_CHECKING:
    import torch

_FORMAT = 1
_KEPT = 2


@dataclass
class Progress:
    """How far a run has come, apart from its tensors."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    window: dict[str, float] = field(default_factory=dict)
    metrics: list[dict[str, Any]] = field(default_factory=list)
    throughput: list[dict[str, Any]] = field(default_factory=list)
    diverged_at: int | None = None


def save_resume_point(
    work: Path, progress: Progress, model: torch.nn.Module, optimizer: torch.optim.Optimizer, fingerprint: str
) -> None:
    """Write `work/resume-<step>` atomically and drop all but the newest two.

    Raises:
        ReprlabError: the disk is full or the folder not writable.
    """
    from safetensors.torch import save_file

    with atomic_directory(work / f"resume-{progress.step:08d}") as folder:
        tensors = folder / "tensors.safetensors"
        with storage_errors():
            save_file(_tensors(model, optimizer), tensors, metadata={"format": "pt"})
        state = {
            "format": _FORMAT,
            "fingerprint": fingerprint,
            "sha256": _sha256(tensors),
            "progress": asdict(progress),
        }
        (folder / "state.json").write_text(json.dumps(state) + "\n", encoding="utf-8")
    for old in _resume_points(work)[_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)


def load_resume_point(
    work: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer, fingerprint: str
) -> Progress | None:
    """Restore model and optimizer from the newest good resume point in `work`; None where there is none.

    A point of another fingerprint (other settings, data or code) or a damaged one is passed over with a line in the
    log, never half used.
    """
    for folder in _resume_points(work):
        try:
            state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
            if state["format"] != _FORMAT or state["fingerprint"] != fingerprint:
                get_logger().warning("%s: made with other settings, data or code; not resumed from", folder)
                continue
            if _sha256(folder / "tensors.safetensors") != state["sha256"]:
                raise ValueError("its tensors do not match their sha256")
            progress = Progress(**state["progress"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            get_logger().warning("%s: damaged resume point (%s); trying the one before it", folder, error)
            continue
        _restore(folder / "tensors.safetensors", model, optimizer)
        get_logger().info("%s: resumed at step %d", folder, progress.step)
        return progress
    return None


def discard_unfinished(work: Path) -> None:
    """Remove what a kill in the middle of a save left in `work`: each is as large as a resume point."""
    for folder in (*work.glob(".*.part"), *work.glob(".*.old"), *work.glob("*/.*.part")):
        shutil.rmtree(folder, ignore_errors=True)


def _resume_points(work: Path) -> list[Path]:
    """Resume points, newest first."""
    return sorted((path for path in work.glob("resume-*") if path.is_dir()), reverse=True)


def _tensors(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    # named_parameters and named_buffers name a tied tensor once, which is what safetensors can store.
    tensors = {f"model.{name}": tensor.detach() for name, tensor in _model_tensors(model).items()}
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    for parameter, slots in optimizer.state.items():
        for slot, value in slots.items():
            tensors[f"optimizer.{slot}.{names[id(parameter)]}"] = value
    return {name: tensor.contiguous() for name, tensor in tensors.items()}


def _model_tensors(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Tensors that training can change: weights with `requires_grad`, and buffers."""
    trained = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    return {**trained, **dict(model.named_buffers())}


def _restore(path: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    import torch
    from safetensors import safe_open

    parameters = dict(model.named_parameters())
    with safe_open(path, framework="pt") as stored, torch.no_grad():
        names = stored.keys()
        for name, tensor in _model_tensors(model).items():
            tensor.copy_(stored.get_tensor(f"model.{name}"))
        for name in names:
            kind, _, rest = name.partition(".")
            if kind == "optimizer":
                slot, _, owner = rest.partition(".")
                parameter = parameters[owner]
                value = stored.get_tensor(name)
                # The step count of plain AdamW stays on the CPU; the fused one wants it beside the parameter.
                fused = bool(optimizer.defaults.get("fused"))
                device = parameter.device if slot != "step" or fused else value.device
                optimizer.state[parameter][slot] = in_memory_as(parameter, value.to(device))


def in_memory_as(parameter: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """`value` in the order in memory of `parameter`, where both have one shape: a file keeps numbers row by row, and
    fused AdamW walks the memory of a parameter and of its moments side by side."""
    import torch

    return torch.empty_like(parameter, dtype=value.dtype).copy_(value) if value.shape == parameter.shape else value


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
