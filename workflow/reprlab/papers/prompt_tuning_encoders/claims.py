"""Claims of soft prompts as encoders: what is measured, over which units, and the rule, written before the numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reprlab.papers.prompt_tuning_encoders.names import FORMS, PLAIN
from reprlab.papers.prompt_tuning_encoders.tables_prompts import KEYS, held_out_means
from reprlab.results.claims import Claim, Find
from reprlab.results.frame import Choice, Frame, Rows
from reprlab.results.twins import Twin
from reprlab.statistics import (
    ABOVE_ZERO,
    BELOW_ZERO,
    Estimate,
    Rule,
    mean_over_crossed,
    mean_over_units,
)

_STEPS = ["backbone", "seed", "step"]
SCORES: dict[str, Choice] = {"metric": ("ndcg_at_10", "spearman", "v_measure", "accuracy")}
"""The score of each data set."""
_LARGE: dict[str, Any] = {
    "only_at": ("paper",),
    "because": "specification, section 6: it needs a strong decoder, and is not visible with small ones",
}


def _means(rows: Rows) -> Rows:
    """Scores by decoder, encoder, size and data set; an encoder's seeds are averaged."""
    return rows.groupby([*KEYS, "dataset"], sort=False)["value"].mean().reset_index()


def _over_sets(gaps: Rows, scale: str) -> Estimate | str:
    gaps = gaps.dropna().reset_index()
    if gaps.empty:
        return f"not run at scale {scale}"
    # Two or three decoders judge as little as so many seeds: the verdict is about these.
    found = mean_over_units(gaps.iloc[:, -1], "data set", groups=gaps["dataset"])
    return found.told(f"about {', '.join(dict.fromkeys(gaps['backbone']))}")


def between(first: Callable[[Rows], Any], second: Callable[[Rows], Any]) -> Find:
    """Points by which some encoders of a decoder are better than others, each side's mean on the same data set.

    Encoders that are made of another decoder than the backbone's, which their note says, are left out.
    """

    def find(frame: Frame) -> Estimate | str:
        rows, means = _means(frame.select(**SCORES, weights="pretrained", note="")), held_out_means(frame)
        best = {tuple(key[:2]): key[2] for key in means.groupby(["backbone", "encoder"]).idxmax()}
        names = [*zip(rows["backbone"], rows["encoder"], strict=True)]
        rows = rows.assign(chosen=[best.get(name) for name in names])
        one, two = (rows[side(rows)].groupby(["backbone", "dataset"])["value"].mean() for side in (first, second))
        return _over_sets(one - two, frame.scale)

    return find


def _is(encoder: str, size: int | None = None) -> Callable[[Rows], Any]:
    return lambda rows: (rows["encoder"] == encoder) & (size is None or rows["size"] == size)


def largest(encoder: str) -> Callable[[Rows], Any]:
    """An encoder with the most vectors, or the largest rank, that its decoder has."""

    def chosen(rows: Rows) -> Any:
        own = rows["encoder"] == encoder
        sizes = rows["size"].astype(float)
        return own & (sizes == sizes.where(own).groupby(rows["backbone"]).transform("max"))

    return chosen


def chosen(encoder: str) -> Callable[[Rows], Any]:
    """An encoder with as many vectors as the held-out pairs choose for it (the paper chose on the reported sets)."""
    return lambda rows: (rows["encoder"] == encoder) & (rows["size"] == rows["chosen"])


def _with_chosen(encoder: str, other: str) -> Callable[[Rows], Any]:
    """An encoder with as many vectors as are chosen for the other one of its decoder."""

    def same(rows: Rows) -> Any:
        sizes = rows[chosen(other)(rows)].groupby("backbone")["size"].first()
        return (rows["encoder"] == encoder) & (rows["size"] == rows["backbone"].map(sizes))

    return same


def as_many(encoder: str, other: str) -> Find:
    """Points by which an encoder is better than another of the decoder, with the vectors that are chosen for that."""
    return between(_with_chosen(encoder, other), chosen(other))


def more_vectors(frame: Frame) -> Estimate | str:
    """Training loss with the most vectors less that with one, on the same batches, over the second half of a course."""
    rows = frame.select(metric="loss", encoder="spt_uni_eosp", weights="pretrained")
    rows = rows[rows["step"] > rows.groupby("backbone")["step"].transform("max") / 2]
    many = rows[largest("spt_uni_eosp")(rows) & (rows["size"] > 1)].groupby(_STEPS)["value"].mean()
    gaps = (many - rows[rows["size"] == 1].groupby(_STEPS)["value"].mean()).dropna().reset_index()
    if gaps.empty:
        return f"not run at scale {frame.scale}"
    gaps = gaps.groupby(["backbone", "seed"])["value"].mean().reset_index()
    return mean_over_units(gaps["value"], "seed", groups=gaps["backbone"] + gaps["seed"].astype(str))


def falls(frame: Frame) -> Estimate | str:
    """Training loss at the end of a course of k = 1 less that at its beginning."""
    rows = frame.select(metric="loss", encoder="spt_uni_eosp", size=1, weights="pretrained").sort_values("step")
    ends = rows.groupby(["backbone", "seed"])["value"].agg(["first", "last"]).reset_index()
    if ends.empty:
        return f"not run at scale {frame.scale}"
    return mean_over_units(ends["last"] - ends["first"], "seed", groups=ends["backbone"] + ends["seed"].astype(str))


def pretrained(frame: Frame) -> Estimate | str:
    """What a soft prompt adds to a pre-trained decoder's raw state less what it adds to random weights' own, points.

    Levels would say which decoder is better, whatever the prompt does. Of several decoders on a side, the mean.
    """
    raw = frame.select(**SCORES, encoder="none").groupby(["backbone", "dataset"])["value"].mean()
    rows = frame.select(**SCORES, encoder="spt_uni_eosp", size=1).join(raw.rename("raw"), on=["backbone", "dataset"])
    gains = rows.assign(gain=rows["value"] - rows["raw"])
    wide = gains.pivot_table(index=["dataset", "seed"], columns="weights", values="gain")
    if set(wide.columns) != {"pretrained", "random"}:
        return f"not run at scale {frame.scale}"
    gaps = (wide["pretrained"] - wide["random"]).dropna().reset_index(name="gap")
    return mean_over_crossed(gaps["gap"], {"data set": gaps["dataset"], "seed": gaps["seed"]})


def beside(form: str) -> Find:
    """Points by which a form of the prompt is better than the plain one with as many vectors, on the same data set and
    with the same seed; of several decoders and numbers of vectors the mean."""

    def find(frame: Frame) -> Estimate | str:
        rows = frame.select(**SCORES, encoder=(form, PLAIN), weights="pretrained")
        wide = rows.pivot_table(index=["backbone", "size", "dataset", "seed"], columns="encoder", values="value")
        if set(wide.columns) != {form, PLAIN}:
            return frame.reason(encoder=form) or f"not run at scale {frame.scale}"
        gaps = (wide[form] - wide[PLAIN]).dropna().reset_index(name="gap")
        found = mean_over_crossed(gaps["gap"], {"data set": gaps["dataset"], "seed": gaps["seed"]})
        return found.told(f"about {', '.join(dict.fromkeys(gaps['backbone']))}")

    return find


_POINTS = "difference of scores, points"
RIVALS = {"P11": "residual", "P12": "decomposed"}
"""Neighbours of the plain prompt, by the claim on each."""
CLAIMS = (
    Claim("P1",
          "One trained vector behind the text makes a frozen decoder a better encoder than its raw last state (Table"
          " 1)", _POINTS, ABOVE_ZERO, between(_is("spt_uni_eosp", 1), _is("none"))),
    Claim("P2", "More vectors fit the training triples better than one (ours; the paper reports scores alone)",
          "difference of training loss, nats", BELOW_ZERO, more_vectors),
    Claim("P3", "One vector lowers the contrastive loss (ours)", "difference of training loss, nats", BELOW_ZERO,
          falls),
    Claim("P4", "A vector steers what pre-training put there; on random weights it does less (ours, a control)",
          "difference of gains over the raw decoder, points", ABOVE_ZERO, pretrained),
    # P5 and P6 counted what settings say (shares and numbers of trained parameters): table4 and the audit have them.
    Claim("P7", "Soft prompts are as good as LoRA (section 5.1; within a point)", _POINTS, Rule(low=-1.0),
          between(chosen("spt_uni_eosp"), _is("lora_uni", 16)), **_LARGE),
    Claim("P8",
          "Bidirectional attention gives nothing over causal attention, with as many vectors (Table 2; at most a "
          "point)", _POINTS, Rule(high=1.0), as_many("spt_bi_eosp", "spt_uni_eosp"), **_LARGE),
    Claim("P9", "Nor does it after MNTP, of the same decoder (Table 2; at most a point)", _POINTS, Rule(high=1.0),
          as_many("spt_mntp_eosp", "spt_uni_eosp"), **_LARGE),
    # That it is better, by 0.5 points, four printed means cannot tell: -0.8 to 1.8.
    Claim("P10", "SPT v2 is as good as LoRA (Table 3; within a point)", _POINTS, Rule(low=-1.0),
          between(chosen("spt_v2"), _is("lora_uni", 16)), **_LARGE),
    *(
        Claim(name, f"The {FORMS[form]} is better than the plain one with as many vectors (ours)", _POINTS, ABOVE_ZERO,
              beside(form), {"encoder": (form, PLAIN), "weights": "pretrained"})
        for name, form in RIVALS.items()
    ),
)  # fmt: skip
TWINS = (
    Twin(("P1",), "no vector: the decoder as it is", learned={"encoder": "spt_uni_eosp"},
         rows={"encoder": "none", "size": None, "seed": None}),
    Twin(("P4",), why_not="the decoder with drawn weights, and the one without a vector, are its other sides"),
    Twin(("P2", "P3"),
         why_not="losses of training from its first update on: the vector that learnt nothing is the start"),
    Twin(("P7", "P8", "P9", "P10"),
         why_not="two trainings of one decoder: the decoder as it is would stand on both sides"),
    Twin(tuple(RIVALS), why_not="two trainings with equal updates: the decoder as it is would stand on both sides"),
)  # fmt: skip
