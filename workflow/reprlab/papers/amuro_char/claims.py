"""What the claims of amuro-char are decided by, and the rules, written before any number was seen.

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
    judged = model.perf[model.perf["learned"] != ""]["learned"]
    lost = int((judged == "not learned").sum())
    return f"scale {frame.scale}, {model.family}; not learned: {lost} of {len(judged)} fine-tuned scores"


def _claim(id: str, statistic: str, find: Any, rule: Rule = ABOVE_ZERO, **more: Any) -> Claim:
    place = 1 if id.endswith("b") else 0
    return Claim(id, statistic, rule, partial(_find, place, find), note=partial(_about, place), **more)


def _transfers(letter: str, which: str) -> tuple[Claim, Claim]:
    about = f"{which}, mean over pairs and checkpoints"
    return (
        _claim(f"A3{letter}", f"MRC class->gen{about}", partial(measures.transfer, CLASS_TO_GEN), _LOST),
        _claim(f"A4{letter}", f"MRC gen->class{about}", partial(measures.transfer, GEN_TO_CLASS), _KEPT),
    )


_MEAN, _SETS = "points, mean over sets and checkpoints", "points, mean over sets"
_CHANGED, _OWN, _FEW = "fine-tuned minus base", "last checkpoint minus first", "score of base on the sets of Figure 6a"
_SECOND = (("", ""), ("b", " of the second model"))
_LARGE: dict[str, Any] = {"only_at": ("paper",), "because": "needs the published checkpoints"}
_between = partial(partial, measures.between_checkpoints)
CLAIMS = (
    _claim(
        "A1",
        f"accuracy, {_CHANGED}, points, last checkpoint, the classification set that gains most",
        measures.largest_gain,
    ),
    _claim(
        "A2",
        f"accuracy of base minus that of the most frequent class, {_MEAN}",
        measures.distance_from_majority,
        _NEAR_MAJORITY,
    ),
    *(claim for second in _SECOND for claim in _transfers(*second)),
    _claim(
        "A5",
        "score of default minus that of io, points, fine-tuned, mean over sets and checkpoints",
        measures.default_against_io,
    ),
    _claim(
        "A6",
        f"|default - instruct| of fine-tuned models, first checkpoint minus last, {_SETS}",
        measures.fall_of_sensitivity,
    ),
    _claim(
        "A7",
        "range over three methods, base minus fine-tuned, points, last checkpoint, mean over sets",
        measures.spread_of_methods,
    ),
    _claim("A8", f"accuracy, {_CHANGED}, {_MEAN}", partial(measures.out_of_domain, "nli")),
    _claim(
        "A9",
        f"accuracy on labelled data, {_CHANGED}, {_MEAN}",
        partial(measures.out_of_domain, "paraphrase"),
        BELOW_ZERO,
    ),
    _claim(
        "A10",
        f"change with every gold 'no' minus change with the labels, {_MEAN}",
        measures.effect_of_missing_golds,
        BELOW_ZERO,
    ),
    _claim(
        "A11", "held-out loss of the last checkpoint minus that of the first, nats", measures.fall_of_loss, BELOW_ZERO
    ),
    _claim("A12", f"fine-tuned score on the own task, {_OWN}, {_SETS}", _between("tuned", "in_domain")),
    _claim(
        "A13",
        f"gain of fine-tuning at the last checkpoint minus that at the first, {_SETS}",
        _between("difference", "in_domain"),
    ),
    _claim(
        "A14",
        "gain of sets learned in fine-tuning minus that of sets learned in pre-training, points, mean over checkpoints",
        measures.gap_of_groups,
        **_LARGE,
    ),
    _claim("A15", f"{_FEW}, {_OWN}, {_SETS}", measures.untuned_between, **_LARGE),
    _claim(
        "A16",
        f"{_FEW}, last checkpoint minus 342000, {_SETS}",
        partial(measures.untuned_between, start="342000"),
        _LEVEL,
        **_LARGE,
    ),
    _claim(
        "A17",
        f"gain on the sets learned in fine-tuning, last checkpoint minus 424000, {_SETS}",
        _between("difference", "learned_in_finetune", start="424000"),
        _LEVEL,
        **_LARGE,
    ),
    *(
        _claim(
            f"A18{letter}",
            f"accuracy{which} without shots minus the most frequent class, points, the set with the largest lead",
            measures.without_demonstrations,
        )
        for letter, which in _SECOND
    ),
)
