"""Rows of scores: of rules, and of trainings with each seed, which are not run again once they are finished."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.artifacts.tsv import write_rows
from reprlab.coreference.rows import AnnotatedText
from reprlab.coreference.scores import score_counts, score_intervals
from reprlab.coreference.settings import CoreferenceTraining
from reprlab.coreference.states import documents_of, layer_files
from reprlab.coreference.training import HELD_OUT, TRAIN, Outcome, Probe
from reprlab.models.build import save_model
from reprlab.runtime.files import atomic_directory, remove_directory
from reprlab.text.model_tokenizers import load_tokenizer
from reprlab.training.fingerprints import run_fingerprint
from reprlab.training.ladder import link_or_copy
from reprlab.training.seeds import finished_run, keep_run, seeded

_METRICS = ("seed", "layers", "split", "metric", "value", "low", "high", "n", "steps", "tokens")
_PASSES = ("seed", "epoch", "split", "metric", "name", "value", "n")


def rule_rows(
    name: str,
    texts: Sequence[AnnotatedText],
    rule: Callable[[AnnotatedText], Iterable[Any]],
    *,
    singletons: bool,
    resamples: int,
) -> list[dict[str, Any]]:
    """Scores of a rule over documents in words, by metric."""
    gold = [[one for one in text.clusters if singletons or len(one) > 1] for text in texts]
    counts = np.stack([score_counts(rule(text), chains) for text, chains in zip(texts, gold, strict=True)])
    return [{"name": name, **row} for row in _scored(counts, resamples)]


def train_each_seed(
    settings: CoreferenceTraining,
    documents: Path,
    tokenizer: Path,
    names: Sequence[str],
    *,
    encoders: Sequence[Path] = (),
    states: Sequence[Path] = (),
    out: Path | None = None,
    metrics: Path,
    passes: Path,
    work: Path,
    fingerprint: str,
    save_every: int,
    device: str,
) -> None:
    """Train with each seed and write the scores of the best passes, and what is known of each pass.

    Args:
        names: the sources; `encoders` and `states` are their folders (see `Probe`).
        out: folder for the encoder of each seed, where it is trained.
        fingerprint: identity of the code.
    """
    read = {split: documents_of(documents, split) for split in (TRAIN, HELD_OUT)}
    reader = load_tokenizer(tokenizer)
    given = [path for folder in (documents, *encoders) for path in folder.rglob("*") if path.is_file()]
    joined = settings.aggregation.concatenated
    for folder, layer in zip(states, settings.layers, strict=False):
        # One that is not there is named when it is opened.
        given += [one for split in read for one in layer_files(folder, split, layer, joined) if one.is_file()]
    rows: list[dict[str, Any]] = []
    for seed in settings.seeds:
        alone = settings.model_copy(update={"engine": seeded(settings.engine, seed), "seeds": [seed]})
        folder = work / f"seed-{seed}"
        identity = run_fingerprint(fingerprint, alone, given)
        found = finished_run(folder, identity)
        if found is None:
            probe = Probe(alone, read, encoders, states, reader)
            outcome = probe.train(work=folder, save_every=save_every, fingerprint=identity, device=device)
            found = _rows(outcome, seed, names)
            keep_run(folder, identity, found, _saver(probe, reader) if out else _nothing)
        rows += found
    if out:
        with atomic_directory(out) as target:
            for seed in settings.seeds:
                model = work / f"seed-{seed}" / "model"
                shutil.copytree(model, target / f"seed-{seed}", copy_function=link_or_copy)
    write_rows(metrics, [{name: row[name] for name in _METRICS} for row in rows if row["epoch"] == ""])
    write_rows(passes, [{name: row[name] for name in _PASSES} for row in rows if row["epoch"] != ""])
    remove_directory(work)


def _saver(probe: Probe, tokenizer: Any) -> Callable[[Path], None]:
    def save(folder: Path) -> None:
        save_model(probe.model.encoders[0], folder)
        tokenizer.save_pretrained(folder)

    return save


def _nothing(folder: Path) -> None:
    """The head of a probe is not kept: what is asked of it are its scores."""


def _rows(outcome: Outcome, seed: int, names: Sequence[str]) -> list[dict[str, Any]]:
    probe, run = outcome.probe, outcome.run
    train = len(probe.documents[TRAIN])
    best = max(outcome.scores, key=lambda number: (outcome.scores[number], -number), default=0)
    counts, _ = probe.evaluate()
    tokens = round(run.tokens * best * train / run.step) if run.step else 0
    about = {"layers": "+".join(map(str, probe.settings.layers)), "steps": best * train, "tokens": tokens}
    blank = dict.fromkeys((*_METRICS, *_PASSES), "")
    found = [{**blank, "seed": seed, **about, **row} for row in _scored(counts, probe.settings.resamples)]
    for number, score in outcome.scores.items():
        own = {**blank, "seed": seed, "epoch": number, "split": HELD_OUT, "n": len(counts)}
        found.append({**own, "metric": "conll_f1", "value": score})
        found.append({**own, "split": TRAIN, "metric": "loss", "value": run.metrics[number - 1]["loss"], "n": train})
        shares = zip(names, outcome.weights[number], strict=True)
        found += [{**own, "metric": "share", "name": name, "value": 100 * weight} for name, weight in shares]
    return found


def _scored(counts: np.ndarray, resamples: int) -> list[dict[str, Any]]:
    return [
        {"split": HELD_OUT, "metric": metric, "value": value, "low": low, "high": high, "n": len(counts)}
        for metric, (value, low, high) in score_intervals(counts, resamples=resamples, seed=0).items()
    ]
