"""Accuracy by data set and paradigm (Table 1)."""

from __future__ import annotations

from reprlab.papers.intrinsic_dimension.layouts import Grid
from reprlab.papers.intrinsic_dimension.measures import Frame, accuracy_frame


def accuracy_cells(grid: Grid) -> Frame:
    """One row for each cell: accuracy with its interval, the most frequent class, and whether it was beaten."""
    return accuracy_frame(grid).assign(scale=grid.scale, seed=grid.seed)


def accuracy_table(grid: Grid) -> Frame:
    """Table 1: mean accuracy over models beside the most frequent class; conditions that do not beat it are named."""
    import pandas

    cells = accuracy_frame(grid)
    rows = []
    for dataset in grid.datasets:
        found = cells[cells["dataset"] == dataset]
        row: dict[str, object] = {"dataset": dataset}
        for condition in grid.conditions:
            row[condition] = found.loc[found["condition"] == condition, "accuracy"].mean()
        about = found.iloc[0] if len(found) else None
        row |= {
            "majority": found["majority"].mean(),
            "models": found["model"].nunique(),
            "data": "" if about is None else about["data"],
            "scale": grid.scale,
            "seed": grid.seed,
            "n": None if about is None else int(about["n"]),
            "steps": found["step"].max() if len(found) else None,
            "tokens": int(found["tokens"].sum()) if len(found) else None,
            "note": _note(found, grid),
        }
        rows.append(row)
    frame = pandas.DataFrame(rows)
    return frame.astype(dict.fromkeys(("n", "steps", "tokens"), "Int64"))


def _note(found: Frame, grid: Grid) -> str:
    if found.empty:
        return f"no data at scale {grid.scale}"
    not_learned = [
        condition
        for condition in grid.conditions
        if (found.loc[found["condition"] == condition, "learned"] == "not learned").all()
        and (found["condition"] == condition).any()
    ]
    return f"not learned (no better than the most frequent class): {', '.join(not_learned)}" if not_learned else ""
