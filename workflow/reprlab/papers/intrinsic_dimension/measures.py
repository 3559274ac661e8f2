"""Computations on the frame of results: areas with intervals, and the tables that are not a plain selection."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from reprlab.results.frame import Choice, Frame, Option, Rows
from reprlab.results.table_forms import Pivot
from reprlab.statistics import over_halves

ALL = "all"
CELL = ["experiment", "model", "dataset", "condition", "k", "step", "split", "dtype", "seed"]
SETTING = ["model", "dataset"]
# The area by the definition that the config chose, by an estimator.
TWO_NN: dict[str, Choice] = {"metric": Option("auc"), "estimator": "two_nn"}


def is_half(rows: Rows) -> Rows:
    """Which rows are of random halves of the items."""
    return rows["subset"].str.startswith("half ")


def with_interval(frame: Frame, keys: list[str]) -> Rows:
    """The rows on all items, with intervals by the delete-half jackknife over prompts; `keys` identify one."""
    rows = frame.select()
    found = rows[is_half(rows)].groupby(keys, sort=False, dropna=False)["value"].agg(list)
    whole = rows[rows["subset"] == ALL]
    bounds = [
        over_halves(value, found.get(key, []), "prompt", level=frame.options["confidence"])
        for *parts, value in whole[[*keys, "value"]].itertuples(index=False, name=None)
        for key in [tuple(parts)]
    ]
    return whole.assign(low=[one.low for one in bounds], high=[one.high for one in bounds])


def accuracy_table(frame: Frame) -> Rows:
    """Table 1: mean accuracy over models beside the most frequent class; conditions that do not beat it are named."""
    about = "data scale seed n steps tokens"
    table = Pivot("dataset", "condition", over="model", beside="above_trivial", about=about, same_items=True)(frame)
    by_set = frame.select().groupby("dataset", sort=False)
    conditions = [name for name in table if f"above_trivial_{name}" in table]
    table.insert(1 + len(conditions), "majority", table["dataset"].map(by_set["baseline_value"].mean()))
    whole = {"steps": by_set["step"].max()}
    return table.assign(**{name: table["dataset"].map(values).astype("Int64") for name, values in whole.items()})


def auc_table(frame: Frame) -> Rows:
    """Normalised AUC: the chosen definition with its interval, then all three (Figures 1c, 2c, 3c)."""
    keys = [*CELL, "estimator"]
    chosen = with_interval(frame.narrowed({"metric": Option("auc")}), keys)
    norms = frame.select(subset=ALL).pivot_table(index=keys, columns="metric", values="value", sort=False, dropna=False)
    rows = chosen.rename(columns={"value": "auc"}).merge(norms, left_on=keys, right_index=True)
    return rows[[*keys, "auc", "low", "high", *norms.columns, "n", "data", "scale"]]


def heatmap_table(frame: Frame) -> Rows:
    """Mean over (model, data set) of the difference in AUC between two paradigms, first minus second (Figure 4)."""
    lines = []
    order = list(dict.fromkeys(frame.rows["condition"]))
    for estimator, rows in frame.select().groupby("estimator", sort=False):
        wide = rows.pivot_table(index=["subset", *SETTING], columns="condition", values="value")
        for first, second in combinations([name for name in order if name in wide], 2):
            gaps = (wide[first] - wide[second]).dropna()
            means = gaps.groupby("subset").mean()
            parts = [value for name, value in means.items() if str(name).startswith("half ")]
            found = over_halves(means[ALL], parts, "prompt", level=frame.options["confidence"])
            lines.append((first, second, estimator, means[ALL], found.low, found.high, len(gaps[ALL]), frame.scale))
    columns = ["condition_1", "condition_2", "estimator", "difference", "low", "high", "settings", "scale"]
    return type(frame.rows)(lines, columns=columns)


def dynamics_table(frame: Frame) -> Rows:
    """Accuracy and AUC along `step` or `k` (Figures 2, 3, 7 to 28, 37 to 39).

    `auc_equal_n` takes as many items of training and validation, because an estimate depends on their number (T6).
    """
    keys = ["experiment", *SETTING, "step", "k", "split", "seed"]
    accuracy = frame.select(metric="accuracy")[[*keys, "value", "low", "high", "baseline_value", "n", "data", "scale"]]
    accuracy = accuracy.rename(columns={"value": "accuracy", "baseline_value": "majority"})
    area = with_interval(frame.narrowed(TWO_NN), keys)[[*keys, "value", "low", "high"]]
    table = accuracy.merge(area.rename(columns={"value": "auc", "low": "auc_low", "high": "auc_high"}), on=keys)
    others = {
        "auc_equal_n": frame.narrowed(TWO_NN).select(subset=frame.options["equal"]),
        "auc_levina_bickel": frame.select(metric=frame.options["auc"], estimator="levina_bickel", subset=ALL),
    }
    for name, rows in others.items():
        if rows.empty:
            continue
        table = table.merge(rows[[*keys, "value"]].rename(columns={"value": name}), on=keys, how="left")
    return table


def scatter_table(frame: Frame) -> Rows:
    """TwoNN and Levina-Bickel on every layer of every condition, and their correlation over all rows (Figure 46)."""
    keys = [*CELL[1:], "layer"]
    wide = frame.select().pivot_table(index=keys, columns="estimator", values="value", sort=False).reset_index()
    wide = wide.reindex(columns=[*keys, "two_nn", "levina_bickel"]).dropna()
    pearson = wide["two_nn"].corr(wide["levina_bickel"])
    return wide.assign(pearson=pearson, points=len(wide), scale=frame.scale)


def precision_table(frame: Frame) -> Rows:
    """Dimension of the same prompts from a pass in float32 and one in bfloat16, by layer and estimator."""
    keys = [*SETTING, "layer", "estimator"]
    rows = frame.select()
    wide = rows.pivot_table(index=keys, columns="dtype", values="value", sort=False).reset_index()
    wide = wide.reindex(columns=[*keys, "float32", "bfloat16"])
    counts = rows.groupby(keys, sort=False)["n"].max().reset_index()
    gap = wide["bfloat16"] / wide["float32"] - 1
    return wide.assign(relative_difference=gap, scale=frame.scale, note="").merge(counts, on=keys)


def seeds_table(frame: Frame) -> Rows:
    """Mean, standard deviation (n - 1) and range over seeds of AUC, by estimator, and accuracy (T11).

    The seed moves the demonstrations (icl) or initial adapter, order and dropout (sft); prompts stay the same.
    """
    rows = frame.select()
    rows = rows[rows["subset"].isin(["", ALL])].assign(measure=lambda found: _measure(found))
    groups = rows.groupby([*SETTING, "condition", "k", "step", "measure"], sort=False)
    table = groups.agg(
        seeds=("seed", lambda seeds: " ".join(map(str, seeds))),
        n_seeds=("seed", "size"),
        mean=("value", "mean"),
        sd=("value", "std"),
        lowest=("value", "min"),
        highest=("value", "max"),
        data=("data", "first"),
    )
    return table.reset_index().assign(scale=frame.scale, note="")


def _measure(rows: Rows) -> Any:
    return rows["metric"].where(rows["metric"] == "accuracy", "auc_" + rows["estimator"])
