"""Spread of areas and accuracies over seeds of demonstrations and adapters."""

from __future__ import annotations

from reprlab.papers.intrinsic_dimension.layouts import Cell, Grid
from reprlab.papers.intrinsic_dimension.measures import ALL, Frame, accuracy_frame, areas, curves

_KEYS = ["model", "dataset", "condition", "k", "step"]


def seeds_table(grid: Grid) -> Frame:
    """Mean, standard deviation (n - 1) and range over seeds: normalised AUC by estimator, and accuracy (T11).

    The seed moves the demonstrations (icl) or initial adapter, order and dropout (sft); prompts stay the same.
    """
    import pandas

    columns = [*_KEYS, "measure", "seeds", "n_seeds", "mean", "sd", "lowest", "highest", "data", "norm", "scale"]
    if not grid.cells:
        reason = {"scale": grid.scale, "note": "not run: papers.intrinsic-dimension.replication.seeds is empty"}
        return pandas.DataFrame([reason], columns=[*columns, "note"])
    values = pandas.concat([_values(grid, cell) for cell in grid.cells], ignore_index=True)
    found = values.groupby([*_KEYS, "measure"], sort=False).agg(
        seeds=("seed", lambda seeds: " ".join(str(seed) for seed in seeds)),
        n_seeds=("seed", "size"),
        mean=("value", "mean"),
        sd=("value", "std"),
        lowest=("value", "min"),
        highest=("value", "max"),
        data=("data", "first"),
    )
    return found.reset_index().assign(norm=grid.norm, scale=grid.scale, note="")[[*columns, "note"]]


def _values(grid: Grid, cell: Cell) -> Frame:
    """The measures of one cell."""
    found = areas(curves([cell]), grid.norm)
    found = found[found["items"] == ALL]
    rows = [*zip("auc_" + found["estimator"], found["auc"], strict=True)]
    rows.append(("accuracy", accuracy_frame(grid.model_copy(update={"cells": [cell]}))["accuracy"].item()))
    frame = type(found)(rows, columns=["measure", "value"])
    keys = {key: getattr(cell, key) for key in _KEYS}
    return frame.assign(seed=cell.cell_seed, data=cell.data, **keys)
