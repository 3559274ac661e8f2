"""The table of published layouts, `layouts.yaml`: a repository, what it holds, and where that was found."""

from __future__ import annotations

import copy
import functools
import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict
from reprlab.models.build import architecture_classes
from reprlab.models.cut import LAYERS, cut_entry
from reprlab.registry.models import HubOrigin, ModelEntry

from tests.published_hub.tokenizers import TokenizerLayout, write_tokenizer
from tests.published_hub.weights import WeightsLayout, draw, publish_weights

FILE = Path(__file__).with_name("layouts.yaml")
_OWN = (path for path in sorted(Path(__file__).parent.glob("*")) if path.suffix in (".py", ".yaml"))
CODE = hashlib.sha256(b"".join(path.read_bytes() for path in _OWN if path != FILE)).hexdigest()[:12]
"""Digest of this package without its table of layouts: what it made before a change is made again."""
DRAWN = ".drawn.pt"
"""Beside the published files, and not served: the weights by the names that transformers has now."""


class Layout(BaseModel):
    """One repository."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    weights: WeightsLayout | None = None
    """Its weights; an adapter has others."""
    tokenizer: TokenizerLayout | None = None
    """Its tokenizer; none of what hears."""
    config: dict[str, Any] = {}
    """What config.json has besides the numbers of the entry."""
    layers: int = LAYERS
    """Layers that are served; a share of more than two thirds of them can be pruned from ten."""
    unsaid: list[str] = []
    """Numbers of the entry that config.json does not have."""
    adapter: dict[str, Any] | None = None
    """adapter_config.json, where the repository is an adapter."""
    branches: list[str] = []
    """Patterns of its branches beside main."""
    beside: list[str] = ["README.md"]
    """Further files, which nothing reads."""
    gated: bool = False
    """Whether a licence must be accepted."""
    source: str
    """Where the layout was found."""
    unconfirmed: str = ""
    """What of it could not be confirmed; empty: nothing."""


@functools.cache
def layouts() -> Mapping[str, Layout]:
    """The table. Blocks that several repositories share are anchors under `shared`."""
    raw = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    raw.pop("shared", None)
    return {name: Layout.model_validate(_merged(value)) for name, value in raw.items()}


def _merged(value: Any) -> Any:
    """`like` in a mapping stands for the mapping it names; what stands beside it is laid over it."""
    if not isinstance(value, dict):
        return value
    base = copy.deepcopy(_merged(value["like"])) if "like" in value else {}
    for key, one in value.items():
        if key != "like":
            one = _merged(one)
            base[key] = {**base[key], **one} if isinstance(one, dict) and isinstance(base.get(key), dict) else one
    return base


def build_model_repository(repository: str, revision: str, models: Mapping[str, ModelEntry], cache: Path) -> Path:
    """A folder with the published files of a repository at a revision, its model cut; made once for the same layout.

    Args:
        repository: one of the table.
        revision: weights of another revision are others.
        models: the registry, not cut.
        cache: where folders are kept.
    """
    layout = layouts()[repository]
    entry = entry_of(repository, models)
    cut = served_entry(entry)
    about = json.dumps([layout.model_dump(), cut.model_dump(), revision, repository], sort_keys=True)
    folder = cache / hashlib.sha256(f"{about}{CODE}".encode()).hexdigest()[:20]
    if folder.is_dir():
        return folder
    making = folder.with_name(f"{folder.name}.making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    seed = int(hashlib.sha256(f"{repository}@{revision}".encode()).hexdigest()[:8], 16)
    if layout.adapter is not None:
        _write_adapter(layout, cut, making, seed)
    else:
        _write_model(layout, cut, making, seed)
    for name in layout.beside:
        (making / name).parent.mkdir(parents=True, exist_ok=True)
        (making / name).write_bytes(b"nothing reads this\n")
    making.rename(folder)
    return folder


def entry_of(repository: str, models: Mapping[str, ModelEntry]) -> ModelEntry:
    """The entry that names a repository; of an adapter, the model that it adapts."""
    found = [
        entry for entry in models.values()
        if isinstance(entry.origin, HubOrigin) and repository in (entry.origin.repository, entry.origin.adapter)
    ]  # fmt: skip
    return next((entry for entry in found if not entry.origin.adapter), found[0])


def served_entry(entry: ModelEntry) -> ModelEntry:
    """The entry of a model as its repository serves it, cut; one that is of no repository is cut as any other."""
    layout = layouts().get(entry.origin.repository) if isinstance(entry.origin, HubOrigin) else None
    return cut_entry(entry, layout.layers if layout else LAYERS)


def published_config(layout: Layout, cut: ModelEntry) -> dict[str, Any]:
    """config.json: the entry's numbers, cut, and what else is published there."""
    config_class, _ = architecture_classes(cut.architecture)
    numbers = {key: value for key, value in cut.config.items() if key not in layout.unsaid}
    return {"model_type": config_class.model_type, **numbers, **_sized(layout.config, cut)}


def _sized(config: dict[str, Any], cut: ModelEntry) -> dict[str, Any]:
    """The published config with `=name` or `=name*2` in place of a number that is cut with the entry's `name`."""

    def number(value: Any) -> Any:
        found = re.fullmatch(r"=(\w+)(?:\*(\d+))?", value) if isinstance(value, str) else None
        return int(cut.config[found[1]]) * int(found[2] or 1) if found else value

    return {key: number(value) for key, value in config.items()}


def _write_model(layout: Layout, cut: ModelEntry, folder: Path, seed: int) -> None:
    import torch

    config = published_config(layout, cut)
    (folder / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    if layout.weights is not None:
        drawn = draw(layout.weights, cut, seed)
        torch.save(drawn, folder / DRAWN)
        publish_weights(layout.weights, drawn, folder)
    if layout.tokenizer is not None:
        write_tokenizer(layout.tokenizer, folder, config)


def _write_adapter(layout: Layout, cut: ModelEntry, folder: Path, seed: int) -> None:
    """Low-rank adapters for the named layers of each of the decoder's layers, as peft saves them."""
    import torch
    from safetensors.torch import save_file

    assert layout.adapter is not None and layout.weights is not None
    about = layout.adapter
    (folder / "adapter_config.json").write_text(json.dumps(about, indent=2), encoding="utf-8")
    own = WeightsLayout(files=[])
    torch.manual_seed(seed)
    made: dict[str, torch.Tensor] = {}
    for name, value in draw(own, cut, seed).items():
        stem = name.removesuffix(".weight")
        if stem.rpartition(".")[2] in about["target_modules"]:
            published = f"base_model.model.{stem.removeprefix('model.')}"
            made[f"{published}.lora_A.weight"] = torch.randn(about["r"], value.shape[1]) * 0.1
            made[f"{published}.lora_B.weight"] = torch.randn(value.shape[0], about["r"]) * 0.1
    for file in layout.weights.files:
        save_file(made, folder / file, {"format": "pt"})
