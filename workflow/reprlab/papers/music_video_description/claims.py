"""Claims of music-video-description: what is measured, over which units, and the rule, written before the numbers."""

from __future__ import annotations

from typing import Any

from reprlab.results.claims import Claim
from reprlab.results.contrasts import Paired, sum_over_seeds
from reprlab.results.frame import Choice, Frame
from reprlab.results.twins import Twin
from reprlab.statistics import ABOVE_ZERO, BELOW_ZERO, Estimate, Rule, over_seeds, proportion

_LARGE: dict[str, Any] = {"only_at": ("paper",), "because": "specification, section 6: not visible at this scale"}
_BLEU4: dict[str, Choice] = {"part": "scores", "metric": "bleu4"}
_TRAINED = ("main", "ablation")
_POINTS = "BLEU-4, points"
RIVALS = {"M10": ("prefix", "main"), "M11": ("prefix", "adaptor")}
"""Sections of the table by the claim that the first beats the second, each with all inputs."""


def _of(inputs: str) -> dict[str, Choice]:
    return {"section": _TRAINED, "inputs": inputs}


def less(first: dict[str, Choice], second: dict[str, Choice], metric: str = "bleu4") -> Paired:
    """A score of some rows less that of others, over seeds, or descriptions within few of them."""
    return Paired({**_BLEU4, "metric": metric}, first, second, "seed", "description")


def beats(claim: str) -> Paired:
    """The rival of a claim less what it stands beside."""
    rival, beside = RIVALS[claim]
    return less({"section": rival, "inputs": "1234"}, {"section": beside, "inputs": "1234"})


def interchangeable(frame: Frame) -> Estimate | str:
    """Gap between 123 and 134, whatever its sign, less the drop of 1234 without 3, over descriptions or seeds."""
    rows = frame.select(section=_TRAINED)
    sides = [rows[rows["inputs"] == inputs] for inputs in ("123", "134", "1234", "124")]
    if any(side.empty for side in sides):
        return f"not run at scale {frame.scale}"
    sign = 1 if sides[0]["value"].mean() >= sides[1]["value"].mean() else -1
    return sum_over_seeds(sides, (sign, -sign, -1, 1), "description") or frame.reason()


def well_formed(frame: Frame) -> Estimate:
    """Share of well-formed answers to the instruction alone, over seeds, or descriptions within few of them."""
    by_seed = frame.select().groupby("seed")[["value", "n"]].mean().astype(float)
    shares = [proportion(round(share * n / 100), int(n), "description").times(100) for share, n in by_seed.to_numpy()]
    return over_seeds(shares)


CLAIMS = (
    Claim("M1", "Fine-tuning makes descriptions that the model as it is does not (Table 1)",
          f"{_POINTS}: all inputs less the model as it is", ABOVE_ZERO,
          less(_of("1234"), {"section": "baseline"}), _BLEU4),
    Claim("M2", "The inputs help: the same model is worse with the instruction alone (Table 1)",
          f"{_POINTS}: all inputs less blank", ABOVE_ZERO,
          less(_of("1234"), {"section": "sanity", "inputs": "1234"}), _BLEU4),
    Claim("M3", "The type of the video matters (Table 1: 124 falls behind 1234)",
          f"{_POINTS}: 1234 less 124", ABOVE_ZERO, less(_of("1234"), _of("124")), _BLEU4),
    Claim("M4", "So it does with music and one text alone (Table 1: 134 against 14)",
          f"{_POINTS}: 134 less 14", ABOVE_ZERO, less(_of("134"), _of("14")), _BLEU4),
    Claim("M5", "Genre and lyrics can replace each other (section 3.2); with a template by construction",
          f"{_POINTS}: |123 less 134| less (1234 less 124)", BELOW_ZERO, interchangeable, _BLEU4),
    Claim("M6", "Music matters (section 3.2: 234 falls behind 1234)", f"{_POINTS}: 1234 less 234", ABOVE_ZERO,
          less(_of("1234"), _of("234")), _BLEU4, **_LARGE),
    Claim("M7", "With the instruction alone the form stays (section 3.1)",
          "well-formed answers, percent", Rule(low=90.0), well_formed,
          {"part": "scores", "section": "sanity", "metric": "well_formed"}),
    Claim("M8", "One of genre and lyrics helps beside music and type (section 3.2: 123 and 134 against 13)",
          f"{_POINTS}: 123 less 13", ABOVE_ZERO, less(_of("123"), _of("13")), _BLEU4),
    Claim("M9", "What the music says reaches the text beside the type: 13 against the instruction alone (ours)",
          "ROUGE-L F1, points: 13 less the blank row of 1234", ABOVE_ZERO,
          less(_of("13"), {"section": "sanity", "inputs": "1234"}, "rouge_f1"),
          {"part": "scores", "metric": "rouge_f1"}),
    Claim("M10", "A linear prefix of the frozen model beats adaptor and LoRA (ours)",
          f"{_POINTS}: linear prefix less adaptor and LoRA, all inputs", ABOVE_ZERO, beats("M10"), _BLEU4),
    Claim("M11", "A linear prefix beats the adaptor in front of the same frozen model (ours)",
          f"{_POINTS}: linear prefix less the adaptor alone, all inputs", ABOVE_ZERO, beats("M11"), _BLEU4),
)  # fmt: skip
TWINS = (
    Twin(("M1",), "no update: the model as it is", learned={"section": "main", "inputs": "1234"},
         rows={"section": "baseline", "seed": None}),
    Twin(("M2",), "nothing to read: the instruction alone", learned={"section": "main", "inputs": "1234"},
         rows={"section": "sanity"}),
    Twin(("M9",), "nothing to read: the instruction alone", learned={"section": "ablation", "inputs": "13"},
         rows={"section": "sanity", "inputs": "1234"}),
    Twin(("M3", "M4", "M5", "M6", "M8", *RIVALS),
         why_not="two trainings: the model as it is would stand on both sides"),
    Twin(("M7",), why_not="the form of answers to the instruction alone, which is the twin of the others"),
)  # fmt: skip
