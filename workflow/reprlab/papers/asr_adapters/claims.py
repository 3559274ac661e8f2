"""Claims of asr-adapters: what is measured, over which units, and the rule, written before the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reprlab.results.claims import Claim, Find
from reprlab.results.frame import FIRST, LAST, Choice, Frame, Option
from reprlab.statistics import ABOVE_ZERO, BELOW_ZERO, Estimate, Rule, difference_over_pairs

_LARGE: dict[str, Any] = {"only_at": ("paper",), "because": "specification, section 6: not visible with minutes"}
_ABOUT: dict[str, Choice] = {"metric": "cer", "split": "test", "subset": ""}


def less(one: Mapping[str, Choice], two: Mapping[str, Choice]) -> Find:
    """Character error rate of one selection less that of another, points, over pairs of language, size and seed."""

    def find(frame: Frame) -> Estimate | str:
        units = [name for name in ("language", "size", "seed") if name not in {**one, **two}]
        sides = [frame.select(**_ABOUT, **where).groupby(units, dropna=False)["value"].mean() for where in (one, two)]
        first, second = sides[0].align(sides[1], join="inner")
        return difference_over_pairs(first, second, " x ".join(units)) if len(first) else frame.reason(**one)

    return find


def transferred(frame: Frame) -> Estimate | str:
    """The same of adapters from another language less fresh ones, over pairs of languages."""
    rows = frame.select(**_ABOUT)
    fresh = rows[rows["start"] == "none"].groupby("language")["value"].mean()
    moved = rows[rows["start"] != "none"]
    return difference_over_pairs(moved["value"], moved["language"].map(fresh), "pair of languages")


_MAIN: dict[str, Choice] = {"part": "main"}
_CELL: dict[str, Choice] = {"part": "ablation"}
_CER = "character error rate on test, points"
CLAIMS = (
    Claim("A1", "With little speech bottleneck adapters are worse than tuning all (Table 2)",
          f"{_CER}: ff less ft, least speech", ABOVE_ZERO,
          less({"method": "ff", "size": FIRST}, {"method": "ft", "size": FIRST}), _MAIN),
    Claim("A2", "ConvAdapt repairs that: it is better than bottleneck adapters with little speech (Table 2)",
          f"{_CER}: conv less ff, least speech", BELOW_ZERO,
          less({"method": "conv", "size": FIRST}, {"method": "ff", "size": FIRST}), _MAIN),
    Claim("A3", "With more speech bottleneck adapters match full tuning (Table 2, from 10 hours on)",
          f"{_CER}: ff less ft, most speech", Rule(high=2.0),
          less({"method": "ff", "size": LAST}, {"method": "ft", "size": LAST}), _MAIN, **_LARGE),
    Claim("A4", "More speech helps (Table 2)", f"{_CER}: conv with most speech less conv with least", BELOW_ZERO,
          less({"method": "conv", "size": LAST}, {"method": "conv", "size": FIRST}), _MAIN),
    Claim("A5", "It is the norm behind the sum that holds bottleneck adapters back (ours; trap 4 of the specification)",
          f"{_CER}: ff without the norm less ff, both at conv's rate", BELOW_ZERO,
          less({"method": "ff_bare_fast"}, {"method": "ff_fast"}), _CELL),
    Claim("A6", "A higher rate alone helps bottleneck adapters (ours)", f"{_CER}: ff at conv's rate less ff",
          BELOW_ZERO, less({"method": "ff_fast"}, {"method": "ff"}), _CELL),
    Claim("A7", "Width helps once norm and rate are those of ConvAdapt (ours)",
          f"{_CER}: ff without the norm, wide, less narrow, both at conv's rate", BELOW_ZERO,
          less({"method": "ff_bare_wide"}, {"method": "ff_bare_fast"}), _CELL),
    Claim("A8", "Adapters that begin as those of another language are better (Table 5)",
          f"{_CER}: from another language less from nothing", BELOW_ZERO, transferred, {"part": "transfer"}),
    Claim("A9", "Six layers in an adapter are better than two (Figure 2)", f"{_CER}: six layers less two", BELOW_ZERO,
          less({"depth": 6}, {"depth": 2}), {"part": "depth"}, **_LARGE),
    Claim("A10", "What the encoder learnt before matters: a drawn one recognises less (ours)",
          f"{_CER}: conv in the trained encoder less in a drawn one", BELOW_ZERO,
          less({"model": Option("model")}, {"model": Option("floor")}), {"part": "control", "method": "conv"}),
)  # fmt: skip
