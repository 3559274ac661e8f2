"""Aggregates of section 2.5: change, mean ratio of change (equation 1), group means. Released values and our own scores
go through the same functions.

A table of performance has one row for each (family, ckpt, train, eval), with the column `performance` (released values
in 0 to 1, ours in percent); the un-tuned model has `train` = base.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reprlab.papers.amuro_char.names import BASE, Pair, checkpoint_order
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import pandas

KEYS = ["family", "ckpt", "train", "eval"]
ORIGIN = ["seed", "n", "steps", "tokens", "data"]
CHANGE_COLUMNS = ["family", "ckpt", "eval", "train", "base", "tuned", "difference", "ratio"]


@dataclass(frozen=True)
class MeanRatio:
    """Mean ratio of change over `n` ratios; `skipped` counts those whose base is zero."""

    mean: float
    median: float
    n: int
    skipped: int


def unique(frame: pandas.DataFrame, keys: list[str]) -> pandas.DataFrame:
    """`frame`, if its keys are unique.

    Raises:
        ReprlabError: they are not.
    """
    twice = frame[frame.duplicated(keys)]
    if len(twice):
        row = " ".join(f"{key}={twice.iloc[0][key]}" for key in keys)
        raise ReprlabError(f"scores: two rows for {row}; keep one learning rate and one seed of each model")
    return frame


def changes(perf: pandas.DataFrame, pairs: Sequence[Pair]) -> pandas.DataFrame:
    """Change from base to tuned for each (family, ckpt) and pair that has both scores.

    A pair that is given twice counts twice (Table 6). `ratio` is (tuned - base) / base, NaN where the base is zero.
    Columns: `CHANGE_COLUMNS`, and what `perf` has of `ORIGIN` about the tuned score; rows by family as found,
    checkpoint, pair as given.
    """
    import pandas

    frame = unique(perf, KEYS)
    wanted = pandas.DataFrame(pairs, columns=["eval", "train"]).assign(place=range(len(pairs)))
    scores, origin = ["family", "ckpt", "eval", "performance"], [name for name in ORIGIN if name in frame]
    tuned = wanted.merge(frame[[*scores, "train", *origin]], on=["eval", "train"]).rename(
        columns={"performance": "tuned"}
    )
    base = frame.loc[frame["train"] == BASE, scores].rename(columns={"performance": "base"})
    both = tuned.merge(base, on=scores[:3])
    families = {name: place for place, name in enumerate(dict.fromkeys(frame["family"]))}
    order: Any = [
        (families[family], *checkpoint_order(ckpt), place)
        for family, ckpt, place in zip(both["family"], both["ckpt"], both["place"], strict=True)
    ]
    both["order"] = order
    both = both.sort_values("order", kind="stable").reset_index(drop=True)
    both["difference"] = both["tuned"] - both["base"]
    both["ratio"] = both["difference"] / both["base"].where(both["base"] != 0)
    return both[[*CHANGE_COLUMNS, *origin]]


def complete(changed: pandas.DataFrame) -> pandas.DataFrame:
    """The rows of `changes` at checkpoints that have as many pairs as any other of the family.

    Where only some training sets cover every checkpoint, a mean over all rows would mix checkpoints with sets.
    """
    if changed.empty:
        return changed
    counts = changed.groupby(["family", "ckpt"])["eval"].transform("size")
    most = counts.groupby(changed["family"]).transform("max")
    return changed[counts == most].reset_index(drop=True)


def mean_ratio(changed: pandas.DataFrame) -> MeanRatio:
    """MRC over all rows of `changes`; zero bases are skipped and counted. NaN without rows."""
    ratios = changed.loc[changed["base"] != 0, "ratio"]
    skipped = len(changed) - len(ratios)
    if ratios.empty:
        return MeanRatio(math.nan, math.nan, 0, skipped)
    return MeanRatio(float(ratios.mean()), float(ratios.median()), len(ratios), skipped)


def group_means(perf: pandas.DataFrame, groups: Mapping[str, Sequence[Pair]]) -> pandas.DataFrame:
    """Mean difference of each group by (family, ckpt): Table 6. One column a group, and `n_<group>`.

    A group has no mean at a checkpoint where not all of its pairs were run that the family has elsewhere.
    """
    import pandas

    parts = []
    for name, pairs in groups.items():
        grouped = complete(changes(perf, pairs)).groupby(["family", "ckpt"], sort=False)["difference"]
        parts.append(pandas.DataFrame({name: grouped.mean(), f"n_{name}": grouped.size()}))
    joined = pandas.concat(parts, axis=1).reset_index()
    joined["order"] = [checkpoint_order(ckpt) for ckpt in joined["ckpt"]]
    joined = joined.sort_values(["family", "order"], kind="stable").drop(columns="order")
    counts = dict.fromkeys((f"n_{name}" for name in groups), "Int64")
    return joined.astype(counts).reset_index(drop=True)


def all_other_pairs(perf: pandas.DataFrame, train: str, trained_on: Sequence[str]) -> list[Pair]:
    """Equation 1: every evaluation set of `perf` that is not that of the training task itself (`trained_on`)."""
    tuned = perf[(perf["train"] == train) & ~perf["eval"].isin(trained_on)]
    return [Pair(eval, train) for eval in dict.fromkeys(tuned["eval"])]


def released_frame(table: pandas.DataFrame) -> pandas.DataFrame:
    """The released values (one column a checkpoint, as text) in the form that the aggregates take."""
    steps = [name for name in table.columns if name not in ("family", "train", "eval", "source")]
    long = table.melt(["family", "train", "eval"], steps, "ckpt", "performance")
    return long.assign(performance=long["performance"].astype(float))
