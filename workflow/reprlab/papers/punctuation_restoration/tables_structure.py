"""Tables of punctuation restoration that are no listing of the frame, and our side of the printed ones."""

from __future__ import annotations

import re
from typing import Any

from reprlab.reporting.comparison import Counterpart
from reprlab.results.comparison import Cell, Own, about
from reprlab.results.frame import Frame, Rows
from reprlab.structure import formats

MEASURES = ("precision", "recall", "f1")
_CELL = ["task", "train_set", "eval_set"]
_SHOWN = ("data", "learned")
# The paper's sentence with its annotations. (table 4)
SENTENCE = "Faker is a League of Legends esports player, currently mid laner and part owner at T1."
_TOKENS = re.findall(r"\w+|[,.]", SENTENCE)
_TAGS = ["B-PER", *["O"] * (len(_TOKENS) - 3), "B-ORG", "O"]
_TRIPLES = {
    "heads": ["Faker", "Faker"],
    "predicates": ["is", "is mid laner and part owner at"],
    "tails": ["a League of Legends esports player", "T1"],
}


def chosen_measures(frame: Frame) -> dict[str, str]:
    """The frame's metric behind each measure of the tables: ours, or as the authors' code counts."""
    return {name: str(frame.options.get(name, name)) for name in MEASURES}


def by_init(frame: Frame) -> Rows:
    """One row for each task, set that was trained on and set that was tested on: means over seeds of each model."""
    rows = frame.select()
    measures, inits = chosen_measures(frame), [one for one in dict.fromkeys(frame.rows["init"]) if one]
    lines = []
    for key in frame.rows.loc[frame.rows["eval_set"] != "", _CELL].drop_duplicates().itertuples(index=False, name=None):
        cell = rows[(rows[_CELL] == list(key)).all(axis=1)]
        line: dict[str, Any] = dict(zip(_CELL, key, strict=True))
        for init in inits:
            one = cell[cell["init"] == init]
            line |= {f"{init}_{name}": one.loc[one["metric"] == own, "value"].mean() for name, own in measures.items()}
            malformed = one.loc[one["metric"] == "malformed", "value"].mean()
            judged = one[one["metric"] == measures["f1"]]
            line |= {f"{init}_malformed": malformed, f"{init}_learned": _common(judged, "learned")}
        line |= {f"delta_{init}": line[f"{init}_f1"] - line["t5_f1"] for init in inits if init != "t5"}
        known = cell[cell["metric"] == measures["f1"]]
        line |= {"trivial": known["baseline_value"].mean(), "n": known["n"].max(), "seeds": known["seed"].nunique()}
        why = {
            frame.reason(**dict(zip(_CELL, key, strict=True)), init=init)
            for init in inits
            if cell.empty or init not in set(cell["init"])
        }
        lines.append(
            line | {"data": _common(cell, "data"), "scale": frame.scale, "note": "; ".join(sorted(why - {""}))}
        )
    return type(rows)(lines).astype({"n": "Int64"}) if lines else type(rows)(columns=[*_CELL, "scale", "note"])


def _common(rows: Rows, column: str) -> str:
    return "; ".join(one for one in dict.fromkeys(rows[column]) if one)


def over_seeds(frame: Frame) -> Rows:
    """Smallest, largest, mean and standard deviation over seeds of each model's scores with a head (Table 3)."""
    rows = frame.select(metric=tuple(f"entity_{name}" for name in MEASURES))
    named = rows.assign(column=rows["init"] + "_" + rows["metric"].str.removeprefix("entity_"))
    found = named.groupby(["task", "eval_set", "column"], sort=False)["value"].agg(
        ["min", "max", "mean", "std", "count"]
    )
    found = found.rename(columns={"mean": "avg", "std": "sdev", "count": "seeds"}).reset_index()
    lines = []
    for (task, place), part in found.groupby(["task", "eval_set"], sort=False):
        for statistic in ("min", "max", "avg", "sdev"):
            values = dict(zip(part["column"], part[statistic], strict=True))
            seeds = {"seeds": int(part["seeds"].max()), "scale": frame.scale}
            lines.append({"statistic": statistic, "task": task, "eval_set": place, **values, **seeds})
    return type(rows)(lines, columns=None if lines else ["statistic", "scale"])


def restored(frame: Frame) -> Rows:
    """Restoration by size and update, beside the copy of the source, and why a size has none."""
    import pandas

    rows = frame.select()
    if rows.empty:
        return type(rows)(columns=["size", "update", "scale", "note"])
    names = {**{own: name for name, own in chosen_measures(frame).items()}, "malformed": "skipped"}
    kept = rows[rows["metric"].isin(list(names))]
    wide = kept.assign(metric=kept["metric"].map(names)).pivot_table("value", ["size", "update"], "metric", sort=False)
    f1 = kept[kept["metric"] == chosen_measures(frame)["f1"]].set_index(["size", "update"])
    beside = f1[["low", "high", "baseline_value", "learned", "n", "steps", "tokens", "data"]]
    found = wide.reindex(columns=[*MEASURES, "skipped"]).join(beside).reset_index().assign(scale=frame.scale)
    missing = frame.rows.loc[frame.rows["reason"] != "", ["size", "reason"]].rename(columns={"reason": "note"})
    together = type(rows)({**missing, "scale": frame.scale}).drop_duplicates()
    return pandas.concat([found, together], ignore_index=True).rename(columns={"baseline_value": "copy"})


def restored_at_last(frame: Frame) -> Rows:
    """Restoration of each size after its last update (Table 6)."""
    rows = restored(frame)
    last = rows.groupby("size")["update"].transform("max")
    return rows[rows["update"].isna() | (rows["update"] == last)].drop(columns="update").reset_index(drop=True)


def sizes_of_data(frame: Frame) -> Rows:
    """Pairs of each set and split, those that are too long, and those that the tokenizer cannot write (Table 5)."""
    rows = frame.select()
    keys = ["task", "train_set", "counted", "data"]
    wide = rows.pivot_table("value", keys, "metric", sort=False)
    wide = wide.reindex(columns=["pairs", "long", "unwritable"]).fillna(0).astype(int)
    return wide.reset_index().rename(columns={"counted": "split"}).assign(scale=frame.scale)


def first_losses(frame: Frame) -> Rows:
    """Mean loss over seeds by passes over the pairs, of each task and model."""
    rows = frame.select()
    keys = ["task", "train_set", "init", "epoch"]
    found = rows.groupby(keys, sort=False)["value"].agg(["mean", "count"]).reset_index()
    return found.rename(columns={"mean": "loss", "count": "seeds"}).assign(scale=frame.scale)


def examples(frame: Frame) -> Rows:
    """What a model reads and writes for the paper's sentence, by task (Table 4)."""
    text: dict[str, Any] = {"text": SENTENCE, "tokens": _TOKENS}
    rows: dict[formats.StructureTask, dict[str, Any]] = {
        "openie": {**text, **_TRIPLES},
        "ner": {**text, "tags": _TAGS},
        "multitask": {**text, "tags": _TAGS, **_TRIPLES},
    }
    lines = [
        (task, formats.prompt(task), formats.source(task, row), formats.target(task, row)) for task, row in rows.items()
    ]
    return type(frame.rows)(lines, columns=["task", "prompt", "source", "target"]).assign(scale=frame.scale)


def generative(own: Own, row: Cell, column: str) -> Counterpart:
    """Our side of Tables 1 and 2: the same cell as a share."""
    joint = "train_set" not in row
    where = {"task": row["task"], **({} if joint else {"train_set": row["train_set"], "eval_set": row["eval_set"]})}
    ours = own.rows("table2" if joint else "table1", **where)
    name = {"delta": "delta_pr"}.get(column, column)
    if name not in ours or ours[name].isna().all():
        return own.missing(part="joint" if joint else "generative", **where)
    return Counterpart(f"{float(ours.iloc[0][name]) / 100:.2f}", about(ours.iloc[0], name, own.frame.scale))


def restoration_of(own: Own, row: Cell, column: str) -> Counterpart:
    """Our side of Table 6."""
    ours = own.rows("table6", size=row["size"])
    if column not in ours or ours[column].isna().all():
        return own.missing(part="restoration", size=row["size"])
    return Counterpart(f"{float(ours.iloc[0][column]) / 100:.2f}", about(ours.iloc[0], column, own.frame.scale))
