"""One job that trains the same with several seeds: what is finished is kept in `work` and not trained again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reprlab.artifacts.json_files import read_json, write_json
from reprlab.runtime.files import atomic_directory
from reprlab.training.settings import EngineSettings


def seeded(engine: EngineSettings, seed: int) -> EngineSettings:
    """The loop with this seed."""
    return engine.model_copy(update={"seed": seed})


def lasting(engine: EngineSettings, steps: int, warmup_share: float) -> EngineSettings:
    """The loop with so many steps, of which the given share warm up; nothing is kept before the last."""
    schedule = engine.schedule.model_copy(update={"warmup_steps": int(warmup_share * steps)})
    return engine.model_copy(update={"steps": steps, "schedule": schedule, "ladder": []})


def finished_seed(work: Path, seed: int, fingerprint: str) -> list[dict[str, Any]]:
    """The rows of a seed that was finished before with the same fingerprint; none where it was not."""
    done = work / f"seed-{seed}" / "seed.json"
    if not done.exists():
        return []
    kept = read_json(done)
    return list(kept["rows"]) if kept.get("fingerprint") == fingerprint else []


def keep_seed(
    work: Path, seed: int, fingerprint: str, rows: list[dict[str, Any]], save: Callable[[Path], None]
) -> None:
    """Keep a finished seed: its model by `save`, in `work/seed-<seed>/model`, then its rows; resume points go."""
    folder = work / f"seed-{seed}"
    shutil.rmtree(folder / "model", ignore_errors=True)
    with atomic_directory(folder / "model") as target:
        save(target)
    write_json(folder / "seed.json", {"fingerprint": fingerprint, "rows": rows})
    for point in folder.glob("resume-*"):
        shutil.rmtree(point, ignore_errors=True)
