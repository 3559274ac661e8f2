"""Neighbours of PEMA: an embedding that stays smaller."""

from __future__ import annotations

from reprlab.papers.vocab_memory.claims import RIVALS
from reprlab.papers.vocab_memory.names import FACTORISED, TRIMMED
from reprlab.results.neighbours import Neighbour, Side, mean_value

_SOURCES = {
    TRIMMED: "permanent trimming (Abdaoui et al. 2020)",
    FACTORISED: "permanent factorisation (Liu et al. 2024)",
}


def _side(name: str, pema: str) -> Side:
    sized = {"table": "table9_runtime", "pema": pema, "metric": "parameters"}
    return Side(name, {"table": "table10_glue", "pema": pema}, mean_value, sized)


NEIGHBOURS = [
    Neighbour(
        rival,
        measure="mean score of all tasks, percent",
        better="higher",
        method=_side("PEMA", "yes"),
        rival=_side(_SOURCES[rival], rival),
        claim=claim,
        stages=("finetune_model",),
        by=("entry",),
    )
    for claim, (rival, _) in RIVALS.items()
]
