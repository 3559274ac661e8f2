"""Tables of dimensions by layer, of areas under their curves, and of what they are compared with."""

from __future__ import annotations

from itertools import combinations

from reprlab.geometry.jackknife import delete_half_interval
from reprlab.papers.intrinsic_dimension.layouts import Grid
from reprlab.papers.intrinsic_dimension.measures import ALL, KEYS, NORMS, Frame, areas, curves


def layer_table(grid: Grid) -> Frame:
    """Dimension of every layer by every estimator, on all items (Figures 1b, 2a, 3b, 29 to 36)."""
    frame = curves(grid.cells)
    frame = frame[frame["items"] == ALL].drop_duplicates([*KEYS, "layer", "estimator"])
    columns = ["experiment", *KEYS, "layer", "estimator", "id", "spread", "n_used", "n_zero", "data"]
    return frame[columns].assign(scale=grid.scale, seed=grid.seed)


def auc_table(grid: Grid) -> Frame:
    """Normalised AUC by its three definitions; `low` and `high` belong to the one in `norm` (Figures 1c, 2c, 3c)."""
    import pandas

    frame = curves(grid.cells).drop_duplicates([*KEYS, "layer", "estimator", "items"])
    by_norm = {norm: areas(frame, norm) for norm in NORMS}
    chosen = by_norm[grid.norm]
    rows = chosen[chosen["items"] == ALL].drop(columns=["auc", "items"])
    for norm, found in by_norm.items():
        whole = found[found["items"] == ALL].drop(columns="items").rename(columns={"auc": f"auc_{norm}"})
        rows = rows.merge(whole, on=[*KEYS, "estimator"])
    halves = chosen[chosen["items"].str.startswith("half ")].groupby([*KEYS, "estimator"])["auc"].agg(list)
    intervals = [
        delete_half_interval(value, halves.get(key, []), grid.confidence)
        for *key_parts, value in rows[[*KEYS, "estimator", f"auc_{grid.norm}"]].itertuples(index=False)
        for key in [tuple(key_parts)]
    ]
    about = (
        frame.groupby([*KEYS, "estimator"])
        .agg(experiment=("experiment", "first"), n=("n_used", "max"), data=("data", "first"))
        .reset_index()
    )
    rows = rows.assign(low=[low for low, _ in intervals], high=[high for _, high in intervals], norm=grid.norm).merge(
        about, on=[*KEYS, "estimator"]
    )
    return pandas.DataFrame(rows).assign(scale=grid.scale, seed=grid.seed)


def heatmap_table(grid: Grid) -> Frame:
    """Mean over (model, data set) of the difference in AUC between two paradigms, first minus second (Figure 4)."""
    import pandas

    found = areas(curves(grid.cells), grid.norm)
    rows = []
    for estimator, of_estimator in found.groupby("estimator", sort=False):
        wide = of_estimator.pivot_table(index=["items", "model", "dataset"], columns="condition", values="auc")
        for first, second in combinations([name for name in grid.conditions if name in wide], 2):
            difference = (wide[first] - wide[second]).groupby("items").mean()
            halves = difference[difference.index.str.startswith("half ")].tolist()
            low, high = delete_half_interval(difference[ALL], halves, grid.confidence)
            settings = int((wide.loc[ALL, first] - wide.loc[ALL, second]).notna().sum())
            rows.append((first, second, estimator, difference[ALL], low, high, settings))
    columns = ["condition_1", "condition_2", "estimator", f"difference_{grid.norm}", "low", "high", "settings"]
    return pandas.DataFrame(rows, columns=columns).assign(scale=grid.scale, seed=grid.seed)


def scatter_table(grid: Grid) -> Frame:
    """TwoNN and Levina-Bickel on every layer of every condition, and their correlation over all rows (Figure 46)."""
    frame = curves(grid.cells)
    frame = frame[frame["items"] == ALL]
    wide = frame.pivot_table(index=[*KEYS, "layer"], columns="estimator", values="id", sort=False).reset_index()
    wide = wide[[*KEYS, "layer", "two_nn", "levina_bickel"]].dropna()
    pearson = wide["two_nn"].corr(wide["levina_bickel"])
    return wide.assign(pearson=pearson, points=len(wide), scale=grid.scale, seed=grid.seed)


def precision_table(grid: Grid) -> Frame:
    """Dimension of the same prompts from a pass in float32 and one in bfloat16, by layer and estimator.

    One of the two passes is the collection's own, over more prompts, of which the first are taken.
    """
    import pandas

    columns = ["model", "dataset", "layer", "estimator", "float32", "bfloat16", "relative_difference", "n", "scale"]
    if not grid.cells:
        reason = {"scale": grid.scale, "note": "not run: papers.intrinsic-dimension.collection.precision_items is 0"}
        return pandas.DataFrame([reason], columns=[*columns, "note"])
    frame = curves(grid.cells)
    keys = ["model", "dataset", "layer", "estimator"]
    first = f"first {grid.subset}"
    frame = frame[frame["items"].isin([first, ALL])].sort_values(
        "items", key=lambda items: items != first, kind="stable"
    )
    frame = frame.drop_duplicates([*keys, "dtype"])
    wide = frame.pivot_table(index=keys, columns="dtype", values="id", sort=False).reset_index()
    wide = wide.assign(
        relative_difference=wide["bfloat16"] / wide["float32"] - 1, n=grid.subset, scale=grid.scale, note=""
    )
    return wide[[*columns, "note"]]
