"""Fine-tuned models that are kept: in the folder of their cell, and beside the metrics when the job is done.

With PEMA the reduced model is kept, with the tokens of its rows; `pema_restore` makes the whole one.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reprlab.models.build import save_model
from reprlab.models.pema import PartialVocabulary
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import atomic_directory
from reprlab.text.tokenizer_folder import copy_tokenizer
from reprlab.training.ladder import link_or_copy


def kept_name(name: str, learning_rate: float) -> str:
    """Name of the kept model of a checkpoint and a learning rate."""
    return f"{name}.lr-{learning_rate:g}"


def keep_model(network: Any, tokenizer: Path, folder: Path) -> None:
    """Save a model with its tokenizer, so that `from_pretrained` opens both."""
    with atomic_directory(folder) as target:
        save_model(network, target)
        copy_tokenizer(tokenizer, target)


VOCABULARY = "vocabulary.safetensors"
"""`selected` [u], the token of each row of a reduced model, and `token_map` [V], the row of each token or -1."""


def keep_reduced_model(network: Any, vocabulary: PartialVocabulary, folder: Path) -> None:
    """Save a model whose embedding has the rows of `vocabulary` alone, with that vocabulary."""
    with atomic_directory(folder) as target:
        save_reduced(network, vocabulary, target)
        write_vocabulary(vocabulary, target)


def save_reduced(network: Any, vocabulary: PartialVocabulary, folder: Path) -> None:
    """Write config and weights with as many rows as they have; the configuration in memory stays the whole model's."""
    network.config.vocab_size = len(vocabulary.selected)
    save_model(network, folder)
    network.config.vocab_size = vocabulary.size


def write_vocabulary(vocabulary: PartialVocabulary, folder: Path) -> None:
    """Write the tokens of a reduced model's rows."""
    import torch
    from safetensors.torch import save_file

    maps = {"selected": vocabulary.selected, "token_map": vocabulary.token_map}
    save_file({name: torch.from_numpy(array) for name, array in maps.items()}, folder / VOCABULARY)


def read_vocabulary(folder: Path) -> PartialVocabulary:
    """The tokens of a reduced model's rows.

    Raises:
        ReprlabError: the folder holds no reduced model.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        stored = load_file(folder / VOCABULARY)
    except (OSError, SafetensorError):
        raise ReprlabError(
            f"{folder / VOCABULARY}: not a readable vocabulary; make the reduced model again, by pema_adapt or "
            "finetune_model"
        ) from None
    return PartialVocabulary(stored["selected"].numpy(), len(stored["token_map"]))


def publish_models(kept: Mapping[str, Path], out: Path) -> None:
    """Put kept models (name to folder) into `out`; without any, what lies there from earlier settings goes."""
    shutil.rmtree(out, ignore_errors=True)
    if kept:
        with atomic_directory(out) as folder:
            for name, model in kept.items():
                shutil.copytree(model, folder / name, copy_function=link_or_copy)
