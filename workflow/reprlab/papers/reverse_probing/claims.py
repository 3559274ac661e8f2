"""Claims of reverse probing: what is measured, over which units, and the rule, written before the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reprlab.results.claims import Claim, Find
from reprlab.results.frame import Frame, Rows
from reprlab.statistics import (
    ABOVE_ZERO,
    BELOW_ZERO,
    Estimate,
    difference_over_pairs,
    mean_over_crossed,
    rank_correlation,
)

_F1 = {"metric": "conll_f1", "part": "main"}
_TASKS = ("ner", "re", "qa")
_LARGE: dict[str, Any] = {
    "only_at": ("paper",),
    "because": "specification, section 6: not reproducible with small sources",
}


def _by_seed(frame: Frame, combo: str, cell: str) -> Rows:
    return frame.select(**_F1, combo=combo, cell=cell).groupby("seed")["value"].mean()


def _why(frame: Frame, **where: Any) -> str:
    return frame.reason(**where) or f"not run at scale {frame.scale}"


def less(first: tuple[str, str], second: tuple[str, str]) -> Find:
    """F1 of one combination and cell less that of another, points, over the seeds that both have."""

    def find(frame: Frame) -> Estimate | str:
        one, two = _by_seed(frame, *first).align(_by_seed(frame, *second), join="inner")
        return difference_over_pairs(one, two, "seed") if len(one) else _why(frame, part="main", combo=first[0])

    return find


def above_all(best: str, cell: str) -> Find:
    """F1 of a single source less that of the best other one of the same seed, points, over seeds."""

    def find(frame: Frame) -> Estimate | str:
        rows = frame.select(**_F1, cell=cell, sources=1)
        wide = rows.pivot_table("value", "seed", "combo")
        if best not in wide or wide.shape[1] < 2:
            return _why(frame, part="main", combo=best)
        return difference_over_pairs(wide[best], wide.drop(columns=best).max(axis=1), "seed")

    return find


def below_others(worst: str, cell: str) -> Find:
    """F1 of a source less the mean of the other task sources of the same seed, points, over seeds."""

    def find(frame: Frame) -> Estimate | str:
        rows = frame.select(**_F1, cell=cell, combo=("mrpc", *_TASKS))
        wide = rows.pivot_table("value", "seed", "combo")
        if worst not in wide or wide.shape[1] < 2:
            return _why(frame, part="main", combo=worst)
        return difference_over_pairs(wide[worst], wide.drop(columns=worst).mean(axis=1), "seed")

    return find


def lower_layers(combos: Sequence[str]) -> Find:
    """Mean F1 of all lower layers of the sweep less that of the last one, points: no layer is chosen by its score."""

    def find(frame: Frame) -> Estimate | str:
        rows = frame.select(metric="conll_f1", part="layers", combo=tuple(combos))
        last = rows["layer"] == rows["layer"].max()
        keys = ["combo", "seed"]
        gaps = (rows[~last].groupby(keys)["value"].mean() - rows[last].groupby(keys)["value"].mean()).dropna()
        return _over(gaps.reset_index(), frame, "layers")

    return find


def _over(gaps: Rows, frame: Frame, part: str) -> Estimate | str:
    """The mean gap over combinations and seeds, or over seeds where there is one combination."""
    if gaps.empty:
        return _why(frame, part=part)
    if gaps["combo"].nunique() == 1:
        return difference_over_pairs(gaps["value"], gaps["value"] * 0, "seed")
    return mean_over_crossed(gaps["value"], {"source": gaps["combo"], "seed": gaps["seed"]})


def between_cells(first: str, second: str, **where: Any) -> Find:
    """F1 of one cell less that of another of the same combination and seed, points, over combinations and seeds."""

    def find(frame: Frame) -> Estimate | str:
        keys = ["combo", "seed"]
        one, two = (frame.select(**_F1, cell=cell, **where).groupby(keys)["value"].mean() for cell in (first, second))
        return _over((one - two).dropna().reset_index(), frame, "main")

    return find


def pairs_above(cell: str) -> Find:
    """F1 of each pair less that of its better source by its mean over seeds, points, over pairs and seeds."""

    def find(frame: Frame) -> Estimate | str:
        rows = frame.select(**_F1, cell=cell)
        singles = rows[rows["sources"] == 1].pivot_table("value", "combo", "seed")
        gaps = []
        for row in rows[rows["sources"] == 2].to_dict("records"):
            parts = [one for one in row["combo"].split("+") if one in singles.index]
            if len(parts) == 2 and row["seed"] in singles:
                better = singles.loc[parts].mean(axis=1).idxmax()
                gaps.append(
                    {
                        "combo": row["combo"],
                        "seed": row["seed"],
                        "value": row["value"] - singles.loc[better, row["seed"]],
                    }
                )
        return _over(type(rows)(gaps, columns=["combo", "seed", "value"]).dropna(), frame, "main")

    return find


def uneven_start(frame: Frame) -> Estimate | str:
    """Largest distance of a source's weight from an equal share after the first pass, points, over runs, less 10."""
    rows = frame.select(part="weights", epoch=1, mode="full")
    if rows.empty:
        return _why(frame, part="weights")
    apart = (rows["value"] - 100 / rows["sources"].astype(float)).abs()
    runs = apart.groupby([rows["combo"], rows["seed"]]).max().reset_index(name="value")
    return _over(runs.assign(value=runs["value"] - 10), frame, "weights")


def alike_is_better(frame: Frame) -> Estimate | str:
    """Rank correlation over sources of the cosine with the coreference encoder and the F1 by the mean."""
    cosine = frame.select(part="similarity").groupby("combo")["value"].mean()
    scores = frame.select(**_F1, cell="mean_full", sources=1).groupby("combo")["value"].mean()
    one, two = cosine.align(scores, join="inner")
    if len(one) < 3:
        return _why(frame, part="similarity")
    return rank_correlation(one, two, "source")


def frozen_less_scratch(frame: Frame) -> Estimate | str:
    """F1 of the frozen coreference encoder with a new head less that of the encoder with its own head, points.

    The unit is the seed of the new head; the encoder is the same.
    """
    new = _by_seed(frame, "coref", "mean_full")
    own = frame.select(metric="conll_f1", part="scratch")["value"]
    if new.empty or own.empty:
        return _why(frame, part="scratch")
    return difference_over_pairs(new, new * 0 + own.iloc[0], "seed")


_POINTS = "difference of CoNLL F1, points"
_TUNED = ("mrpc", *_TASKS)
CLAIMS = (
    Claim("R1", "The coreference encoder, frozen, is above every other source, by the mean (Table 1)", _POINTS,
          ABOVE_ZERO, above_all("coref", "mean_full")),
    Claim("R2", "Paraphrase helps more than relations, by the mean (Table 1)", _POINTS, ABOVE_ZERO,
          less(("mrpc", "mean_full"), ("re", "mean_full")), **_LARGE),
    Claim("R3", "Named entities help least of the source tasks, by the mean (Table 1)", _POINTS, BELOW_ZERO,
          below_others("ner", "mean_full")),
    Claim("R4", "Lower layers of the encoder of named entities are better than its last one (Figure 5)", _POINTS,
          ABOVE_ZERO, lower_layers(["ner"])),
    Claim("R5", "Lower layers of the sources are better than their last ones (Figure 5)", _POINTS, ABOVE_ZERO,
          lower_layers(["mrpc", *_TASKS, "bert"])),
    Claim("R6", "Attention, one more linear layer, helps the encoder of named entities (section 4.3)", _POINTS,
          ABOVE_ZERO, less(("ner", "attention_full"), ("ner", "mean_full"))),
    Claim("R7", "Attention is better than the mean for single sources other than coreference (section 4.3)", _POINTS,
          ABOVE_ZERO, between_cells("attention_full", "mean_full", combo=(*_TUNED, "bert"))),
    Claim("R8", "With attention a pair is above both of its sources (section 4.6)", _POINTS, ABOVE_ZERO,
          pairs_above("attention_full"), **_LARGE),
    Claim("R9", "With attention truncated task sources are better than whole ones (section 4.4)", _POINTS, ABOVE_ZERO,
          between_cells("attention_trunc", "attention_full", combo=_TUNED)),
    Claim("R10", "With attention normalisation costs (section 4.4)", _POINTS, BELOW_ZERO,
          between_cells("attention_norm", "attention_full"), **_LARGE),
    Claim("R11", "Attention begins with even weights (Figure 9)", "distance from an equal weight less 10, points",
          BELOW_ZERO, uneven_start),
    Claim("R12", "An encoder that has read text is better than one with random weights (ours)", _POINTS, ABOVE_ZERO,
          less(("bert", "mean_full"), ("random", "mean_full"))),
    Claim("R13", "The closer a source's states to those of the coreference encoder, the better it serves (section 4.1)",
          "rank correlation", ABOVE_ZERO, alike_is_better),
    Claim("R14",
          "The frozen coreference encoder with a new head is above the encoder with the head that it was trained "
          "with (ours; trap 1 of the specification)", _POINTS, ABOVE_ZERO, frozen_less_scratch),
)  # fmt: skip
