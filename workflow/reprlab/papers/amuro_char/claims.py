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
from reprlab.papers.amuro_char.tables_changes import OTHER, OWN
from reprlab.results.claims import Claim
from reprlab.results.frame import FIRST, Frame
from reprlab.results.twins import Twin
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


def _claim(id: str, claim: str, statistic: str, find: Any, rule: Rule = ABOVE_ZERO, **more: Any) -> Claim:
    place = 1 if id.endswith("b") else 0
    return Claim(id, claim, statistic, rule, partial(_find, place, find), note=partial(_about, place), **more)


_TO_GEN, _TO_CLASS = (partial(measures.transfer, direction) for direction in (CLASS_TO_GEN, GEN_TO_CLASS))
_LARGE: dict[str, Any] = {"only_at": ("paper",), "because": "needs the published checkpoints"}
_between = partial(partial, measures.between_checkpoints)
# A neighbour by its claim: the way, and the task that it is held against fine-tuning on.
RIVALS = {
    "A19": ("re_adapt", OWN),
    "A20": ("lore_adapt", OWN),
    "A21": ("re_adapt", OTHER),
    "A22": ("lore_adapt", OTHER),
}
_SAID = {OWN: "is ahead of fine-tuning the last one itself", OTHER: "forgets less than fine-tuning the last one itself"}
_WAYS = {"re_adapt": "moved to the last one by RE-Adapt", "lore_adapt": "moved by LoRE-Adapt"}
_MEASURED = {OWN: "score on the own task", OTHER: "score on tasks of another kind (the pairs of 4.3)"}
CLAIMS = (
    _claim("A1", "fine-tuning helps on the task it was made for (4.2, 6)",
           "accuracy, fine-tuned minus the better of base and most frequent class, points, last checkpoint, the "
           "classification set that gains most",
           measures.largest_gain),
    _claim("A2", "before fine-tuning, classification is no better than a constant answer (4.3)",
           "accuracy of base minus that of the most frequent class, points, mean over sets and checkpoints",
           measures.distance_from_majority, _NEAR_MAJORITY),
    _claim("A3", "fine-tuning on classification destroys generation (4.3)",
           "MRC class->gen, mean over pairs and checkpoints", _TO_GEN, _LOST),
    _claim("A4", "fine-tuning on generation leaves classification as it was (4.3)",
           "MRC gen->class, mean over pairs and checkpoints", _TO_CLASS, _KEPT),
    _claim("A3b", "fine-tuning on classification destroys generation (4.3)",
           "MRC class->gen of the second model, mean over pairs and checkpoints", _TO_GEN, _LOST),
    _claim("A4b", "fine-tuning on generation leaves classification as it was (4.3)",
           "MRC gen->class of the second model, mean over pairs and checkpoints", _TO_CLASS, _KEPT),
    _claim("A5", "fine-tuned models do better in the format of their training than with plain input and output (4.1)",
           "score of default minus that of io, points, fine-tuned, mean over sets and checkpoints",
           measures.default_against_io),
    _claim("A6", "sensitivity to the format shrinks with pre-training (4.1)",
           "|default - instruct| of fine-tuned models, first checkpoint minus last, points, mean over sets",
           measures.fall_of_sensitivity),
    _claim("A7", "the prediction method matters less after fine-tuning (appendix C)",
           "range over three methods, base minus fine-tuned, points, last checkpoint, mean over sets",
           measures.spread_of_methods),
    _claim("A8", "fine-tuning on inference helps inference from elsewhere (4.2)",
           "accuracy, fine-tuned minus base, points, mean over sets and checkpoints",
           partial(measures.out_of_domain, "nli")),
    _claim("A9", "fine-tuning on paraphrase harms paraphrase from elsewhere (4.2; the original's sets had no labels)",
           "accuracy on labelled data, fine-tuned minus base, points, mean over sets and checkpoints",
           partial(measures.out_of_domain, "paraphrase"), BELOW_ZERO),
    _claim("A10", "reading missing labels as 'no' makes fine-tuning on paraphrase look worse than it is (ours)",
           "change with every gold 'no' minus change with the labels, points, mean over sets and checkpoints",
           measures.effect_of_missing_golds, BELOW_ZERO),
    _claim("A11", "later checkpoints predict held-out text better",
           "held-out loss of the last checkpoint minus that of the first, nats", measures.fall_of_loss, BELOW_ZERO),
    _claim("A12", "later checkpoints fine-tune better (6)",
           "fine-tuned score on the own task, last checkpoint minus first, points, mean over sets",
           _between("tuned", "in_domain")),
    _claim("A13", "pre-training improves the model in a way that shows only after fine-tuning (6)",
           "gain of fine-tuning at the last checkpoint minus that at the first, points, mean over sets",
           _between("difference", "in_domain")),
    _claim("A14", "fine-tuning helps most on sets that pre-training alone never solves (6, Table 6)",
           "gain of sets learned in fine-tuning minus that of sets learned in pre-training, points, mean over "
           "checkpoints", measures.gap_of_groups, **_LARGE),
    _claim("A15", "pre-training alone learns to solve some sets from four examples (5, Figure 6a)",
           "score of base on the sets of Figure 6a, last checkpoint minus first, points, mean over sets",
           measures.untuned_between, **_LARGE),
    _claim("A16", "few-shot scores level off after step 342,000 (5)",
           "score of base on the sets of Figure 6a, last checkpoint minus 342000, points, mean over sets",
           partial(measures.untuned_between, start="342000"), _LEVEL, **_LARGE),
    _claim("A17", "the benefit of fine-tuning levels off after about step 424,000 (6)",
           "gain on the sets learned in fine-tuning, last checkpoint minus 424000, points, mean over sets",
           _between("difference", "learned_in_finetune", start="424000"), _LEVEL, **_LARGE),
    _claim("A18", "fine-tuning teaches classification to a model that is asked as it was trained, without shots (ours)",
           "accuracy without shots minus the most frequent class, points, the set with the largest lead",
           measures.without_demonstrations),
    _claim("A18b",
           "fine-tuning teaches classification to a model that is asked as it was trained, without shots (ours)",
           "accuracy of the second model without shots minus the most frequent class, points, the set with the "
           "largest lead", measures.without_demonstrations),
    *(
        _claim(id, f"the fine-tuning of an earlier checkpoint, {_WAYS[way]}, {_SAID[task]} (ours)",
               f"{_MEASURED[task]}, less that of the fine-tuned last checkpoint, points, mean over pairs",
               partial(measures.beside_tuned, way, task))
        for id, (way, task) in RIVALS.items()
    ),
)  # fmt: skip
_UNTUNED: dict[str, Any] = {"train": "base", "lr": None, "seed": None, "train_rows": None}
TWINS = (
    Twin(("A1", "A3", "A3b", "A7", "A8", "A9", "A10", "A13", "A14", "A18", "A18b"), "no update: the base model",
         learned={"train": ("xsum", "socialiqa", "mnli", "paws", "tulu")}, rows=_UNTUNED),
    Twin(("A11",), "the first checkpoint", learned={"metric": ("loss_sum", "count")},
         rows={"step": FIRST, "ckpt": None}),
    Twin(("A4", "A4b"),
         why_not="a claim of no change, which a model without an update has; A1 says what the update taught"),
    Twin(("A5", "A6"), why_not="formats of one tuned model; the base model's are beside them in format.tsv"),
    Twin(("A12",), why_not="what the checkpoints give without fine-tuning is taken off in A13"),
    Twin(tuple(RIVALS), why_not="both sides are fine-tuned alike; the note has their lead over no fine-tuning"),
    Twin(("A2", "A15", "A16", "A17"), why_not="about models before fine-tuning, or a level that is not passed"),
)  # fmt: skip
