"""Weights of a cut model, drawn, and saved in the form in which its repository has them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict
from reprlab.registry.models import ModelEntry

if TYPE_CHECKING:
    import torch

_LAYER = "{layer}"
_METADATA = {"format": "pt"}


class WeightsLayout(BaseModel):
    """The weight files of a repository."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    files: list[str]
    """Files or patterns with `NNNNN`, as `model-NNNNN-of-00004.safetensors`, whose index is beside them."""
    saved: str = ""
    """Class of transformers whose weights they are, heads included; empty: the entry's own."""
    renamed: dict[str, str] = {}
    """Regular expressions of names as transformers has them now, and what is published in their place."""
    dropped: list[str] = []
    """Regular expressions of weights that the repository lacks."""
    further: dict[str, list[int]] = {}
    """Published weights that no class has, with their shapes; `{layer}` stands for each layer's number."""
    dtype: str = "float32"
    """Type of the numbers."""


def draw(layout: WeightsLayout, entry: ModelEntry, seed: int) -> dict[str, torch.Tensor]:
    """The weights of a cut entry by the names of transformers, each of its own values: an initial bias of 0 would not
    show whether it was read."""
    import torch
    import transformers
    from reprlab.models.build import architecture_classes, build_from_config, configuration

    if layout.saved:
        config_class, _ = architecture_classes(entry.architecture)
        torch.manual_seed(seed)
        model: Any = getattr(transformers, layout.saved)(configuration(config_class, entry, None))
    else:
        model = build_from_config(entry, seed=seed)
    with torch.no_grad():
        for value in model.parameters():
            value.add_(torch.randn_like(value) * 0.02)
    dtype = getattr(torch, layout.dtype)
    # Tied weights stay one tensor, which a pickle keeps twice by name and safetensors once.
    made: dict[int, torch.Tensor] = {}
    found = {}
    # What is tied to another weight comes last, so that safetensors keeps the other one.
    tied = model.all_tied_weights_keys
    for name, value in sorted(model.state_dict().items(), key=lambda pair: pair[0] in tied):
        kept = made.setdefault(value.data_ptr(), value.to(dtype) if value.is_floating_point() else value)
        found[name] = kept
    layers = int(entry.config.get("num_hidden_layers") or entry.config.get("n_layer") or 0)
    for name, shape in layout.further.items():
        for layer in range(layers) if _LAYER in name else [0]:
            places = name.endswith("position_ids")
            value = torch.arange(shape[-1]).expand(shape).clone() if places else torch.randn(shape, dtype=dtype)
            found[name.replace(_LAYER, str(layer))] = value
    return found


def publish_weights(layout: WeightsLayout, drawn: dict[str, torch.Tensor], folder: Path) -> None:
    """Write the published files into `folder`."""

    named: dict[str, torch.Tensor] = {}
    for name, value in drawn.items():
        if any(re.search(pattern, name) for pattern in layout.dropped):
            continue
        for pattern, text in layout.renamed.items():
            name = re.sub(pattern, text, name)
        named[name] = value
    for pattern in layout.files:
        if "NNNNN" in pattern:
            _write_shards(named, pattern, folder)
        else:
            _write(named, folder / pattern)


def _write_shards(weights: dict[str, torch.Tensor], pattern: str, folder: Path) -> None:
    found = re.search(r"-of-(\d+)\.(\w+)$", pattern)
    assert found
    count, kind = int(found[1]), found[2]
    weights = _once(weights) if kind == "safetensors" else weights
    names = list(weights)
    of: dict[str, str] = {}
    for number in range(count):
        part = names[len(names) * number // count : len(names) * (number + 1) // count]
        file = pattern.replace("NNNNN", f"{number + 1:05d}")
        _write({name: weights[name] for name in part}, folder / file)
        of |= dict.fromkeys(part, file)
    size = sum(value.numel() * value.element_size() for value in weights.values())
    index = {"metadata": {"total_size": size}, "weight_map": of}
    stem = pattern.partition("-NNNNN")[0]
    (folder / f"{stem}.{kind}.index.json").write_text(json.dumps(index, indent=2), encoding="utf-8")


def _write(weights: dict[str, torch.Tensor], file: Path) -> None:
    import torch
    from safetensors.torch import save_file

    if file.suffix == ".safetensors":
        save_file({name: value.contiguous() for name, value in _once(weights).items()}, file, _METADATA)
    else:
        torch.save(weights, file)


def _once(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Each tensor under its first name alone, as safetensors keeps what is tied."""
    first: dict[int, str] = {}
    return {name: value for name, value in weights.items() if first.setdefault(value.data_ptr(), name) == name}
