"""Statistics and rules of amuro-char's claims, written before any number was seen.

Section 6 of the specification lists what a small ladder cannot show: that named benchmarks fall into learned and not
learned ones, the turning points at 342,000 and 424,000 steps, few-shot ability. Below paper scale their numbers are
reported, not judged.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from reprlab.papers.amuro_char import measures
from reprlab.papers.amuro_char.names import CLASS_TO_GEN, GEN_TO_CLASS
from reprlab.results.claims import Claim
from reprlab.results.frame import Frame
from reprlab.statistics import ABOVE_ZERO, BELOW_ZERO, Estimate, Rule

# "Strongly": a quarter of the score at least. The paper calls +10.6 % "similar". Ratios of change.
_LOST, _KEPT = Rule(high=-0.25), Rule(low=-0.15, high=0.15)
# Points.
_NEAR_MAJORITY, _LEVEL = Rule(low=-10, high=10), Rule(low=-2, high=2)


def _find(place: int, statistic: Callable[[measures.Model], Estimate | str], frame: Frame) -> Estimate | str:
    model = measures.model_of(frame, place)
    return statistic(model) if model else f"no second model at scale {frame.scale}" if place else ""


def _about(place: int, frame: Frame) -> str:
    """Scale, model, and how many fine-tuned scores did not beat their trivial baseline."""
    model = measures.model_of(frame, place)
    if model is None:
        return f"scale {frame.scale}"
    judged = model.perf[model.perf["above_trivial"] != ""]["above_trivial"]
    lost = int((judged == "not above").sum())
    return f"scale {frame.scale}, {model.family}; {lost} of {len(judged)} fine-tuned scores not above the trivial"


def _claim(id: str, find: Any, rule: Rule = ABOVE_ZERO, **more: Any) -> Claim:
    place = 1 if id.endswith("b") else 0
    return Claim(id, "", rule, partial(_find, place, find), note=partial(_about, place), **more)


_TO_GEN, _TO_CLASS = (partial(measures.transfer, direction) for direction in (CLASS_TO_GEN, GEN_TO_CLASS))
_LARGE: dict[str, Any] = {"only_at": ("paper",), "because": "needs the published checkpoints"}
_between = partial(partial, measures.between_checkpoints)
CLAIMS = (
    _claim("A1", measures.largest_gain),
    _claim("A2", measures.distance_from_majority, _NEAR_MAJORITY),
    _claim("A3", _TO_GEN, _LOST),
    _claim("A4", _TO_CLASS, _KEPT),
    _claim("A3b", _TO_GEN, _LOST),
    _claim("A4b", _TO_CLASS, _KEPT),
    _claim("A5", measures.default_against_io),
    _claim("A6", measures.fall_of_sensitivity),
    _claim("A7", measures.spread_of_methods),
    _claim("A8", partial(measures.out_of_domain, "nli")),
    _claim("A9", partial(measures.out_of_domain, "paraphrase"), BELOW_ZERO),
    _claim("A10", measures.effect_of_missing_golds, BELOW_ZERO),
    _claim("A11", measures.fall_of_loss, BELOW_ZERO),
    _claim("A12", _between("tuned", "in_domain")),
    _claim("A13", _between("difference", "in_domain")),
    _claim("A14", measures.gap_of_groups, **_LARGE),
    _claim("A15", measures.untuned_between, **_LARGE),
    _claim("A16", partial(measures.untuned_between, start="342000"), _LEVEL, **_LARGE),
    _claim("A17", _between("difference", "learned_in_finetune", start="424000"), _LEVEL, **_LARGE),
    _claim("A18", measures.without_demonstrations),
    _claim("A18b", measures.without_demonstrations),
)
