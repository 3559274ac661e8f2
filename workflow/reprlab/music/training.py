"""Training of a describer in two stages, its folder, and what it writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from reprlab.artifacts.json_files import read_json, write_json
from reprlab.artifacts.tables import read_parquet, write_parquet
from reprlab.artifacts.tsv import write_rows
from reprlab.models.build import load_model
from reprlab.music.describer import ADAPTOR, Describer, Examples, target_loss
from reprlab.music.prefix_settings import PrefixTraining
from reprlab.music.settings import DescriberTraining
from reprlab.representations.adapters import add_adapter, load_adapter
from reprlab.representations.settings import AdapterSettings
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import atomic_directory, remove_directory
from reprlab.settings.base import derive
from reprlab.training.engine import train
from reprlab.training.fingerprints import run_fingerprint
from reprlab.training.settings import EngineSettings

_TEXTS = ("track", "split", "genre", "type", "lyrics_text", "caption", "description")
ABOUT = "describer.json"
_LORA = "lora"


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
    found.save_adaptor(folder)
    if hasattr(found.language, "peft_config"):
        config = found.language.peft_config["default"]
        config.base_model_name_or_path = ""
        # peft keeps a set, which each process writes in an order of its own.
        config.target_modules = sorted(config.target_modules)
        found.language.save_pretrained(folder / _LORA)
        (folder / _LORA / "README.md").unlink(missing_ok=True)
    write_json(folder / ABOUT, {**about, "width": found.adaptor.in_features})


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


def train_stage(
    new: Callable[[list[dict[str, Any]], np.ndarray], tuple[Describer, Examples]],
    save: Callable[[Describer, Path, dict[str, Any]], None],
    *,
    model: Path,
    annotations: Sequence[Path],
    states: Path,
    start: Path | None,
    settings: DescriberTraining | PrefixTraining,
    fingerprint: str,
    out: Path,
    metrics: Path,
    work: Path,
    save_every: int,
    device: str,
) -> None:
    """Train what `new` makes of the training tracks and their states; `save` writes it into the folder `out`.

    Raises:
        ReprlabError: unreadable inputs, or SIGTERM came: the same command goes on.
    """
    read = [*annotations, states, model / "config.json", *sorted(model.glob("*.safetensors"))]
    identity = run_fingerprint(fingerprint, settings, [*read, *([start / ADAPTOR] if start else [])])
    # What is described afterwards is read as well, so that a lack of it is told before the first update.
    (tracks, audio), _ = (load_examples(annotations, states, split) for split in ("train", "test"))
    describer, examples = new(tracks, audio)
    run = train(
        describer,
        examples,
        target_loss,
        _engine_of(settings, len(tracks)),
        work=work,
        save_every=save_every,
        fingerprint=identity,
        on_checkpoint=lambda step, trained: None,
        device=device,
    )
    if not run.is_main:
        return
    about = {"steps": run.step, "tokens": run.tokens, "cut_targets": examples.cut, "examples": len(tracks)}
    with atomic_directory(out) as folder:
        folder.mkdir(parents=True, exist_ok=True)
        save(describer, folder, {**about, "diverged": run.diverged_at is not None})
    write_rows(metrics, [{**row, "cut_targets": examples.cut} for row in run.metrics])
    remove_directory(work)


def _engine_of(settings: DescriberTraining | PrefixTraining, tracks: int) -> EngineSettings:
    engine = settings.engine
    if settings.epochs is None:
        return engine
    steps = max(1, round(settings.epochs * tracks / engine.batch_size))
    warmup = min(engine.schedule.warmup_steps, steps - 1)
    schedule = engine.schedule.model_copy(update={"warmup_steps": warmup})
    return engine.model_copy(update={"steps": steps, "schedule": schedule})


def write_descriptions(
    path: Path,
    tracks: Sequence[dict[str, Any]],
    prompts: Sequence[str],
    texts: Sequence[str],
    *,
    about: Path | None,
    wanted: str = "description",
) -> None:
    """A table with the prompt's text, the target (the column `wanted`) and the text of each track.

    Updates and tokens of the training are those that the file `about` has; 0 where nothing was trained.
    """
    import pyarrow

    told = {} if about is None else read_json(about)
    made = {name: int(told.get(name, 0)) for name in ("steps", "tokens")}
    rows = [
        {"track": one["track"], "prompt": prompt, "target": one[wanted], "text": text, **made}
        for one, prompt, text in zip(tracks, prompts, texts, strict=True)
    ]
    kinds = {name: pyarrow.int64() for name in made}
    names = ("track", "prompt", "target", "text", *made)
    schema = pyarrow.schema([(name, kinds.get(name, pyarrow.string())) for name in names])
    write_parquet(path, pyarrow.Table.from_pylist(rows, schema))
