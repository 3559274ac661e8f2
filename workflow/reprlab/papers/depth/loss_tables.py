"""DEPTH's loss tables: Figures 2, 3, 8, 9 (validation), 7 (packing) and 10 (weights), and the ablations of defects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reprlab.artifacts.tables import read_tsv
from reprlab.papers.depth.chance import mixed_chance_loss
from reprlab.reporting.layouts import LossLayout, PretrainedRun
from reprlab.reporting.loss_table import ACCURACIES, LOSSES, loss_rows
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import pandas

_DIVERGED_RISE = 0.5
"""Nats by which the last tenth of a run may lie above its lowest tenth before it counts as diverged."""


def validation_table(layout: LossLayout) -> pandas.DataFrame:
    """Validation losses by model and step."""
    return _arranged(layout, ["step", "model", "init"])


def variant_table(layout: LossLayout) -> pandas.DataFrame:
    """Validation losses of an ablation, by variant and step."""
    return _arranged(layout, ["variant", "step", "model", "init"])


def _arranged(layout: LossLayout, keys: list[str]) -> pandas.DataFrame:
    frame = loss_rows(layout)
    intervals = [f"{name}{end}" for name in LOSSES for end in ("_low", "_high")]
    accuracies = [f"{name}_{order}" for name in ACCURACIES for order in ("shuffled", "unshuffled")]
    accuracies += [f"{name}{end}" for name in accuracies for end in ("_low", "_high")]
    by_order = ["sentence_loss_shuffled", "sentence_loss_unshuffled"]
    about = ["mean_sentences", "chance_sentence_loss", "scale", "seed", "n", "steps", "tokens", "data", "note"]
    columns = [*keys, *LOSSES, *accuracies[:4], *by_order, *intervals, *accuracies[4:], *about]
    if frame.empty:
        return empty_table(layout, columns)
    frame["chance_sentence_loss"] = frame["mean_sentences"].map(
        lambda sentences: mixed_chance_loss(sentences) if sentences == sentences else None
    )
    frame["note"] = frame["model"].map({"t5": "no sentence tokens: the whole loss is reconstruction loss", "depth": ""})
    return frame.reindex(columns=columns).astype({"tokens": "Int64"})


def empty_table(layout: LossLayout, columns: list[str]) -> pandas.DataFrame:
    import pandas

    row = {"scale": layout.scale, "data": layout.data, "note": layout.reason or "no run at this scale"}
    return pandas.DataFrame([row], columns=columns)


def packing_table(layout: LossLayout) -> pandas.DataFrame:
    """Training loss of T5 with and without packing at a high and a low learning rate.

    `diverged` is yes for a run whose loss or gradient stopped being finite, or whose mean loss over the last tenth of
    its rows lies more than 0.5 nats above that of its lowest tenth. `n` counts the rows of the run.
    """
    import pandas

    columns = ["packing", "lr", "step", "loss", "diverged", "scale", "seed", "n", "steps", "tokens", "data", "note"]
    rows = []
    for run in layout.runs:
        frame = training_curve(run)
        flag = "yes" if diverged(frame) else "no"
        for _, row in frame.iterrows():
            stopped = row.get("diverged", 0) == 1
            rows.append(
                {
                    "packing": "yes" if run.packing else "no",
                    "lr": run.learning_rate,
                    "step": int(row["step"]),
                    "loss": row["loss"],
                    "diverged": flag,
                    "scale": layout.scale,
                    "seed": run.seed,
                    "n": len(frame),
                    "steps": int(frame["step"].max()),
                    "tokens": int(row["tokens"]),
                    "data": layout.data,
                    "note": "loss or gradient no longer finite: the run stopped" if stopped else "",
                }
            )
    return pandas.DataFrame(rows, columns=columns) if rows else empty_table(layout, columns)


def training_curve(run: PretrainedRun) -> pandas.DataFrame:
    """The training metrics of a run.

    Raises:
        ReprlabError: the layout gives none.
    """
    if run.metrics is None:
        raise ReprlabError(f"layout of packing_lr: the {run.model} run with seed {run.seed} has no metrics; add them")
    return read_tsv(run.metrics)


def diverged(frame: pandas.DataFrame) -> bool:
    """Whether a training curve ends by diverging (rule of `packing_table`)."""
    if frame["loss"].isna().any() or ("diverged" in frame and (frame["diverged"] == 1).any()):
        return True
    width = max(1, len(frame) // 10)
    means = frame["loss"].rolling(width).mean().dropna()
    return bool(means.iloc[-1] > means.min() + _DIVERGED_RISE)
