"""The claims of DEPTH, and the rules that decide them, written before any number was seen.

L1 to L10 are visible in short runs and are judged at every scale. D1 to D10 are about downstream scores, emergence and
continued pre-training, which runs of a few hundred steps cannot show (section 6 of the specification): below the
`small` scale their numbers are reported and not judged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reprlab.papers.depth.evidence import (
    Find,
    against_t5,
    continued_accuracy,
    downstream,
    emergence,
    fall,
    heavy,
    level,
    order_gap,
    over_chance,
    packing,
    packing_note,
    parts_gap,
    tracking,
)
from reprlab.papers.depth.names import DISCOEVAL, DISCOURSE_COHERENCE, GLUE, SENTENCE_POSITION
from reprlab.results.claims import Claim
from reprlab.results.frame import Frame
from reprlab.statistics import ABOVE_ZERO, BELOW_ZERO, Rule

_NATS, _POINTS = 0.05, 5.0
"""Nats, or percent points of an accuracy, that count as no difference."""
_SMALL: dict[str, Any] = {
    "only_at": ("small", "paper"),
    "because": "runs of a few hundred steps of a small model show no such effect; the number is reported, not judged",
}


def _seeds(experiment: str) -> Callable[[Frame], str]:
    """How far a verdict on the runs of an experiment reaches."""

    def note(frame: Frame) -> str:
        count = frame.select(part="training", experiment=experiment)["seed"].nunique()
        return f"scale {frame.scale}; {f'{count} seeds' if count > 1 else 'one seed: nothing is said of other seeds'}"

    return note


def _claim(id: str, text: str, rule: Rule, statistic: str, find: Find, **more: Any) -> Claim:
    return Claim(id, text, statistic, rule, find, **{"note": _seeds("main"), **more})


_LAST = "at the last checkpoint"
_FALL = f"loss {_LAST} minus loss at the first, nats"
_WEIGHT = "Weighting the sentence loss 5 times"
_HEAVY = f"of 5x minus baseline {_LAST}"
_COMPARED = (
    ("D1", "From scratch, DEPTH beats T5 on GLUE (section 4.2)", "glue", "fs", GLUE, ABOVE_ZERO),
    ("D2", "From scratch, DEPTH beats T5 on DC (section 4.3)", "discoeval", "fs", DISCOURSE_COHERENCE, ABOVE_ZERO),
    ("D3", "From scratch, DEPTH beats T5 on SP (section 4.3)", "discoeval", "fs", SENTENCE_POSITION, ABOVE_ZERO),
    ("D4", "From scratch, DEPTH beats T5 on NI (section 4.4)", "ni", "fs", ("rougeL",), ABOVE_ZERO),
    ("D5", "Continued, DEPTH and T5 are within one point on GLUE (section 4.2)", "glue", "cpt", GLUE, Rule(-1.0, 1.0)),
    ("D6", "Continued, DEPTH beats T5 on DiscoEval (appendix G)", "discoeval", "cpt", DISCOEVAL, ABOVE_ZERO),
    ("D7", "Continued, DEPTH is behind T5 on NI (section 4.4)", "ni", "cpt", ("rougeL",), BELOW_ZERO),
)
_SIDE: dict[str, Any] = {"note": _seeds("sentence_weight")}
CLAIMS = (
    _claim("L1a", "The validation loss of T5 falls from scratch (figure 2)", BELOW_ZERO, _FALL, fall("t5")),
    _claim("L1b", "The validation loss of DEPTH falls from scratch (figure 2)", BELOW_ZERO, _FALL, fall("depth")),
    _claim(
        "L2",
        "DEPTH learns to close sentences: its EOSEN accuracy is high",
        Rule(low=90.0),
        f"EOSEN accuracy {_LAST}, percent",
        level("eosen_accuracy"),
    ),
    _claim(
        "L3",
        "The sentence loss is lower than the reconstruction loss (appendix B, figure 8)",
        BELOW_ZERO,
        f"sentence loss minus reconstruction loss {_LAST}, nats",
        parts_gap("fs"),
    ),
    _claim(
        "L4",
        "The sentence loss is what chance order gives: near 0.25 ln(m!)/m (appendix B prints 0.3 to 0.4)",
        Rule(0.75, 1.25),
        f"sentence loss {_LAST} over the chance value",
        over_chance,
    ),
    _claim(
        "L5",
        "Un-shuffling is harder than copying: SENT accuracy in order is above that on shuffled batches",
        ABOVE_ZERO,
        f"SENT accuracy in order minus shuffled {_LAST}, points",
        order_gap,
    ),
    _claim(
        "L6",
        "The total loss tracks the reconstruction loss (appendix B, figure 8)",
        Rule(low=0.9),
        "correlation of total and reconstruction loss over the checkpoints, which follow each other",
        tracking,
    ),
    _claim(
        "L7",
        "SENT accuracy on shuffled batches stays at or below 5% (section 4.3)",
        Rule(high=5.0),
        f"SENT accuracy on shuffled batches {_LAST}, percent",
        level("sent_accuracy", shuffled="true"),
    ),
    _claim(
        "L8a",
        "DEPTH reaches a lower total loss than T5 from scratch (section 4.1, figure 2)",
        BELOW_ZERO,
        f"total loss of DEPTH minus loss of T5 {_LAST}, nats",
        against_t5("loss"),
    ),
    _claim(
        "L8b",
        "DEPTH reaches a lower reconstruction loss than T5 from scratch (section 4.1, figure 2)",
        BELOW_ZERO,
        f"reconstruction loss of DEPTH minus loss of T5 {_LAST}, nats",
        against_t5("reconstruction_loss"),
    ),
    _claim(
        "L9a",
        f"{_WEIGHT} lowers the sentence loss or leaves it",
        Rule(high=_NATS),
        f"sentence loss {_HEAVY}, nats",
        heavy("sentence_loss"),
        **_SIDE,
    ),
    _claim(
        "L9b",
        f"{_WEIGHT} does not lower the reconstruction loss",
        Rule(low=-_NATS),
        f"reconstruction loss {_HEAVY}, nats",
        heavy("reconstruction_loss"),
        **_SIDE,
    ),
    _claim(
        "L9c",
        f"{_WEIGHT} harms the total loss (appendix B.1)",
        ABOVE_ZERO,
        f"loss {_HEAVY}, nats",
        heavy("loss"),
        **_SIDE,
    ),
    _claim(
        "L9d",
        "Weighting the sentence loss has minimal impact on SENT accuracy (appendix B.1)",
        Rule(-_POINTS, _POINTS),
        f"SENT accuracy {_HEAVY}, points",
        heavy("sent_accuracy"),
        **_SIDE,
    ),
    _claim(
        "L10",
        "Without packing T5 does not train at a high learning rate, with packing it does (appendix A.2, figure 7)",
        ABOVE_ZERO,
        "training loss without packing minus with, high learning rate, last tenth, nats",
        packing,
        note=packing_note,
    ),
    *(
        _claim(
            id,
            text,
            rule,
            f"mean of DEPTH minus T5 over {', '.join(columns)} {_LAST}, points",
            downstream(experiment, init, columns),
            **_SMALL,
        )
        for id, text, experiment, init, columns, rule in _COMPARED
    ),
    _claim(
        "D8",
        "From scratch, DEPTH gains more than 10 points on DC-Wiki between 32k and 64k steps (section 4.3)",
        Rule(low=10.0),
        "dc_wiki of DEPTH at step 64,000 minus step 32,000, points",
        emergence,
        **_SMALL,
    ),
    _claim(
        "D9",
        "Continued, the sentence loss is about the reconstruction loss (appendix B, figure 9)",
        Rule(-0.1, 0.1),
        f"sentence loss minus reconstruction loss of continued DEPTH {_LAST}, nats",
        parts_gap("cpt"),
        **_SMALL,
    ),
    _claim(
        "D10",
        "Continued DEPTH predicts the next sentence better than DEPTH from scratch (appendix B)",
        ABOVE_ZERO,
        f"SENT accuracy on shuffled batches {_LAST}, continued minus from scratch, points",
        continued_accuracy,
        **_SMALL,
    ),
)
