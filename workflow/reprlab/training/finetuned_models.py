"""Fine-tuned models that are kept: in the folder of their cell, and beside the metrics when the job is done."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reprlab.models.build import save_model
from reprlab.runtime.files import atomic_directory
from reprlab.text.tokenizer_folder import copy_tokenizer
from reprlab.training.ladder import link_or_copy


def keep_model(network: Any, tokenizer: Path, folder: Path) -> None:
    """Save a model with its tokenizer, so that `from_pretrained` opens both."""
    with atomic_directory(folder) as target:
        save_model(network, target)
        copy_tokenizer(tokenizer, target)


def publish_models(kept: Mapping[str, Path], out: Path) -> None:
    """Put kept models (name to folder) into `out`; without any, what lies there from earlier settings goes."""
    shutil.rmtree(out, ignore_errors=True)
    if kept:
        with atomic_directory(out) as folder:
            for name, model in kept.items():
                shutil.copytree(model, folder / name, copy_function=link_or_copy)
