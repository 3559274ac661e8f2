"""One job that trains the same with several seeds: what is finished is kept in `work` and not trained again."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from reprlab.artifacts.kept import Kept
from reprlab.artifacts.tsv import write_rows
from reprlab.runtime.files import atomic_directory, remove_directory
from reprlab.runtime.log import get_logger
from reprlab.runtime.seals import content_digest
from reprlab.training.engine import TrainingRun
from reprlab.training.fingerprints import run_fingerprint
from reprlab.training.ladder import link_or_copy
from reprlab.training.settings import EngineSettings

Settings = TypeVar("Settings", bound=BaseModel)


def seeded(engine: EngineSettings, seed: int) -> EngineSettings:
    """The loop with this seed."""
    return engine.model_copy(update={"seed": seed})


def train_each_seed(
    seeds: Sequence[int],
    settings_of: Callable[[int], Settings],
    inputs_of: Callable[[int], Iterable[Path]],
    train_one: Callable[[Settings, Path, str], tuple[TrainingRun, Callable[[Path], None]]],
    *,
    out: Path,
    metrics: Path,
    work: Path,
    fingerprint: str,
) -> None:
    """Write `out`, a folder `seed-<seed>` with the model of each, and `metrics`, losses by step and seed.

    Args:
        settings_of: the settings of one seed, without the other seeds: they tell a finished run from another.
        inputs_of: the files that the run of one seed depends on.
        train_one: trains with (settings, folder for resume points, identity of the run); gives the run, and how its
            model is saved in a folder.
        work: folder that survives failure: an unfinished seed resumes exactly, finished ones are not trained again.
        fingerprint: identity of the code.
    """
    rows: list[dict[str, Any]] = []
    for seed in seeds:
        settings, folder = settings_of(seed), work / f"seed-{seed}"
        identity = run_fingerprint(fingerprint, settings, inputs_of(seed))
        found = finished_run(folder, identity)
        if found is None:
            run, save = train_one(settings, folder, identity)
            if not run.is_main:
                continue
            found = [{"seed": seed, **row} for row in run.metrics]
            keep_run(folder, identity, found, save)
        rows += found
    if not rows:
        return  # one of several processes, and not the one that writes
    with atomic_directory(out) as target:
        for seed in seeds:
            shutil.copytree(work / f"seed-{seed}" / "model", target / f"seed-{seed}", copy_function=link_or_copy)
    write_rows(metrics, rows)
    remove_directory(work)


def finished_run(folder: Path, fingerprint: str) -> list[dict[str, Any]] | None:
    """The rows of a run that was finished before with the same fingerprint; None where it was not."""
    kept = _finished(folder).read({"fingerprint": fingerprint})
    if kept is None or kept["model"] != _model_digest(folder):
        return None
    get_logger().info("%s: finished before", folder)
    return [dict(zip(kept["columns"], row, strict=True)) for row in kept["rows"]]


def keep_run(folder: Path, fingerprint: str, rows: list[dict[str, Any]], save: Callable[[Path], None]) -> None:
    """Keep a finished run: its model by `save`, in `folder/model`, then its rows (which share their keys)."""
    shutil.rmtree(folder / "model", ignore_errors=True)
    with atomic_directory(folder / "model") as target:
        save(target)
    columns = list(rows[0]) if rows else []  # JSON objects are written with sorted keys; columns keep their order
    table = [[row[name] for name in columns] for row in rows]
    value = {"columns": columns, "rows": table, "model": _model_digest(folder)}
    _finished(folder).keep({"fingerprint": fingerprint}, value)
    for point in folder.glob("resume-*"):
        shutil.rmtree(point, ignore_errors=True)


def _finished(folder: Path) -> Kept:
    return Kept(folder, "a finished run", "cell.json")


def _model_digest(folder: Path) -> str:
    return content_digest(folder / "model") if (folder / "model").is_dir() else ""
