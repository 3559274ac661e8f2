"""Neighbours of the plain prompt: the same vectors, trained in another form."""

from __future__ import annotations

from reprlab.papers.prompt_tuning_encoders.claims import RIVALS, SCORES
from reprlab.papers.prompt_tuning_encoders.names import PLAIN
from reprlab.results.frame import Choice
from reprlab.results.neighbours import Neighbour, Side, mean_value

_SOURCES = {
    "residual": "the residual prompt (Razdaibiedina et al. 2023)",
    "decomposed": "the decomposed prompt (Xiao et al. 2023)",
}


def _side(name: str, encoder: str) -> Side:
    rows: dict[str, Choice] = {"encoder": encoder, "weights": "pretrained"}
    return Side(name, {**rows, **SCORES}, mean_value, {**rows, "metric": "trained"})


NEIGHBOURS = [
    Neighbour(
        form,
        measure="mean score of all data sets, percent",
        better="higher",
        method=_side("the plain prompt", PLAIN),
        rival=_side(_SOURCES[form], form),
        claim=claim,
        stages=("train_encoder", "train_prompt", "evaluate_encoder"),
        by=("size",),
    )
    for claim, form in RIVALS.items()
]
