"""Claims of soft prompts as encoders: what is measured, over which units, and the rule, written before the numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reprlab.papers.prompt_tuning_encoders.tables_prompts import KEYS
from reprlab.results.claims import Claim, Find
from reprlab.results.frame import Choice, Frame, Rows
from reprlab.statistics import (
    ABOVE_ZERO,
    BELOW_ZERO,
    Estimate,
    Rule,
    every_unit,
    mean_over_crossed,
    mean_over_units,
)

_STEPS = ["backbone", "seed", "step"]
_SCORES: dict[str, Choice] = {"metric": ("ndcg_at_10", "spearman", "v_measure", "accuracy")}
_LARGE: dict[str, Any] = {
    "only_at": ("paper",),
    "because": "specification, section 6: it needs a strong decoder, and is not visible with small ones",
}


def _means(rows: Rows) -> Rows:
    """Scores by decoder, encoder, size and data set; an encoder's seeds are averaged."""
    return rows.groupby([*KEYS, "dataset"], sort=False)["value"].mean().reset_index()


def _crossed(gaps: Rows, scale: str) -> Estimate | str:
    gaps = gaps.dropna().reset_index()
    if gaps.empty:
        return f"not run at scale {scale}"
    return mean_over_crossed(gaps.iloc[:, -1], {"decoder": gaps["backbone"], "data set": gaps["dataset"]})


def between(first: Callable[[Rows], Any], second: Callable[[Rows], Any]) -> Find:
    """Points by which some encoders of a decoder are better than others, each side's mean on the same data set.

    Encoders that are made of another decoder than the backbone's, which their note says, are left out.
    """

    def find(frame: Frame) -> Estimate | str:
        rows = _means(frame.select(**_SCORES, weights="pretrained", note=""))
        one, two = (rows[side(rows)].groupby(["backbone", "dataset"])["value"].mean() for side in (first, second))
        return _crossed(one - two, frame.scale)

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


def _as_many(encoder: str, other: str) -> Callable[[Rows], Any]:
    """An encoder with the most vectors with which its decoder has the other one as well."""

    def chosen(rows: Rows) -> Any:
        sizes = rows["size"].astype(float)
        both = rows.assign(size=sizes)[rows["encoder"].isin((encoder, other))]
        both = both.groupby(["backbone", "size"])["encoder"].nunique().eq(2)
        most = both[both].reset_index().groupby("backbone")["size"].max()
        return (rows["encoder"] == encoder) & (sizes == rows["backbone"].map(most).astype(float))

    return chosen


def as_large(encoder: str, other: str) -> Find:
    """Points by which an encoder is better than another of the decoder, with the most vectors that both have."""
    return between(_as_many(encoder, other), _as_many(other, encoder))


def more_vectors(frame: Frame) -> Estimate | str:
    """Training loss with the most vectors less that with one, on the same batches, over the second half of a course."""
    rows = frame.select(metric="loss", encoder="spt_uni_eosp", weights="pretrained")
    rows = rows[rows["step"] > rows.groupby("backbone")["step"].transform("max") / 2]
    many = rows[largest("spt_uni_eosp")(rows) & (rows["size"] > 1)].groupby(_STEPS)["value"].mean()
    gaps = (many - rows[rows["size"] == 1].groupby(_STEPS)["value"].mean()).dropna().reset_index()
    if gaps.empty:
        return f"not run at scale {frame.scale}"
    gaps = gaps.groupby(["backbone", "seed"])["value"].mean().reset_index()
    return mean_over_units(gaps["value"], "run", groups=gaps["backbone"] + gaps["seed"].astype(str))


def falls(frame: Frame) -> Estimate | str:
    """Training loss at the end of a course of k = 1 less that at its beginning."""
    rows = frame.select(metric="loss", encoder="spt_uni_eosp", size=1, weights="pretrained").sort_values("step")
    ends = rows.groupby(["backbone", "seed"])["value"].agg(["first", "last"]).reset_index()
    if ends.empty:
        return f"not run at scale {frame.scale}"
    return mean_over_units(ends["last"] - ends["first"], "run", groups=ends["backbone"] + ends["seed"].astype(str))


def pretrained(frame: Frame) -> Estimate | str:
    """What a soft prompt adds to a pre-trained decoder's raw state less what it adds to random weights' own, points.

    Levels would say which decoder is better, whatever the prompt does.
    """
    raw = frame.select(**_SCORES, encoder="none").groupby(["model", "weights", "dataset"])["value"].mean()
    rows = frame.select(**_SCORES, encoder="spt_uni_eosp", size=1).join(
        raw.rename("raw"), on=["model", "weights", "dataset"]
    )
    gains = rows.assign(gain=rows["value"] - rows["raw"])
    wide = gains.pivot_table(index=["model", "dataset", "seed"], columns="weights", values="gain")
    if set(wide.columns) != {"pretrained", "random"}:
        return f"not run at scale {frame.scale}"
    gaps = (wide["pretrained"] - wide["random"]).dropna().reset_index(name="gap")
    return mean_over_crossed(gaps["gap"], {"data set": gaps["dataset"], "seed": gaps["seed"]})


def shares(frame: Frame) -> Estimate | str:
    """Percent of the parameters that each soft prompt trains."""
    rows = frame.select(metric="share", encoder="spt_uni_eosp")
    return every_unit(rows["value"], "encoder") if len(rows) else f"not run at scale {frame.scale}"


def fewer(frame: Frame) -> Estimate | str:
    """Numbers of the largest soft prompt over those of the smallest adapter, of one decoder."""
    rows = frame.select(metric="trained")
    soft = rows[rows["encoder"] == "spt_uni_eosp"].groupby("backbone")["value"].max()
    adapters = rows[rows["encoder"] == "lora_uni"].groupby("backbone")["value"].min()
    ratios = (soft / adapters).dropna()
    return every_unit(ratios, "decoder") if len(ratios) else f"not run at scale {frame.scale}"


_POINTS = "difference of scores, points"
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
    Claim("P5", "Soft prompts train less than 0.001 % of the parameters (abstract)", "percent of the parameters",
          Rule(high=0.001), shares, **_LARGE),
    Claim("P6", "Soft prompts train fewer numbers than adapters (Table 1)", "ratio of trained numbers", Rule(high=1.0),
          fewer),
    Claim("P7", "Soft prompts are as good as LoRA (section 5.1; within a point)", _POINTS, Rule(low=-1.0),
          between(largest("spt_uni_eosp"), _is("lora_uni", 16)), **_LARGE),
    Claim("P8",
          "Bidirectional attention gives nothing over causal attention, with as many vectors (Table 2; at most a "
          "point)", _POINTS, Rule(high=1.0), as_large("spt_bi_eosp", "spt_uni_eosp"), **_LARGE),
    Claim("P9", "Nor does it after MNTP, of the same decoder (Table 2; at most a point)", _POINTS, Rule(high=1.0),
          as_large("spt_mntp_eosp", "spt_uni_eosp"), **_LARGE),
    Claim("P10", "SPT v2 is better than LoRA (Table 3)", _POINTS, ABOVE_ZERO,
          between(largest("spt_v2"), _is("lora_uni", 16)), **_LARGE),
)  # fmt: skip
