"""Claims of asr-adapters: what is measured, over which units, and the rule, written before the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reprlab.results.claims import Claim, Find
from reprlab.results.contrasts import sum_over_seeds
from reprlab.results.frame import FIRST, LAST, Choice, Frame, Option
from reprlab.results.twins import Twin
from reprlab.statistics import ABOVE_ZERO, BELOW_ZERO, FEWEST_SEEDS, Estimate, Rule, mean_over_crossed

_LARGE: dict[str, Any] = {"only_at": ("paper",), "because": "specification, section 6: not visible with minutes"}
ABOUT: dict[str, Choice] = {"metric": "cer", "split": "test", "subset": ""}


def less(one: Mapping[str, Choice], two: Mapping[str, Choice]) -> Find:
    """Character error rate of one selection less that of another, points, mean of what both have of languages, sizes
    and seeds: over languages where there are four, else over seeds, or over utterances within few of them."""

    def find(frame: Frame) -> Estimate | str:
        sides = [frame.select(**ABOUT, **where) for where in (one, two)]
        units = [name for name in ("language", "size", "seed") if name not in {**one, **two}]
        first, second = (side.groupby(units, dropna=False)["value"].mean() for side in sides)
        gaps = (first - second).dropna().reset_index()
        if gaps.empty:
            return frame.reason(**one)
        # Two languages judge as little as two seeds.
        if gaps["language"].nunique() >= FEWEST_SEEDS:
            return mean_over_crossed(gaps["value"], {"language": gaps["language"], "seed": gaps["seed"]})
        shared = [side[side["language"].isin(gaps["language"])] for side in sides]
        if "size" in gaps:
            shared = [side[side["size"].isin(gaps["size"])] for side in shared]
        return sum_over_seeds(shared, (1, -1), "utterance", apart="language") or frame.reason(**one)

    return find


def transferred(frame: Frame) -> Estimate | str:
    """The same of adapters from another language less fresh ones, over both languages; of one pair, over utterances."""
    rows = frame.select(**ABOUT)
    fresh, moved = rows[rows["start"] == "none"], rows[rows["start"] != "none"]
    if len(moved) == 1:
        sides = moved, fresh[fresh["language"] == moved["language"].iloc[0]]
        return sum_over_seeds(sides, (1, -1), "utterance") or frame.reason()
    gaps = moved["value"] - moved["language"].map(fresh.groupby("language")["value"].mean())
    return mean_over_crossed(gaps, {"language": moved["language"], "language of the start": moved["start"]})


_MAIN: dict[str, Choice] = {"part": "main"}
_CELL: dict[str, Choice] = {"part": "ablation"}
_CONTROL: dict[str, Choice] = {"part": "control", "method": "conv"}
RIVAL: dict[str, Choice] = {"part": "rival"}
RIVALS = {"A11": "compacter", "A12": "compacter_tenth", "A13": "parallel", "A14": "parallel_tenth"}
"""Methods that are held against ConvAdapt, by the claim that they beat it."""
_CER = "character error rate on test, points"


def _rival(id: str, words: str) -> Claim:
    """A rival beats ConvAdapt, in the same cell, with the same updates and as many tries of its rate."""
    method = RIVALS[id]
    return Claim(id, f"{words} (ours, a neighbour of the paper)", f"{_CER}: {method} less conv", BELOW_ZERO,
                 less({"method": method}, {"method": "conv"}), RIVAL)  # fmt: skip


CLAIMS = (
    Claim("A1", "With little speech bottleneck adapters are worse than tuning all (Table 2, of three languages, printed"
          " without intervals)",
          f"{_CER}: ff less ft, least speech", ABOVE_ZERO,
          less({"method": "ff", "size": FIRST}, {"method": "ft", "size": FIRST}), _MAIN),
    Claim("A2", "ConvAdapt repairs that: it is better than bottleneck adapters with little speech (Table 2, printed"
          " without intervals)",
          f"{_CER}: conv less ff, least speech", BELOW_ZERO,
          less({"method": "conv", "size": FIRST}, {"method": "ff", "size": FIRST}), _MAIN),
    Claim("A3", "With more speech bottleneck adapters match full tuning (Table 2, from 10 hours on)",
          f"{_CER}: ff less ft, most speech", Rule(high=2.0),
          less({"method": "ff", "size": LAST}, {"method": "ft", "size": LAST}), _MAIN, **_LARGE),
    Claim("A4", "More speech helps (Table 2, printed without intervals)",
          f"{_CER}: conv with most speech less conv with least", BELOW_ZERO,
          less({"method": "conv", "size": LAST}, {"method": "conv", "size": FIRST}), _MAIN),
    Claim("A5", "It is the norm behind the sum that holds bottleneck adapters back (ours; trap 4 of the specification)",
          f"{_CER}: ff without the norm less ff, both at conv's rate", BELOW_ZERO,
          less({"method": "ff_bare_fast"}, {"method": "ff_fast"}), _CELL),
    Claim("A6", "A higher rate alone helps bottleneck adapters (ours)", f"{_CER}: ff at conv's rate less ff",
          BELOW_ZERO, less({"method": "ff_fast"}, {"method": "ff"}), _CELL),
    Claim("A7", "Width helps once norm and rate are those of ConvAdapt (ours)",
          f"{_CER}: ff without the norm, wide, less narrow, both at conv's rate", BELOW_ZERO,
          less({"method": "ff_bare_wide"}, {"method": "ff_bare_fast"}), _CELL),
    Claim("A8", "Adapters that begin as those of another language are better (Table 5; printed"
          " both ways: 2.4 points worse for one language of three)",
          f"{_CER}: from another language less from nothing", BELOW_ZERO, transferred, {"part": "transfer"}),
    Claim("A9", "Six layers in an adapter are better than two (Figure 2)", f"{_CER}: six layers less two", BELOW_ZERO,
          less({"depth": 6}, {"depth": 2}), {"part": "depth"}, **_LARGE),
    Claim("A10", "What the encoder learnt before matters: a drawn one recognises less (ours)",
          f"{_CER}: conv in the trained encoder less in a drawn one", BELOW_ZERO,
          less({"model": Option("model")}, {"model": Option("floor")}), _CONTROL),
    _rival("A11", "Compacter with as many parameters is better than ConvAdapt"),
    _rival("A12", "Compacter with a tenth of the parameters is better than ConvAdapt"),
    _rival("A13", "Parallel adapters with as many parameters are better than ConvAdapt"),
    _rival("A14", "Parallel adapters with a tenth of the parameters are better than ConvAdapt"),
)  # fmt: skip
TWINS = (
    Twin(("A10",), "the encoder with drawn weights", learned={**_CONTROL, "model": Option("model")},
         rows={"model": Option("floor")}),
    Twin(("A1", "A2", "A3", "A4", "A5", "A6", "A7", "A9", "A11", "A12", "A13", "A14"),
         why_not="two trainings of one frozen encoder: the head without adapters would be the same on both sides"),
    Twin(("A8",), why_not="fresh adapters, which have learnt no other language, are the side that it is compared with"),
)  # fmt: skip
