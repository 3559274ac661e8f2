"""Accuracy and AUC along the steps of fine-tuning and along the number of demonstrations."""

from __future__ import annotations

from reprlab.geometry.jackknife import delete_half_interval
from reprlab.papers.intrinsic_dimension.layouts import Grid
from reprlab.papers.intrinsic_dimension.measures import ALL, Frame, accuracy_frame, areas, curves


def sft_table(grid: Grid) -> Frame:
    """One row for each step and split (Figures 2, 13 to 28).

    `auc_equal_n` takes as many items of both splits, because an estimate depends on their number (T6).
    """
    return _table(grid, ["model", "dataset", "step", "split"])


def icl_table(grid: Grid) -> Frame:
    """One row for each k (Figures 3, 7 to 12; 37 to 39 for demonstrations that are never shared)."""
    return _table(grid, ["model", "dataset", "k"]).drop(columns="auc_equal_n")


def _table(grid: Grid, keys: list[str]) -> Frame:
    found = areas(curves(grid.cells), grid.norm)
    found = found[found["estimator"] == "two_nn"]
    whole = found[found["items"] == ALL].rename(columns={"auc": f"auc_{grid.norm}"})
    equal = found[found["items"] == f"first {grid.subset}"].set_index(keys)["auc"]
    halves = found[found["items"].str.startswith("half ")].groupby(keys)["auc"].agg(list)
    bickel = areas(curves(grid.cells), grid.norm).query("estimator == 'levina_bickel' and items == @ALL")
    rows = []
    for row in whole.itertuples(index=False):
        key = tuple(getattr(row, name) for name in keys)
        value = getattr(row, f"auc_{grid.norm}")
        rows.append((*key, value, *delete_half_interval(value, halves.get(key, []), grid.confidence), equal.get(key)))
    import pandas

    columns = [*keys, f"auc_{grid.norm}", "auc_low", "auc_high", "auc_equal_n"]
    table = pandas.DataFrame(rows, columns=columns)
    table = table.merge(
        bickel.rename(columns={"auc": f"auc_{grid.norm}_levina_bickel"})[[*keys, f"auc_{grid.norm}_levina_bickel"]],
        on=keys,
        how="left",
    )
    accuracy = accuracy_frame(grid)[[*keys, "accuracy", "low", "high", "majority", "n", "data"]]
    return accuracy.merge(table, on=keys).assign(scale=grid.scale, seed=grid.seed)
