"""Claims of reverse probing: what is measured, over which units, and the rule, written before the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reprlab.baselines.declared import STATIC
from reprlab.results.claims import Claim, Find
from reprlab.results.contrasts import sum_over_seeds
from reprlab.results.frame import Frame, Rows
from reprlab.results.twins import Twin
from reprlab.statistics import (
    ABOVE_ZERO,
    BELOW_ZERO,
    Estimate,
    mean_over_crossed,
    rank_correlation,
)

_F1 = {"metric": "conll_f1", "part": "main"}
_UNTRAINED = "random"
_TASKS = ("ner", "re", "qa")
_LARGE: dict[str, Any] = {
    "only_at": ("paper",),
    "because": "specification, section 6: not reproducible with small sources",
}


def _rows(frame: Frame, combo: str, cell: str) -> Rows:
    return frame.select(**_F1, combo=combo, cell=cell)


def _why(frame: Frame, **where: Any) -> str:
    return frame.reason(**where) or f"not run at scale {frame.scale}"


def less(first: tuple[str, str], second: tuple[str, str]) -> Find:
    """F1 of one combination and cell less that of another, points, over seeds, or documents within few of them."""

    def find(frame: Frame) -> Estimate | str:
        sides = [_rows(frame, *one) for one in (first, second)]
        return sum_over_seeds(sides, (1, -1), "document") or _why(frame, part="main", combo=first[0])

    return find


def above_words(combo: str) -> Find:
    """F1 of a single source, by the mean, less that of the word embeddings under an encoder, points, over seeds or
    documents: what its layers add to words without context."""

    def find(frame: Frame) -> Estimate | str:
        sides = _rows(frame, combo, "mean_full"), frame.select(metric="conll_f1", part="rules", combo=STATIC)
        return sum_over_seeds(sides, (1, -1), "document") or _why(frame, part="main", combo=combo)

    return find


def above_all(best: str, cell: str) -> Find:
    """F1 of a single source less that of the best other one of the same seed, points, over seeds or documents."""

    def find(frame: Frame) -> Estimate | str:
        rows = frame.select(**_F1, cell=cell, sources=1)
        own, others = rows[rows["combo"] == best], rows[rows["combo"] != best]
        others = others[others["value"] == others.groupby("seed")["value"].transform("max")]
        return sum_over_seeds((own, others), (1, -1), "document") or _why(frame, part="main", combo=best)

    return find


def below_others(worst: str, cell: str) -> Find:
    """F1 of a source less the mean of the other task sources of the same seed, points, over seeds or documents."""

    def find(frame: Frame) -> Estimate | str:
        rows = frame.select(**_F1, cell=cell, combo=("mrpc", *_TASKS))
        sides = rows[rows["combo"] == worst], rows[rows["combo"] != worst]
        return sum_over_seeds(sides, (1, -1), "document") or _why(frame, part="main", combo=worst)

    return find


def lower_layers(combos: Sequence[str]) -> Find:
    """Mean F1 of all lower layers of the sweep less that of the last one, points, less the same of random weights: no
    layer is chosen by its score."""

    def find(frame: Frame) -> Estimate | str:
        rows, twin = (
            frame.select(metric="conll_f1", part="layers", combo=names) for names in (tuple(combos), (_UNTRAINED,))
        )
        last = rows["layer"].max()
        sides = [part[(part["layer"] == last) == is_last] for part in (rows, twin) for is_last in (False, True)]
        return _over(sides, frame, "layers")

    return find


def _over(sides: Sequence[Rows], frame: Frame, part: str) -> Estimate | str:
    """Mean of the first less the second over combinations and seeds; of one combination, over seeds or documents.

    A third and a fourth side are the same of random weights, whose difference in the same seed is taken off.
    """
    keys, twin = ["combo", "seed"], list(sides[2:])
    one, two = (side.groupby(keys)["value"].mean() for side in sides[:2])
    gaps = (one - two).dropna().reset_index()
    if twin:
        first, second = (side.groupby("seed")["value"].mean() for side in twin)
        gaps["value"] -= gaps["seed"].map(first - second)
        gaps = gaps.dropna()
    if gaps.empty:
        return _why(frame, part=part)
    if gaps["combo"].nunique() == 1:
        shared = [side[side["combo"] == gaps["combo"].iloc[0]] for side in sides[:2]]
        return sum_over_seeds([*shared, *twin], (1, -1, -1, 1)[: len(sides)], "document") or _why(frame, part=part)
    return mean_over_crossed(gaps["value"], {"source": gaps["combo"], "seed": gaps["seed"]})


def between_cells(first: str, second: str, **where: Any) -> Find:
    """F1 of one cell less that of another of the same combination and seed, points, less the same of random weights,
    over combinations and seeds."""

    def find(frame: Frame) -> Estimate | str:
        of = {"combo": tuple(one for one in frame.select(**_F1)["combo"].unique() if one != _UNTRAINED), **where}
        named = (of, {"combo": _UNTRAINED})
        return _over(
            [frame.select(**_F1, cell=cell, **one) for one in named for cell in (first, second)], frame, "main"
        )

    return find


def pairs_above(cell: str) -> Find:
    """F1 of each pair less that of its better source by its mean over seeds, points, over pairs and seeds."""

    def find(frame: Frame) -> Estimate | str:
        import pandas

        rows = frame.select(**_F1, cell=cell)
        pairs, means = rows[rows["sources"] == 2], rows[rows["sources"] == 1].groupby("combo")["value"].mean()
        better = [rows.iloc[:0]]
        for combo in pairs["combo"].unique():
            parts = [one for one in combo.split("+") if one in means]
            if len(parts) == 2:
                better.append(rows[rows["combo"] == means[parts].idxmax()].assign(combo=combo))
        return _over((pairs, pandas.concat(better)), frame, "main")

    return find


def uneven_start(frame: Frame) -> Estimate | str:
    """Largest distance of a source's weight from an equal share after the first pass, points, over runs, less 10."""
    rows = frame.select(part="weights", epoch=1, mode="full")
    if rows.empty:
        return _why(frame, part="weights")
    apart = (rows["value"] - 100 / rows["sources"].astype(float)).abs()
    runs = apart.groupby([rows["combo"], rows["seed"]]).max().reset_index(name="value")
    return mean_over_crossed(runs["value"] - 10, {"source": runs["combo"], "seed": runs["seed"]})


def alike_is_better(frame: Frame) -> Estimate | str:
    """Rank correlation over sources of the cosine with the coreference encoder and the F1 by the mean."""
    return _predicts(frame, part="similarity", metric="cosine")


def evidence_ranks(frame: Frame) -> Estimate | str:
    """Rank correlation over sources of LogME, the evidence of gold chains without a head, and the F1 by the mean."""
    return _predicts(frame, part="similarity", metric="logme")


def own_score_ranks(frame: Frame) -> Estimate | str:
    """Rank correlation over sources of their score on their own task and the F1 by the mean."""
    return _predicts(frame, part="tasks")


def _predicts(frame: Frame, **where: Any) -> Estimate | str:
    signs = frame.select(**where).groupby("combo")["value"].mean()
    scores = frame.select(**_F1, cell="mean_full", sources=1).groupby("combo")["value"].mean()
    one, two = signs.align(scores, join="inner")
    return rank_correlation(one, two, "source") if len(one) >= 3 else _why(frame, **where)


def frozen_less_scratch(frame: Frame) -> Estimate | str:
    """F1 of the frozen coreference encoder with a new head less that of the encoder with its own head, points.

    The seeds are those of the new head; the encoder is the same.
    """
    sides = _rows(frame, "coref", "mean_full"), frame.select(metric="conll_f1", part="scratch")
    return sum_over_seeds(sides, (1, -1), "document") or _why(frame, part="scratch")


_POINTS = "difference of CoNLL F1, points"
_BESIDE = f"{_POINTS}, less the same of random weights"
_TUNED = ("mrpc", *_TASKS)
CLAIMS = (
    Claim("R1", "The coreference encoder, frozen, is above every other source, by the mean (Table 1)", _POINTS,
          ABOVE_ZERO, above_all("coref", "mean_full")),
    Claim("R2", "Paraphrase helps more than relations, by the mean (Table 1)", _POINTS, ABOVE_ZERO,
          less(("mrpc", "mean_full"), ("re", "mean_full")), **_LARGE),
    Claim("R3", "Named entities help least of the source tasks, by the mean (Table 1)", _POINTS, BELOW_ZERO,
          below_others("ner", "mean_full")),
    Claim("R4", "Lower layers of the encoder of named entities are better than its last one (Figure 5)", _BESIDE,
          ABOVE_ZERO, lower_layers(["ner"])),
    Claim("R5", "Lower layers of the sources are better than their last ones (Figure 5)", _BESIDE, ABOVE_ZERO,
          lower_layers(["mrpc", *_TASKS, "bert"])),
    Claim("R6", "Attention, one more linear layer, helps the encoder of named entities (section 4.3;"
          " printed without random weights beside it)", _BESIDE,
          ABOVE_ZERO, between_cells("attention_full", "mean_full", combo="ner")),
    Claim("R7", "Attention is better than the mean for single sources other than coreference (section 4.3;"
          " printed without random weights beside it)", _BESIDE,
          ABOVE_ZERO, between_cells("attention_full", "mean_full", combo=(*_TUNED, "bert"))),
    Claim("R8", "With attention a pair is above both of its sources (section 4.6)", _POINTS, ABOVE_ZERO,
          pairs_above("attention_full"), **_LARGE),
    Claim("R9", "With attention truncated task sources are better than whole ones (section 4.4; printed: 4.7"
          " points, -1.6 to 10.9, over four sources; the layer is the best of the sweep on the scored documents, which"
          " favours the truncated)", _BESIDE, ABOVE_ZERO,
          between_cells("attention_trunc", "attention_full", combo=_TUNED)),
    Claim("R10", "With attention normalisation costs (section 4.4)", _BESIDE, BELOW_ZERO,
          between_cells("attention_norm", "attention_full"), **_LARGE),
    Claim("R11", "Attention begins with even weights (Figure 9)", "distance from an equal weight less 10, points",
          BELOW_ZERO, uneven_start),
    Claim("R12", "An encoder that was not fine-tuned is better than its word embeddings alone (ours)", _POINTS,
          ABOVE_ZERO, above_words("bert")),
    Claim("R13", "The closer a source's states to those of the coreference encoder, the better it serves (section 4.1)",
          "rank correlation", ABOVE_ZERO, alike_is_better),
    Claim("R14",
          "The frozen coreference encoder with a new head is above the encoder with the head that it was trained "
          "with (ours; trap 1 of the specification)", _POINTS, ABOVE_ZERO, frozen_less_scratch),
    Claim("R15", "LogME ranks the sources without training a head (You et al. 2021; ours, a neighbour of the paper)",
          "rank correlation", ABOVE_ZERO, evidence_ranks),
    Claim("R16", "A source's score on its own task ranks them (ours, beside R13 and R15)", "rank correlation",
          ABOVE_ZERO, own_score_ranks),
    Claim("R17", "The frozen coreference encoder is better than word embeddings alone (ours)", _POINTS, ABOVE_ZERO,
          above_words("coref")),
)  # fmt: skip
TWINS = (
    Twin(("R1", "R17"), "random weights", learned={"part": "main", "combo": "coref"}, rows={"combo": "random"}),
    Twin(("R12",), "random weights", learned={"part": "main", "combo": "bert"}, rows={"combo": "random"}),
    Twin(("R2", "R3", "R8", "R13", "R15", "R16"),
         why_not="sources of one start beside each other: random weights would be on both sides"),
    Twin(("R4",), "random weights", learned={"part": "layers", "combo": "ner"}, rows={"combo": "random"}),
    Twin(("R5",), "random weights", learned={"part": "layers", "combo": ("mrpc", *_TASKS, "bert")},
         rows={"combo": "random"}),
    Twin(("R10",), "random weights", learned={"part": "main", "combo": None}, rows={"combo": "random"}),
    Twin(("R6", "R7", "R9"), "random weights", learned={"part": "main", "combo": (*_TUNED, "bert")},
         rows={"combo": "random"}),
    Twin(("R11",), why_not="about the first pass of attention, which begins even by construction"),
    Twin(("R14",), why_not="one encoder under two heads that are both trained"),
)  # fmt: skip
