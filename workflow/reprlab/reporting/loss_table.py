"""Validation losses of evaluated ladders, with bootstrap intervals over batches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.artifacts.tables import read_tsv
from reprlab.reporting.intervals import Estimate, ratio
from reprlab.reporting.layouts import LossLayout, PretrainedRun, Statistics
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import numpy
    import pandas

LOSSES = {
    "loss": ("loss_sum", "count"),
    "sentence_loss": ("sentence_loss_sum", "sentence_count"),
    "reconstruction_loss": ("reconstruction_loss_sum", "reconstruction_count"),
}
ACCURACIES = {"sent_accuracy": ("sent_correct", "sent_count"), "eosen_accuracy": ("eosen_correct", "eosen_count")}


def loss_rows(layout: LossLayout) -> pandas.DataFrame:
    """One row per run and checkpoint.

    `loss`, `sentence_loss` (SENT and EOSEN labels) and `reconstruction_loss` (the others) are means over their own
    labels in nats, over all batches, shuffled and in order in equal numbers, each with `_low` and `_high`. Accuracies
    are shares in 0..1, split by the order of the batch. `mean_sentences` is the mean number of sentences of a passage.
    `n` counts batches.
    """
    import pandas

    rows = []
    for run in layout.runs:
        if run.evaluation is None:
            continue
        frame = read_evaluation(run.evaluation, run.evaluation_run)
        rows += [_row(run, step, frame[frame["step"] == step], layout) for step in sorted(frame["step"].unique())]
    return pandas.DataFrame(rows)


def read_evaluation(path: Path, run: str = "") -> pandas.DataFrame:
    """The rows of a run (or all) of a table of `evaluate_lm`, with `shuffled` as a truth value.

    Raises:
        ReprlabError: not such a table, or it lacks the run.
    """
    frame = read_tsv(path)
    if run:
        frame = frame[frame["run"] == run].copy() if "run" in frame.columns else frame.iloc[:0]
        if frame.empty:
            raise ReprlabError(f"{path}: has no rows of the run {run}; delete it and run again")
    wanted = {"step", "shuffled", "batch", *(name for pair in (LOSSES | ACCURACIES).values() for name in pair)}
    if missing := sorted(wanted - set(frame.columns)):
        raise ReprlabError(f"{path}: lacks the column {missing[0]}; delete it and run again")
    frame["shuffled"] = frame["shuffled"].astype(str).str.lower() == "true"
    return frame


def sums_by_batch(frame: pandas.DataFrame, names: tuple[str, str]) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Numerators and denominators [batches], both orders of a batch added up: a batch is what the bootstrap draws."""
    by_batch = frame.groupby("batch", sort=True)[list(names)].sum()
    return by_batch[names[0]].to_numpy(dtype=float), by_batch[names[1]].to_numpy(dtype=float)


def mean_sentences(frame: pandas.DataFrame) -> float:
    """Mean sentences of a passage: a passage has one EOSEN more than it has SENT. NaN for plain T5."""
    passages = frame["eosen_count"].sum() - frame["sent_count"].sum()
    return float(frame["sent_count"].sum() / passages) if passages > 0 else float("nan")


def _row(run: PretrainedRun, step: int, frame: pandas.DataFrame, layout: LossLayout) -> dict[str, object]:
    row: dict[str, object] = {"variant": run.variant, "step": int(step), "model": run.model, "init": run.init}
    for name, names in LOSSES.items():
        row |= _with_interval(name, ratio(*sums_by_batch(frame, names), layout.statistics))
    for name, names in ACCURACIES.items():
        for order, chosen in (("shuffled", True), ("unshuffled", False)):
            part = frame[frame["shuffled"] == chosen]
            row |= _accuracy(f"{name}_{order}", part, names, layout.statistics)
    for order, chosen in (("shuffled", True), ("unshuffled", False)):
        part = frame[frame["shuffled"] == chosen]
        if len(part):
            row[f"sentence_loss_{order}"] = ratio(
                *sums_by_batch(part, LOSSES["sentence_loss"]), layout.statistics
            ).value
    row["mean_sentences"] = mean_sentences(frame)
    row |= {"scale": layout.scale, "seed": run.seed, "n": int(frame["batch"].nunique()), "steps": int(step)}
    return row | {"tokens": tokens_seen(run, step), "data": layout.data}


def _accuracy(name: str, part: pandas.DataFrame, names: tuple[str, str], statistics: Statistics) -> dict[str, object]:
    if not len(part) or not part[names[1]].sum():
        return {}
    return _with_interval(name, ratio(*sums_by_batch(part, names), statistics))


def _with_interval(name: str, estimate: Estimate) -> dict[str, object]:
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def tokens_seen(run: PretrainedRun, step: int) -> int | None:
    """Training tokens up to a step, from the run's metrics."""
    if run.metrics is None:
        return None
    frame = read_tsv(run.metrics)
    rows = frame[frame["step"] <= step]
    return int(rows["tokens"].iloc[-1]) if len(rows) else 0
