"""Neighbours of ConvAdapt: adapters of others in the same encoder, with as many parameters and a tenth of them."""

from __future__ import annotations

from reprlab.papers.asr_adapters.claims import ABOUT, RIVAL, RIVALS
from reprlab.results.frame import Choice, Option
from reprlab.results.neighbours import Neighbour, Side, mean_value

_SOURCES = {
    "compacter": "Compacter (Karimi Mahabadi et al. 2021), as many parameters",
    "compacter_tenth": "Compacter (Karimi Mahabadi et al. 2021), a tenth of the parameters",
    "parallel": "parallel adapters (He et al. 2022), as many parameters",
    "parallel_tenth": "parallel adapters (He et al. 2022), a tenth of the parameters",
}


def _side(name: str, method: str) -> Side:
    sized: dict[str, Choice] = {"part": "counts", "model": Option("model"), "method": method, "metric": "adapters"}
    return Side(name, {**ABOUT, **RIVAL, "method": method}, mean_value, sized=sized)


NEIGHBOURS = [
    Neighbour(
        method,
        measure="character error rate on test, percent",
        better="lower",
        method=_side("ConvAdapt", "conv"),
        rival=_side(_SOURCES[method], method),
        claim=claim,
        stages=("train_recogniser",),
    )
    for claim, method in RIVALS.items()
]
