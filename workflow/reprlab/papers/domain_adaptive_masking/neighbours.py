"""Neighbours of masking concepts on the domain's text alone: replay of general text."""

from __future__ import annotations

from reprlab.papers.domain_adaptive_masking.claims import KEPT, REPLAY, RIVALS
from reprlab.results.frame import LAST, Frame
from reprlab.results.neighbours import Neighbour, Side

_MEASURES = {
    "general": "loss on held-out general text, nats a token",
    "concepts": "loss on concepts of held-out text of the domain, nats a token",
    "tokens": "loss on random tokens of held-out text of the domain, nats a token",
}


def _loss(frame: Frame) -> float:
    sums = frame.select(step=LAST).groupby("metric")["value"].sum()
    return float(sums["loss_sum"] / sums["count"])


def _side(name: str, masking: str, masks: str) -> Side:
    return Side(name, {"part": "replay", "masking": masking, "masks": masks}, _loss)


NEIGHBOURS = [
    Neighbour(
        f"replay_{masks}",
        measure=_MEASURES[masks],
        better="lower",
        method=_side("masking concepts of the domain alone", "concept", masks),
        rival=_side("replay of general text (Ibrahim et al. 2024)", REPLAY, masks),
        claim=claim,
        stages=("pretrain_lm",),
        by=("replay",),
        # Of what only replay should change, no difference is known to be too small.
        margin=KEPT if masks == "concepts" else None,
    )
    for claim, masks in RIVALS.items()
]
