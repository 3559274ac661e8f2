"""A ladder: one folder of model folders, `step-00000400`, that `from_pretrained` opens."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.artifacts.json_files import read_json, write_json
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import atomic_directory
from reprlab.runtime.log import get_logger

if TYPE_CHECKING:
    import torch

_RECORD = "run.json"


def step_folder(ladder: Path, step: int) -> Path:
    """Where the ladder keeps a step."""
    return ladder / f"step-{step:08d}"


def find_step(ladder: Path, step: int) -> Path:
    """The folder of a step.

    Raises:
        ReprlabError: the ladder lacks it, as after divergence.
    """
    folder = step_folder(ladder, step)
    if not folder.is_dir():
        kept = ", ".join(sorted(path.name for path in ladder.glob("step-*"))) or "nothing"
        raise ReprlabError(
            f"{folder}: no such checkpoint (the ladder holds {kept}); add {step} to the ladder of the run, "
            "or lower its learning rate if it diverged"
        )
    return folder


def keep_step(model: torch.nn.Module, ladder: Path, step: int, tokenizer: Path) -> None:
    """Save a step with its tokenizer into the ladder, whole or not at all."""
    from reprlab.models.build import save_model
    from reprlab.text.tokenizer_folder import copy_tokenizer

    with atomic_directory(step_folder(ladder, step)) as folder:
        save_model(model, folder)
        copy_tokenizer(tokenizer, folder)


def steps_before_divergence(ladder: Path, steps: list[int]) -> list[int]:
    """Those of `steps` that the run made; all of them unless it diverged. What is left out is said in the log."""
    diverged_at = read_json(ladder / _RECORD)["diverged_at"]
    made = [step for step in steps if diverged_at is None or step < diverged_at]
    if made != steps:
        get_logger().warning("%s: the run diverged at update %d; its later steps are left out", ladder, diverged_at)
    return made


def publish_ladder(working: Path, out: Path, diverged_at: int | None) -> None:
    """Put the steps of a finished run at `out` in one move; `working` stays until its owner removes it."""
    with atomic_directory(out) as folder:
        write_json(folder / _RECORD, {"diverged_at": diverged_at})
        for step in sorted(working.glob("step-*")):
            shutil.copytree(step, folder / step.name, copy_function=link_or_copy)


def link_or_copy(source: str, target: str) -> str:
    """A second name for a file that is never written again, or a copy where the disk has no such names."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
    return target
