"""Moments of Adam that outlive their run: they are kept beside its last step, and another run begins with them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.runtime.errors import ReprlabError, first_line
from reprlab.runtime.files import atomic_file
from reprlab.runtime.storage import storage_errors
from reprlab.training.checkpoints import Progress, in_memory_as, load_resume_point, save_resume_point
from reprlab.training.engine import build_optimizer

if TYPE_CHECKING:
    import torch

    from reprlab.training.settings import OptimizerSettings

_FILE = "moments.safetensors"
_SLOTS = ("exp_avg", "exp_avg_sq", "step")


def keep_moments(point: Path, step: Path) -> None:
    """Keep in `step`, a folder of a ladder, what AdamW held at the resume point `point`: two moments and the updates
    made, by parameter."""
    from safetensors import safe_open
    from safetensors.torch import save_file

    with safe_open(point / "tensors.safetensors", framework="pt") as stored:
        names = [name for name in stored.keys() if name.startswith("optimizer.")]  # noqa: SIM118
        held = {name: stored.get_tensor(name) for name in names}
    with atomic_file(step / _FILE) as path, storage_errors():
        save_file(held, path, metadata={"format": "pt"})
        # safetensors writes for the owner alone.
        path.chmod((step / "config.json").stat().st_mode)


def moments_of(ladder: Path) -> Path:
    """The moments that a run kept.

    Raises:
        ReprlabError: it kept none.
    """
    kept = sorted(ladder.glob(f"step-*/{_FILE}"))
    if not kept:
        raise ReprlabError(f"{ladder}: its run kept no moments of Adam; delete it and run again with keep_moments")
    return kept[-1]


def begin_with_moments(
    moments: Path, model: torch.nn.Module, settings: OptimizerSettings, *, work: Path, fingerprint: str
) -> None:
    """Leave in `work` a resume point of no updates that holds `moments`: `train` begins there as if it had gone on.

    AdamW counts on from the updates that the moments are of, which its bias correction reads; data, rates and seeds
    begin anew. Nothing is done where `work` has a good resume point of this run.

    Raises:
        ReprlabError: the file is damaged, or not of the parameters of `model` and their shapes.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    optimizer = build_optimizer(model, settings)
    if load_resume_point(work, model, optimizer, fingerprint) is not None:
        return
    # The newest two are kept, good or not.
    for unusable in work.glob("resume-*"):
        shutil.rmtree(unusable)
    try:
        found = load_file(moments)
    except (OSError, SafetensorError) as error:
        raise ReprlabError(f"{moments}: not readable ({first_line(error)}); delete its ladder and run again") from error
    parameters = {name: one for name, one in model.named_parameters() if one.requires_grad}
    shapes = {
        f"optimizer.{slot}.{name}": one.shape if slot != "step" else one.shape[:0]
        for name, one in parameters.items()
        for slot in _SLOTS
    }
    odd = {name for name in {*found, *shapes} if name not in found or found[name].shape != shapes.get(name)}
    if odd:
        raise ReprlabError(f"{moments}: not the moments of this model ({min(odd)}); delete its ladder and run again")
    for name, parameter in parameters.items():
        held = {slot: found[f"optimizer.{slot}.{name}"] for slot in _SLOTS}
        optimizer.state[parameter] = {slot: in_memory_as(parameter, value) for slot, value in held.items()}
    save_resume_point(work, Progress(), model, optimizer, fingerprint)
