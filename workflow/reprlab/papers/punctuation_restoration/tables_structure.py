"""Tables of punctuation restoration that are not a listing of the frame, and our side of the printed ones."""

from __future__ import annotations

import math
import re
from typing import Any

from reprlab.reporting.comparison import Counterpart
from reprlab.results.comparison import Cell, Own, about
from reprlab.results.frame import Frame, Rows
from reprlab.structure import formats

MEASURES = ("precision", "recall", "f1")
_CELL = ["task", "train_set", "eval_set"]
_SHOWN = ("data", "above_trivial")
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
            upstream = one.loc[one["metric"] == "upstream_f1", "value"].mean()
            line |= {f"{init}_upstream_f1": upstream, f"{init}_malformed": malformed}
            line[f"{init}_above_trivial"] = _common(judged, "above_trivial")
        line |= _gains(line, inits)
        known = cell[cell["metric"] == measures["f1"]]
        line |= {
            "trivial": known["baseline_value"].mean(),
            "n": known["n"].max(),
            "seen": known["seen"].max(),
            "seeds": known["seed"].nunique(),
        }
        why = {
            frame.reason(**dict(zip(_CELL, key, strict=True)), init=init)
            for init in inits
            if cell.empty or init not in set(cell["init"])
        }
        lines.append(
            line | {"data": _common(cell, "data"), "scale": frame.scale, "note": "; ".join(sorted(why - {""}))}
        )
    return (
        type(rows)(lines).astype({"n": "Int64", "seen": "Int64"})
        if lines
        else type(rows)(columns=[*_CELL, "scale", "note"])
    )


def _gains(line: dict[str, Any], inits: list[str]) -> dict[str, Any]:
    """F1 of each model less that of T5, where there is one."""
    beside = line.get("t5_f1", math.nan)
    return {f"delta_{init}": line.get(f"{init}_f1", math.nan) - beside for init in inits if init != "t5"}


def _reasons(frame: Frame, columns: list[str]) -> Rows:
    """The cells without a value, by some of their factors, with the reason as their note."""
    found = frame.rows.loc[frame.rows["reason"] != "", [*columns, "reason"]].drop_duplicates()
    return found.rename(columns={"reason": "note"}).assign(scale=frame.scale)


def _common(rows: Rows, column: str) -> str:
    return "; ".join(one for one in dict.fromkeys(rows[column]) if one)


def over_seeds(frame: Frame) -> Rows:
    """Smallest, largest, mean and standard deviation over seeds of each model's scores with a head (Table 3).

    With the gain in F1 of each model over T5 in each of these, and why a model has no scores.
    """
    import pandas

    rows, inits = frame.select(), [one for one in dict.fromkeys(frame.rows["init"]) if one]
    named = rows.assign(column=rows["init"] + "_" + rows["metric"].str.removeprefix("entity_"))
    found = named.groupby(["task", "eval_set", "column"], sort=False)["value"].agg(
        ["min", "max", "mean", "std", "count"]
    )
    found = found.rename(columns={"mean": "avg", "std": "sdev", "count": "seeds"}).reset_index()
    lines = []
    for (task, place), part in found.groupby(["task", "eval_set"], sort=False):
        absent = [init for init in inits if f"{init}_f1" not in set(part["column"])]
        why = {frame.reason(task=task, eval_set=place, init=init) for init in absent} - {""}
        for statistic in ("min", "max", "avg", "sdev"):
            values = dict(zip(part["column"], part[statistic], strict=True))
            line: dict[str, Any] = {"statistic": statistic, "task": task, "eval_set": place, **values}
            beside = {"seeds": int(part["seeds"].max()), "scale": frame.scale, "note": "; ".join(sorted(why))}
            lines.append({**line, **_gains(line, inits), **beside})
    if lines:
        return type(rows)(lines)
    return pandas.concat([type(rows)(columns=["statistic"]), _reasons(frame, ["task", "eval_set", "init"])])


def restored(frame: Frame) -> Rows:
    """Restoration by size and update, as counted here and by the authors' code, beside the hardest baseline.

    A size without scores has the reason.
    """
    import pandas

    rows, measures = frame.select(), chosen_measures(frame)
    rows = rows.assign(column=rows["metric"])
    wide = rows.set_index(["size", "update", "column"])["value"].unstack("column").reset_index()
    found = wide.reindex(columns=["size", "update"])
    columns = {**measures, **{f"upstream_{name}": f"upstream_{name}" for name in MEASURES}, "skipped": "malformed"}
    for name, own in columns.items():
        found[name] = wide.get(own, math.nan)
    f1 = rows.loc[rows["metric"] == measures["f1"]]
    beside = f1[
        ["size", "update", "low", "high", "baseline_value", "above_trivial", "n", "seen", "steps", "tokens", "data"]
    ]
    # In the order of registration, which is that of the paper.
    found = beside[["size", "update"]].merge(found).merge(beside).assign(scale=frame.scale)
    return pandas.concat([found, _reasons(frame, ["size"])], ignore_index=True).rename(
        columns={"baseline_value": "trivial"}
    )


def restored_at_last(frame: Frame) -> Rows:
    """Restoration of each size after its last update (Table 6)."""
    rows = restored(frame)
    last = rows.groupby("size")["update"].transform("max")
    return rows[rows["update"].isna() | (rows["update"] == last)].drop(columns="update").reset_index(drop=True)


def sizes_of_data(frame: Frame) -> Rows:
    """Pairs of each set and split, those that are too long, and those that the tokenizer cannot write (Table 5).

    With the percent of unknown pieces of sources and of targets; a set that is absent has the reason.
    """
    import pandas

    rows = frame.select()
    sets, counts = ["task", "train_set", "eval_set"], ["pairs", "long", "unwritable"]
    wide = rows.pivot_table("value", [*sets, "counted", "data"], "metric", sort=False)
    wide = wide.reindex(columns=[*counts, "unknown_source", "unknown_target"])
    wide[counts] = wide[counts].fillna(0).astype("Int64")
    found = wide.reset_index().rename(columns={"counted": "split"}).assign(scale=frame.scale)
    return pandas.concat([found, _reasons(frame, sets)], ignore_index=True)


def arms(frame: Frame) -> Rows:
    """Updates and tokens of each model's training before the tasks; equal updates are not equal tokens."""
    import pandas

    rows = frame.select(metric="tokens")
    last = rows[rows["update"] == rows.groupby("init")["update"].transform("max")]
    found = last[["init", "update", "value", "data"]].rename(columns={"value": "tokens"}).assign(scale=frame.scale)
    found = found.assign(tokens_an_update=found["tokens"] / found["update"])
    return pandas.concat([found, _reasons(frame, ["init"])], ignore_index=True)


def first_losses(frame: Frame) -> Rows:
    """Mean loss over seeds by passes over the pairs, of each task and model."""
    rows = frame.select()
    keys = ["task", "train_set", "init", "epoch"]
    found = rows.groupby(keys, sort=False)["value"].agg(["mean", "count"]).reset_index()
    return found.rename(columns={"mean": "loss", "count": "seeds"}).assign(scale=frame.scale)


def examples(frame: Frame) -> Rows:
    """Source and target of the paper's sentence, by task (Table 4)."""
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
    told, restored = about(ours.iloc[0], name, own.frame.scale), own.frame.options.get("restored")
    told += f"; restores {restored}" if restored and not name.startswith("t5_") else ""
    return Counterpart(f"{float(ours.iloc[0][name]) / 100:.2f}", told)


def restoration_of(own: Own, row: Cell, column: str) -> Counterpart:
    """Our side of Table 6."""
    ours = own.rows("table6", size=row["size"])
    if column not in ours or ours[column].isna().all():
        return own.missing(part="restoration", size=row["size"])
    return Counterpart(f"{float(ours.iloc[0][column]) / 100:.2f}", about(ours.iloc[0], column, own.frame.scale))
