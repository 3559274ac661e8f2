"""Claims of domain-adaptive masking: what is measured, over which units, and the rule, written before the numbers."""

from __future__ import annotations

from typing import Any

from reprlab.results.claims import Claim, Find
from reprlab.results.contrasts import Nearest, Ratio, sum_over_seeds
from reprlab.results.frame import LAST, Choice, Frame
from reprlab.results.twins import Twin
from reprlab.statistics import ABOVE_ZERO, BELOW_ZERO, Estimate, Rule, mean_over_crossed

_LARGE: dict[str, Any] = {
    "only_at": ("paper",),
    "because": "specification, section 6: differences of F1 between maskings are not visible with two layers",
}
_END: dict[str, Choice] = {"part": "held_out", "step": LAST}
_UNITS = "pretraining_seed batch"
REPLAY = "concept_replay"
"""The masking of the paper with replay, in the part `replay` of the frame, beside the masking without."""
RIVALS = {"D12": "general", "D13": "concepts", "D14": "tokens"}
"""What is masked in the held-out text of each claim about replay."""
# Percent, that the claims are about: what Ibrahim et al. replay where the new text is near to the one before.
_SHARE = 5
KEPT = 0.17
"""Nats that the loss on concepts may differ by. Masking concepts lowers it by 1.70 nats at `mini` (D1 in nats), where
D1 is 7.8 points: with less than a tenth of that lost, nine tenths of what concepts gain are kept."""


def _of(masking: str, masks: str) -> dict[str, Choice]:
    return {**_END, "masking": masking, "masks": masks}


def _accuracy(first: str, second: str) -> Ratio:
    """Share of the pieces of held-out concepts that are restored, points."""
    ends = (_of(first, "concepts"), _of(second, "concepts"))
    return Ratio(("correct", "total"), *ends, units=_UNITS, times=100)


def _loss(first: str, masks: str = "tokens") -> Ratio:
    """Loss on random tokens of held-out text less that of the model before, nats."""
    return Ratio(("loss_sum", "count"), _of(first, masks), _of("none", masks), units=_UNITS)


def _replay(claim: str) -> Nearest:
    """Loss on held-out text with replay less that without, nats."""
    with_it, without = ({**_of(masking, RIVALS[claim]), "part": "replay"} for masking in (REPLAY, "concept"))
    return Nearest("replay", _SHARE, Ratio(("loss_sum", "count"), with_it, without, units=_UNITS))


def _refitted(first: str, second: str) -> Ratio:
    """As `_accuracy`, after the output bias of both was refitted to what is masked in the training text."""
    where: dict[str, Choice] = {"part": "controls", "masks": "concepts", "control": "bias refitted"}
    ends = ({**where, "masking": first}, {**where, "masking": second})
    return Ratio(("correct", "total"), *ends, units=_UNITS, times=100)


def _over_unigram(masking: str) -> Ratio:
    """As `_accuracy`, less that of the most frequent token where nothing is seen, and of what is seen elsewhere."""
    where: dict[str, Choice] = {"part": "controls", "masks": "concepts"}
    ends = ({**where, "masking": masking, "control": "as trained"}, {**where, "masking": "unigram"})
    return Ratio(("correct", "total"), *ends, units=_UNITS, times=100)


def f1(first: str, second: str) -> Find:
    """Mean over data sets and seeds of the difference of entity F1, points; a model without seeds is beside all."""

    def find(frame: Frame) -> Estimate | str:
        rows = frame.select(metric="entity_f1", part="tagging")
        one, two = (rows[rows["masking"] == name] for name in (first, second))
        # A model that was not pre-trained on has one seed of that.
        shared = ["task", "seed"] + ["pretraining_seed"] * (two["pretraining_seed"].nunique() > 1)
        gaps = one.merge(two[[*shared, "value"]], on=shared, suffixes=("", "_beside"))
        if gaps.empty:
            return frame.reason(masking=first) or f"not run at scale {frame.scale}"
        gaps["gap"] = gaps["value"] - gaps["value_beside"]
        if gaps["task"].nunique() == 1:
            sides = [rows[(rows["masking"] == name) & rows["task"].isin(gaps["task"])] for name in (first, second)]
            return sum_over_seeds(sides, (1, -1), "sentence", "pretraining_seed") or frame.reason(masking=first)
        several = "pretraining_seed" if gaps["pretraining_seed"].nunique() > 1 else "seed"
        return mean_over_crossed(gaps["gap"], {"data set": gaps["task"], several.replace("_", " "): gaps[several]})

    return find


_POINTS = "difference of entity F1 on test, points"
CLAIMS = (
    Claim("D1", "Masking concepts teaches the domain's concepts (ours: against the model before)",
          "accuracy on held-out concepts, points", ABOVE_ZERO, _accuracy("concept", "none")),
    Claim("D2", "Going on with random tokens of the domain lowers the loss on it (ours: the control)",
          "loss on held-out tokens, nats", BELOW_ZERO, _loss("random")),
    Claim("D3", "Masking concepts lowers the loss on random tokens of the domain as well (ours)",
          "loss on held-out tokens, nats", BELOW_ZERO, _loss("concept")),
    Claim("D4",
          "Masking concepts teaches them faster than masking random tokens does, at equal compute (ours; the title's"
          " claim)", "accuracy on held-out concepts, points", ABOVE_ZERO, _accuracy("concept", "random")),
    Claim("D5", "Concepts, and not spans of their lengths, are what teaches them (ours)",
          "accuracy on held-out concepts, points", ABOVE_ZERO, _accuracy("concept", "random_span")),
    Claim("D9",
          "It teaches them more than how often words occur (ours: D4 after both output biases are refitted)",
          "accuracy on held-out concepts, points", ABOVE_ZERO, _refitted("concept", "random")),
    Claim("D10", "What it teaches of concepts is more than word frequencies, and copies of what is seen, have (ours)",
          "accuracy on held-out concepts, points", ABOVE_ZERO, _over_unigram("concept")),
    Claim("D11", "Masking concepts makes the model forget general text (ours: against the model before)",
          "loss on held-out general text, nats", ABOVE_ZERO, _loss("concept", "general")),
    Claim("D12", "Replay of 5 % of general text lowers what is forgotten of it (ours; Ibrahim et al. 2024)",
          "loss on held-out general text, nats", BELOW_ZERO, _replay("D12")),
    Claim("D13", "It keeps what masking concepts gains on them (ours: nine tenths of D1, in nats)",
          "loss on held-out concepts, nats", Rule(high=KEPT), _replay("D13")),
    Claim("D14", "It gives back some of what is lost on random tokens of the domain (ours: D3)",
          "loss on held-out tokens, nats", BELOW_ZERO, _replay("D14")),
    Claim("D6", "Masking concepts improves named entities over the model before (Table 2, BERT)", _POINTS, ABOVE_ZERO,
          f1("concept", "none"), **_LARGE),
    Claim("D7",
          "Masking concepts improves named entities over random masking at equal compute (ours; the paper compares "
          "with BioBERT)", _POINTS, ABOVE_ZERO, f1("concept", "random"), **_LARGE),
    Claim("D8", "Masking concepts improves named entities over random spans of equal share (ours)", _POINTS, ABOVE_ZERO,
          f1("concept", "random_span"), **_LARGE),
)  # fmt: skip
_BEFORE: dict[str, Any] = {"masking": "none", "step": None, "pretraining_seed": None}
TWINS = (
    Twin(("D1", "D3", "D11"), "no update: the model before", learned={"part": "held_out", "masking": "concept"},
         rows=_BEFORE),
    Twin(("D2",), "no update: the model before", learned={"part": "held_out", "masking": "random"}, rows=_BEFORE),
    Twin(("D6",), "no update: the model before", learned={"part": "tagging", "masking": "concept"},
         rows={"masking": "none", "pretraining_seed": None}),
    Twin(("D10",), "word frequencies", learned={"part": "controls", "masking": "concept", "control": "as trained"},
         rows={"masking": "unigram", "control": None, "pretraining_seed": None}),
    Twin(("D4", "D5", "D7", "D8", "D9", "D12", "D13", "D14"),
         why_not="two trainings from one start: the model before would stand on both sides"),
)  # fmt: skip
