"""Claims of punctuation restoration: what is measured, over which units, and the rule, written before the numbers."""

from __future__ import annotations

from typing import Any

from reprlab.papers.punctuation_restoration.tables_structure import chosen_measures
from reprlab.results.claims import Claim, Find
from reprlab.results.contrasts import scores_of
from reprlab.results.frame import Frame, Rows
from reprlab.statistics import (
    ABOVE_ZERO,
    BELOW_ZERO,
    Estimate,
    contrast,
    count_exactly,
    difference_over_pairs,
    mean_over_crossed,
)
from reprlab.statistics.rules import Rule

_ALL: dict[str, Any] = {
    "only_at": ("paper",),
    "because": "specification, section 6: only a small effect, or none, is to be seen with so small a model",
}
_CELL = ["task", "train_set", "eval_set"]


def rises(frame: Frame) -> Estimate | str:
    """F1 of restoration after the last update less that after the first that is scored, points, over excerpts."""
    rows = frame.select(part="restoration", init="pr", metric=chosen_measures(frame)["f1"])
    rows = rows[rows["size"] == rows["size"].iloc[-1]].sort_values("update") if len(rows) else rows
    if len(rows) < 2:
        return frame.reason(part="restoration") or f"only {len(rows)} update is scored at scale {frame.scale}"
    return contrast(scores_of(rows.iloc[[-1, 0]]), [1, -1])


def _scores(frame: Frame, init: str, **where: Any) -> Rows:
    rows = frame.select(part="generative", metric=chosen_measures(frame)["f1"], init=init, **where)
    return rows.set_index([*_CELL, "seed"])["value"]


def gain(over: str, **where: Any) -> Find:
    """Mean F1 after restoration less that of another model, points, over sets and seeds."""

    def find(frame: Frame) -> Estimate | str:
        first, second = _scores(frame, "pr", **where), _scores(frame, over, **where)
        gaps = (first - second).dropna().reset_index()
        if gaps.empty:
            return frame.reason(part="generative", init="pr", **where) or f"not run at scale {frame.scale}"
        sets = gaps[_CELL].agg(" ".join, axis=1)
        if sets.nunique() == 1:
            return difference_over_pairs(gaps["value"], gaps["value"] * 0, "seed")
        return mean_over_crossed(gaps["value"], {"set": sets, "seed": gaps["seed"]})

    return find


def first_loss(frame: Frame) -> Estimate | str:
    """Mean loss of the first pass after restoration less that of T5, nats a token, over seeds."""
    rows = frame.select(part="losses")
    means = rows[rows["epoch"] <= 1].groupby(["init", "seed"])["value"].mean()
    if not {"pr", "t5"} <= set(means.index.get_level_values("init")):
        return frame.reason(part="losses", init="pr") or f"not run at scale {frame.scale}"
    first, second = means["pr"].align(means["t5"], join="inner")
    return difference_over_pairs(first, second, "seed")


def steadier(frame: Frame) -> Estimate | str:
    """Standard deviation over seeds of entity F1 with a head, after restoration less that of T5, points: as counted."""
    rows = frame.select(part="discriminative", metric="entity_f1")
    found = rows.groupby("init")["value"].agg(["std", "count"])
    if not {"pr", "t5"} <= set(found.index) or found["count"].min() < 3:
        return frame.reason(part="discriminative", init="pr") or "needs three seeds of both models"
    return count_exactly(found.loc["pr", "std"] - found.loc["t5", "std"], "seed", int(found["count"].min()))


def improved(frame: Frame) -> Estimate | str:
    """How many of the sets have a mean F1 that is at least two points higher after restoration."""
    gaps = (_scores(frame, "pr") - _scores(frame, "t5")).dropna()
    if gaps.empty:
        return frame.reason(part="generative", init="pr") or f"not run at scale {frame.scale}"
    means = gaps.groupby(_CELL).mean()
    return count_exactly(int((means >= 2).sum()), "set", len(means))


_POINTS = "difference of F1 on test, points"
CLAIMS = [
    Claim("P1", "F1 of restoration, last update less first, points", ABOVE_ZERO, rises),
    Claim("P2", _POINTS, ABOVE_ZERO, gain("t5", task="sbd")),
    Claim("P3", _POINTS, ABOVE_ZERO, gain("mlm", task="sbd")),
    Claim("P4", _POINTS, ABOVE_ZERO, gain("t5")),
    Claim("P5", _POINTS, ABOVE_ZERO, gain("mlm")),
    Claim("P6", "loss of the first pass, nats a token", BELOW_ZERO, first_loss),
    Claim("P7", "difference of standard deviations, points", BELOW_ZERO, steadier, **_ALL),
    Claim("P8", "sets of Table 1 with two points more", Rule(low=13.5), improved, **_ALL),
]
