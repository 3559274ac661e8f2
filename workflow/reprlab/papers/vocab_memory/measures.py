"""Computations on the frame of results: what PEMA saves, and the paper's tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from reprlab.results.frame import Frame, Rows
from reprlab.results.table_forms import Pivot

MISMATCHED = "mnli_mm"
_ABOUT_COUNTS = "n and tokens: all columns together; tokens without padding"


def wide(rows: Rows, keys: Sequence[str]) -> Rows:
    """One row for each combination of `keys`, one column for each metric."""
    found = rows.pivot_table(index=list(keys), columns="metric", values="value", sort=False)
    return found.reset_index().rename_axis(columns=None)


def reductions(frame: Frame) -> Rows:
    """PEMA's savings for each model, column and union of splits of one table: `embedding` and `total` in percent of
    the parameters of embedding and model, 100 (1 - u / V) and 100 (V - u) d / N, and `millions`, (V - u) d / 10^6
    (section 4); u used tokens, matrix [V, d], N parameters."""
    rows = frame.select()
    used = rows[rows["metric"] == "used"].drop(columns=["model", "entry"])
    models = rows[rows["entry"] != ""].drop_duplicates("entry")[["entry", "model", "tokenizer"]]
    for name in ("vocabulary", "width", "total"):
        sizes = rows[rows["metric"] == name].drop_duplicates("entry").set_index("entry")["value"]
        models[f"all_{name}"] = models["entry"].map(sizes)
    found = used.merge(models, on="tokenizer").rename(columns={"value": "used"})
    saved = found["all_vocabulary"] - found["used"]
    return found.assign(
        embedding=100 * (1 - found["used"] / found["all_vocabulary"]),
        total=100 * saved * found["all_width"] / found["all_total"],
        millions=saved * found["all_width"] / 1e6,
    )


def reduction_table(kinds: dict[str, str], *, mean: bool) -> Callable[[Frame], Rows]:
    """Tables 2, 3 and 4: one row for each model, kind and union of splits; `kinds` are names of those of `reductions`.

    `n` counts examples and `tokens` what was counted, over all columns of the row; `used_<column>` counts different
    tokens. `compared` says which union is beside the paper's numbers.
    """

    def build(frame: Frame) -> Rows:
        import pandas

        found = reductions(frame)
        columns = [name for name in dict.fromkeys(frame.rows["column"]) if name]
        parts = [found.assign(kind=name, value=found[kind]) for kind, name in kinds.items()]
        missing = frame.rows[frame.rows["reason"] != ""]
        rows = pandas.concat([*parts, missing], ignore_index=True).astype({"used": "Int64"})
        orders = {name: list(dict.fromkeys(found[name])) for name in ("splits", "entry")}
        orders |= {"column": columns, "kind": list(kinds.values())}
        places = {name: {value: place for place, value in enumerate(values)} for name, values in orders.items()}
        rows = rows.sort_values(
            ["column", "splits", "kind", "entry"],
            key=lambda values: values.map(places[str(values.name)]),
            kind="stable",
        )
        keys = ["model", *(["kind"] if len(kinds) > 1 else []), "splits", "entry"]
        pivot = Pivot(" ".join(keys), "column", "scale seed n steps tokens tokenizer", beside="used data")
        table = pivot(replace(frame, rows=rows.fillna(dict.fromkeys([*keys, "kind", "tokenizer"], ""))))
        notes = _ABOUT_COUNTS + table["note"].where(table["note"] == "", "; " + table["note"])
        if mean:
            table.insert(len(keys) + len(columns), "mean", table[columns].astype(float).mean(axis=1))
            known = table[columns].notna().sum(axis=1)
            notes += [f"; mean: of {count} columns" if count < len(columns) else "" for count in known]
        compared = (table["splits"] == frame.options["compared"]).map({True: "yes", False: "no"})
        return table.drop(columns="note").assign(compared=compared, note=notes)

    return build


def sizes_table(*shown: str) -> Callable[[Frame], Rows]:
    """Tables 5 and 6: parameters of each model with a head for two labels, in full; `share` in percent."""

    def build(frame: Frame) -> Rows:
        table = wide(frame.select(), ["model", "entry", "scale"])
        counts = [*shown, "embedding", "total"]
        table = table.reindex(columns=["model", *counts, "scale", "entry"]).astype(dict.fromkeys(counts, "Int64"))
        table.insert(1 + len(counts), "share", 100 * table["embedding"].astype(float) / table["total"].astype(float))
        return table.assign(note="counted from the configuration, without weights; embedding and total in parameters")

    return build


def trend_table(frame: Frame) -> Rows:
    """Figure 2: tokens and different tokens of each data set; padding is neither."""
    table = wide(frame.select(), ["model", "column", "tokens", "splits", "scale", "n", "data"])
    counts = ["unique", "vocabulary"]
    table = table.reindex(columns=["model", "column", "tokens", *counts, "splits", "scale", "n", "data"])
    table = table.rename(columns={"model": "tokenizer", "column": "task"}).astype(dict.fromkeys(counts, "Int64"))
    table.insert(5, "share", 100 * table["unique"].astype(float) / table["vocabulary"].astype(float))
    return table.assign(note="special tokens count, padding does not; share in percent of the vocabulary")


def unseen_table(frame: Frame) -> Rows:
    """Table 1: tokens that never occur, those of the highest ids, and how many there are in all."""
    rows = frame.select()
    listed = rows[rows["metric"] == "id"].rename(columns={"value": "id"})
    totals = rows[rows["metric"] != "id"].pivot_table(index="model", columns="metric", values="value")
    for name, metric in (("unseen_tokens", "unseen"), ("vocabulary", "vocabulary")):
        listed[name] = listed["model"].map(totals.get(metric, {}))
    columns = ["id", "unseen_tokens", "vocabulary"]
    table = listed[["model", "token", *columns, "tokens", "scale", "n", "data"]].rename(columns={"model": "tokenizer"})
    note = "special tokens left out; the vocabulary's own spelling of the token"
    # A literal, so that no token of digits is taken for a number on the way.
    return table.assign(token=table["token"].str[1:-1], note=note).astype(dict.fromkeys(columns, "Int64"))


def runs(frame: Frame) -> Rows:
    """The timed runs, one row each; `percent`: seconds of PEMA in percent of those of training (appendix F)."""
    keys = ["column", "model", "entry", "pema", "seed", "steps", "tokens", "data", "device"]
    found = wide(frame.select(table="table9_runtime"), keys)
    if found.empty:
        return found
    return found.assign(percent=100 * found["pema_seconds"] / found["train_seconds"])


def runtime_table(frame: Frame) -> Rows:
    """Table 9: seconds of PEMA and of fine-tuning with it, and peak memory with and without it; means over runs."""
    found = runs(frame)
    lines = []
    for (task, model, _), part in found.groupby(["column", "model", "entry"], sort=False) if len(found) else ():
        on, off = (part[part["pema"] == pema] for pema in ("yes", "no"))
        first = on.iloc[0]
        line: dict[str, Any] = {"task": task, "model": model, "steps": first["steps"]}
        for name, metric in (("pema", "pema_seconds"), ("finetune", "train_seconds")):
            line |= {f"{name}_s": on[metric].mean(), f"{name}_sd": on[metric].std()}
        line |= {"percent": on["percent"].mean(), "percent_low": on["percent"].min()}
        line |= {"percent_high": on["percent"].max(), "finetune_whole_s": off["train_seconds"].mean()}
        line |= {"peak_mb": on["peak_bytes"].mean() / 1e6, "peak_whole_mb": off["peak_bytes"].mean() / 1e6}
        line |= {"moments": int(first["moments"]), "moments_whole": int(off["moments"].iloc[0])}
        line |= {name: int(first[name]) for name in ("vocabulary", "used", "width")}
        line |= {"scale": frame.scale, "seeds": len(on), "n": int(first["examples"]), "tokens": first["tokens"]}
        lines.append({**line, "data": first["data"], "device": first["device"], "note": _ABOUT_RUNS})
    return type(frame.rows)(lines)


_ABOUT_RUNS = (
    "peaks: memory of the process or the GPU's allocator, less that before the model was loaded; "
    "moments: numbers in Adam's state"
)


def glue_table(frame: Frame) -> Rows:
    """Table 10: baselines, then each model without and with PEMA: means over seeds, and the sd of the task mean.

    `mean` is the mean over tasks and seeds, `sd` that of the mean over tasks, between seeds; MNLI's mismatched part
    is beside them and is not part of the mean.
    """
    keys, rows = ["model", "pema", "entry"], frame.rows
    pivot = Pivot(" ".join(keys), "column", about="scale n steps tokens", beside="data above_trivial", over="seed")
    parts = [rows[rows["column"] != MISMATCHED], rows[rows["column"] == MISMATCHED]]
    table, mismatched = (pivot(replace(frame, rows=part)) for part in parts)
    scores = parts[0][parts[0]["reason"] == ""]
    by_seed = scores.groupby([*keys, "seed"], sort=False, dropna=False)["value"].mean()
    columns = [name for name in table if f"data_{name}" in table]
    means = by_seed.groupby(keys, sort=False).agg(["mean", "std"]).reindex(table.set_index(keys).index)
    place = len(keys) + len(columns)
    table.insert(place, "mean", means["mean"].to_numpy())
    table.insert(place + 1, "sd", means["std"].to_numpy())
    about = "mean: of {} tasks; n, steps and tokens: all tasks and seeds together"
    notes = table["note"].where(table["note"] == "", table["note"] + "; ")
    notes += table[columns].notna().sum(axis=1).map(about.format)
    trained = table["entry"] != ""
    table = table.assign(seeds=table["seeds"].where(trained), note=notes.where(trained, "baseline"))
    if mismatched.empty:
        return table
    further = mismatched[[*keys, *(name for name in mismatched if MISMATCHED in name)]]
    return table.merge(further, on=keys, how="left", sort=False)
