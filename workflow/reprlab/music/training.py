"""Training of a describer in two stages, and its folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from reprlab.artifacts.json_files import read_json, write_json
from reprlab.artifacts.tables import read_parquet, write_parquet
from reprlab.models.build import load_model
from reprlab.music.describer import Describer
from reprlab.music.settings import DescriberTraining
from reprlab.representations.adapters import add_adapter, load_adapter
from reprlab.representations.settings import AdapterSettings
from reprlab.runtime.errors import ReprlabError
from reprlab.settings.base import derive

_TEXTS = ("track", "split", "genre", "type", "lyrics_text", "caption", "description")
_ABOUT, _LORA = "describer.json", "lora"


def write_states(path: Path, tracks: Sequence[dict[str, Any]], states: np.ndarray) -> None:
    """A table with the states [clips, width] of each track."""
    import pyarrow

    kind = pyarrow.list_(pyarrow.list_(pyarrow.float32()))
    columns = {
        "track": pyarrow.array([one["track"] for one in tracks]),
        "states": pyarrow.array([rows.tolist() for rows in states], kind),
    }
    write_parquet(path, pyarrow.table(columns))


def load_examples(annotations: Sequence[Path], states: Path, split: str) -> tuple[list[dict[str, Any]], np.ndarray]:
    """Annotated tracks of a split with their states [tracks, clips, width], sorted by name.

    Raises:
        ReprlabError: the split has no track, or a track has no states.
    """
    found = [
        row for path in annotations for row in read_parquet(path, list(_TEXTS)).to_pylist() if row["split"] == split
    ]
    found.sort(key=lambda row: row["track"])
    known = {row["track"]: row["states"] for row in read_parquet(states, ["track", "states"]).to_pylist()}
    if not found:
        raise ReprlabError(
            f"{annotations[0]}: no track is in the split {split}; add tracks, or change tracks.test_share"
        )
    if lacking := [row["track"] for row in found if row["track"] not in known]:
        raise ReprlabError(f"{states}: has no states of the track {lacking[0]!r}; delete it and run again")
    return found, np.array([known[row["track"]] for row in found], dtype=np.float32)


def new_describer(model: Path, width: int, settings: DescriberTraining, start: Path | None) -> Describer:
    """A describer to be trained: the adaptor as stage one left it (`start`), LoRA where the settings have it.

    Without music among the inputs the adaptor is frozen.
    """
    language: Any = load_model(model).float()
    language.requires_grad_(False)
    if settings.adapter is not None:
        language = add_adapter(language, derive(AdapterSettings, settings.adapter, engine=settings.engine))
    torch.manual_seed(settings.engine.seed)
    found = Describer(language, width)
    if start is not None:
        found.load_adaptor(start)
    found.adaptor.requires_grad_("1" in settings.inputs)
    return found


def save_describer(found: Describer, folder: Path, about: dict[str, Any]) -> None:
    """Adaptor and LoRA in a folder, with what they were trained on."""
    folder.mkdir(parents=True, exist_ok=True)
    found.save_adaptor(folder)
    if hasattr(found.language, "peft_config"):
        config = found.language.peft_config["default"]
        config.base_model_name_or_path = ""
        # peft keeps a set, which each process writes in an order of its own.
        config.target_modules = sorted(config.target_modules)
        found.language.save_pretrained(folder / _LORA)
        (folder / _LORA / "README.md").unlink(missing_ok=True)
    write_json(folder / _ABOUT, {**about, "width": found.adaptor.in_features})


def load_describer(model: Path, folder: Path | None, width: int, seed: int = 0) -> Describer:
    """A describer for generation, LoRA merged; without a folder the language model as it is, with a drawn adaptor."""
    language: Any = load_model(model).float()
    if folder is not None and (folder / _LORA).is_dir():
        language = load_adapter(language, folder / _LORA)
    torch.manual_seed(seed)
    found = Describer(language, width)
    if folder is not None:
        found.load_adaptor(folder)
    return found.eval()


def effort(folder: Path | None) -> dict[str, int]:
    """Updates and tokens of its training; none where it was not trained."""
    if folder is None:
        return {"steps": 0, "tokens": 0}
    about = read_json(folder / _ABOUT)
    return {"steps": int(about["steps"]), "tokens": int(about["tokens"])}
