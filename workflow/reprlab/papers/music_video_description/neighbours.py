"""Neighbours of adaptor and LoRA: a linear prefix of the frozen model, beside both and beside the adaptor alone."""

from __future__ import annotations

from reprlab.papers.music_video_description.claims import RIVALS
from reprlab.results.neighbours import Neighbour, Side, mean_value

_NAMES = {
    "main": "adaptor and LoRA",
    "adaptor": "the adaptor alone",
    "prefix": "a linear prefix (Merullo et al. 2023)",
}


def _side(section: str) -> Side:
    return Side(
        _NAMES[section], {"part": "scores", "section": section, "inputs": "1234", "metric": "bleu4"}, mean_value
    )


NEIGHBOURS = [
    Neighbour(
        f"{rival}_beside_{beside}",
        measure="BLEU-4 of descriptions from all inputs, percent",
        better="higher",
        method=_side(beside),
        rival=_side(rival),
        claim=claim,
        stages=("train_describer", "describe_tracks", "train_prefix", "describe_by_prefix"),
    )
    for claim, (rival, beside) in RIVALS.items()
]
