"""Tables of domain-adaptive masking that are no listing or pivot of the frame, and our side of Table 2."""

from __future__ import annotations

from typing import Any

from reprlab.reporting.comparison import Counterpart
from reprlab.results.comparison import Cell, Own, about
from reprlab.results.frame import Frame, Rows

_RUN = ["masking", "masks", "step"]
# The printed columns that have a counterpart: ours, and the model that it starts from.
_COLUMNS = {"ours": "concept", "bert": "none"}


def annotated(frame: Frame) -> Rows:
    """Entities of all splits of each data set."""
    rows = frame.select().groupby(["task", "data"], sort=False)["value"].sum().reset_index()
    return rows.rename(columns={"value": "annotations"}).assign(scale=frame.scale)


def held_out_losses(frame: Frame) -> Rows:
    """Loss in nats a label and accuracy in percent of each step, over batches and seeds."""
    rows = frame.select()
    wide = rows.pivot_table(index=[*_RUN, "data"], columns="metric", values="value", aggfunc="sum", sort=False)
    wide = wide.reindex(columns=["loss_sum", "count", "correct", "total"]).reset_index()
    found = wide[[*_RUN]].assign(
        loss=wide["loss_sum"] / wide["count"], accuracy=100 * wide["correct"] / wide["total"], labels=wide["count"]
    )
    seeds = rows.groupby(_RUN)["pretraining_seed"].nunique().reset_index(name="seeds")
    return found.assign(data=wide["data"]).merge(seeds, on=_RUN).assign(scale=frame.scale)


def masks(frame: Frame) -> Rows:
    """Concepts in the text, and the share of tokens that each masking masked in training, over all rows of the log."""
    rows = frame.select()
    names = ["part", "masking", "counted", "metric"]
    found = rows.groupby(names, sort=False, dropna=False)["value"].agg(["mean", "min", "max"]).reset_index()
    return found.rename(columns={"mean": "value"}).assign(scale=frame.scale)


def compute(frame: Frame) -> Rows:
    """Updates and tokens of each masking, the mean of its seeds."""
    rows = frame.select()
    last = rows[rows["step"] == rows.groupby("masking")["step"].transform("max")]
    found = last.groupby("masking", sort=False)[["step", "tokens"]].mean().reset_index()
    known: dict[str, Any] = {"updates": found["step"], "tokens_per_update": found["tokens"] / found["step"]}
    return found[["masking"]].assign(**known, tokens=found["tokens"], scale=frame.scale)


def named_entities(own: Own, row: Cell, column: str) -> Counterpart:
    """Our F1 beside a cell of Table 2."""
    masking = _COLUMNS.get(column)
    if masking is None:
        return Counterpart("", "quoted by the paper from others; not built here")
    ours = own.rows("table2", task=row["task"])
    if masking not in ours or ours[masking].isna().all():
        return own.missing(task=row["task"], masking=masking)
    cell = ours.iloc[0]
    return Counterpart(f"{cell[masking]:.2f}", about(cell, masking, own.frame.scale))
