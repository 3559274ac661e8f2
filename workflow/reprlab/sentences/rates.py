"""Training of an encoder with each learning rate and each seed; held-out pairs choose the rate."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import atomic_directory
from reprlab.sentences.encoder import trained_weights
from reprlab.sentences.held_out import LikenessPairs
from reprlab.sentences.settings import ContrastiveTraining
from reprlab.sentences.training import train_encoder
from reprlab.training.engine import TrainingRun
from reprlab.training.fingerprints import run_fingerprint
from reprlab.training.ladder import link_or_copy
from reprlab.training.seeds import finished_run, keep_run

Settings = TypeVar("Settings", bound=ContrastiveTraining)
Told = Callable[[TrainingRun], dict[str, Any]]


def train_at_rates(
    settings: Settings,
    new: Callable[[int], tuple[Any, Told]],
    data: Any,
    pairs: list[LikenessPairs],
    *,
    columns: Sequence[str],
    files: Sequence[Path],
    out: Path,
    work: Path,
    fingerprint: str,
    save_every: int,
    device: str,
    finish: Callable[[Path], None] = lambda folder: None,
) -> tuple[float, dict[float, list[dict[str, Any]]]]:
    """Write `out`, a folder for each seed with what was trained at the best rate; that rate, and the rows of each:
    losses by step with the held-out scores.

    Args:
        new: the encoder of a seed, and what else its rows tell once it is trained.
        pairs: held-out pairs, and `columns`: the names of their mean and of each.
        files: what the runs depend on.
        work: folder that survives failure: an unfinished run resumes exactly, finished ones are not trained again.
        finish: changes the folder of a trained encoder before it is kept.

    Raises:
        ReprlabError: unreadable inputs, or a run diverged with every learning rate.
    """
    found: dict[float, list[dict[str, Any]]] = {}
    for rate in settings.learning_rates:
        for seed in settings.seeds:
            own, folder = one_run(settings, data, rate, seed), _folder(work, rate, seed)
            identity = run_fingerprint(fingerprint, own, files)
            rows = finished_run(folder, identity)
            if rows is None:
                encoder, told = new(seed)
                run, scores, best = train_encoder(
                    encoder,
                    data,
                    pairs,
                    own,
                    work=folder,
                    save_every=save_every,
                    fingerprint=identity,
                    device=device,
                )
                trained = sum(value.numel() for value in trained_weights(encoder).values())
                shared = {"learning_rate": rate, "seed": seed, "trained": trained, **told(run)}
                # The peak tells runs apart; beside it is the rate of the update on its course.
                nothing = [math.nan] * len(columns)
                rows = [
                    {**shared, **row, "learning_rate": rate, "rate": row["learning_rate"]}
                    | dict(zip(columns, scores.get(row["step"], nothing), strict=True))
                    for row in run.metrics
                ]
                if scores:
                    keep_run(folder, identity, rows, _saving(best.keep, finish))
            found.setdefault(rate, []).extend(rows)
    chosen = best_rate(found, len(settings.seeds))
    if chosen is None:
        raise ReprlabError(f"{out.parent.name}: the training diverged with every learning rate; set lower ones")
    with atomic_directory(out) as target:
        for seed in settings.seeds:
            source = _folder(work, chosen, seed) / "model"
            shutil.copytree(source, target / f"seed-{seed}", copy_function=link_or_copy)
    return chosen, found


def best_rate(found: dict[float, list[dict[str, Any]]], seeds: int) -> float | None:
    """The rate with the highest mean over seeds of the best held-out score; of equal ones the first."""
    means: dict[float, float] = {}
    for rate, rows in found.items():
        best: dict[int, float] = {}
        for row in rows:
            if not math.isnan(row["held_out"]):
                best[row["seed"]] = max(row["held_out"], best.get(row["seed"], -1.0))
        if len(best) == seeds:
            means[rate] = sum(best.values()) / seeds
    return max(means, key=lambda rate: means[rate]) if means else None


def one_run(settings: Settings, data: Any, rate: float, seed: int) -> Settings:
    """The settings of one learning rate and seed, with the updates of that many passes over the triples."""
    optimizer = settings.engine.optimizer.model_copy(update={"learning_rate": rate})
    engine = settings.engine.model_copy(update={"seed": seed, "optimizer": optimizer})
    if settings.epochs is not None:
        batches = data.rows(engine.batch_size, seed, 0, mixed=settings.mixed)
        engine = engine.model_copy(update={"steps": max(1, round(settings.epochs * len(batches)))})
    return settings.model_copy(update={"engine": engine, "seeds": [seed], "learning_rates": [rate]})


def _folder(work: Path, rate: float, seed: int) -> Path:
    """Where a run lies: all digits of its rate, so that none takes another's place."""
    return work / f"{rate!r}" / f"seed-{seed}"


def _saving(keep: Callable[[Path], None], finish: Callable[[Path], None]) -> Callable[[Path], None]:
    def save(folder: Path) -> None:
        keep(folder)
        finish(folder)

    return save
