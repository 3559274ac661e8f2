"""What DEPTH's claims are decided by, and the rules, written before any number was seen.

L1 to L10 are visible in short runs and are judged at every scale. D1 to D10 are about downstream scores, emergence and
continued pre-training, which runs of a few hundred steps cannot show (section 6 of the specification): below the
`small` scale their numbers are reported and not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from reprlab.papers.depth.evidence import difference, main, over_chance, packing, packing_note, tracking
from reprlab.papers.depth.measures import ACCURACIES, RATIOS
from reprlab.papers.depth.names import DISCOEVAL, DISCOURSE_COHERENCE, GLUE, SENTENCE_POSITION
from reprlab.results.claims import Claim, Find
from reprlab.results.contrasts import Ratio
from reprlab.results.frame import FIRST, LAST, Frame
from reprlab.statistics import ABOVE_ZERO, BELOW_ZERO, Rule

_NATS, _POINTS = 0.05, 5.0
"""Nats, or percent points of an accuracy, that count as no difference."""


def _seeds(experiment: str) -> Callable[[Frame], str]:
    """How far a verdict on the runs of an experiment reaches."""

    def note(frame: Frame) -> str:
        count = frame.select(part="training", experiment=experiment)["seed"].nunique()
        return f"scale {frame.scale}; {f'{count} seeds' if count > 1 else 'one seed: nothing is said of other seeds'}"

    return note


def _claim(id: str, rule: Rule, statistic: str, find: Find, **more: Any) -> Claim:
    return Claim(id, statistic, rule, find, **{"note": _seeds("main"), **more})


def _ratio(name: str, first: Mapping[str, Any], second: Any = None, less: str = "", *, paired: bool = True) -> Ratio:
    """A loss in nats a label, or an accuracy in percent."""
    times = 100 if name in ACCURACIES else 1
    return Ratio(RATIOS[name], first, second, RATIOS[less or name], paired=paired, times=times)


_LAST = "at the last checkpoint"
_FALL, _SENT = f"loss {_LAST} minus loss at the first, nats", f"SENT accuracy on shuffled batches {_LAST}"
_PARTS, _BEHIND = ("sentence_loss", "reconstruction_loss"), f"minus loss of T5 {_LAST}, nats"
_T5, _DEPTH, _CONTINUED = main("t5"), main("depth"), main("depth", "cpt")
_SHUFFLED, _IN_ORDER = {"shuffled": "true"}, {"shuffled": "false"}
_TRACKING = "correlation of total and reconstruction loss over the checkpoints, which follow each other"
_PACKING = "training loss without packing minus with, high learning rate, last tenth, nats"
_PLAIN, _HEAVY = ({"experiment": "sentence_weight", "variant": variant, "step": LAST} for variant in ("baseline", "5x"))
_SMALL: dict[str, Any] = {
    "only_at": ("small", "paper"),
    "because": "runs of a few hundred steps of a small model show no such effect; the number is reported, not judged",
}
_DOWNSTREAM = (
    ("D1", "glue", "fs", GLUE, ABOVE_ZERO),
    ("D2", "discoeval", "fs", DISCOURSE_COHERENCE, ABOVE_ZERO),
    ("D3", "discoeval", "fs", SENTENCE_POSITION, ABOVE_ZERO),
    ("D4", "ni", "fs", ("rougeL",), ABOVE_ZERO),
    ("D5", "glue", "cpt", GLUE, Rule(-1.0, 1.0)),
    ("D6", "discoeval", "cpt", DISCOEVAL, ABOVE_ZERO),
    ("D7", "ni", "cpt", ("rougeL",), BELOW_ZERO),
)
_WEIGHTED = (
    ("L9a", "sentence_loss", "sentence loss", "nats", Rule(high=_NATS)),
    ("L9b", "reconstruction_loss", "reconstruction loss", "nats", Rule(low=-_NATS)),
    ("L9c", "loss", "loss", "nats", ABOVE_ZERO),
    ("L9d", "sent_accuracy", "SENT accuracy", "points", Rule(-_POINTS, _POINTS)),
)
_EMERGED = {"column": "dc_wiki", "init": "fs", "model": "depth"}
CLAIMS = (
    _claim("L1a", BELOW_ZERO, _FALL, _ratio("loss", _T5, {**_T5, "step": FIRST})),
    _claim("L1b", BELOW_ZERO, _FALL, _ratio("loss", _DEPTH, {**_DEPTH, "step": FIRST})),
    _claim("L2", Rule(low=90.0), f"EOSEN accuracy {_LAST}, percent", _ratio("eosen_accuracy", _DEPTH)),
    _claim(
        "L3",
        BELOW_ZERO,
        f"sentence loss minus reconstruction loss {_LAST}, nats",
        _ratio(_PARTS[0], _DEPTH, _DEPTH, _PARTS[1]),
    ),
    _claim("L4", Rule(0.75, 1.25), f"sentence loss {_LAST} over the chance value", over_chance),
    _claim(
        "L5",
        ABOVE_ZERO,
        f"SENT accuracy in order minus shuffled {_LAST}, points",
        _ratio("sent_accuracy", _DEPTH | _IN_ORDER, _DEPTH | _SHUFFLED),
    ),
    _claim("L6", Rule(low=0.9), _TRACKING, tracking),
    _claim("L7", Rule(high=5.0), f"{_SENT}, percent", _ratio("sent_accuracy", _DEPTH | _SHUFFLED)),
    _claim("L8a", BELOW_ZERO, f"total loss of DEPTH {_BEHIND}", _ratio("loss", _DEPTH, _T5, paired=False)),
    _claim(
        "L8b",
        BELOW_ZERO,
        f"reconstruction loss of DEPTH {_BEHIND}",
        _ratio("reconstruction_loss", _DEPTH, _T5, "loss", paired=False),
    ),
    *(
        _claim(
            id,
            rule,
            f"{words} of 5x minus baseline {_LAST}, {unit}",
            _ratio(name, _HEAVY, _PLAIN),
            note=_seeds("sentence_weight"),
        )
        for id, name, words, unit, rule in _WEIGHTED
    ),
    _claim("L10", ABOVE_ZERO, _PACKING, packing, where={"experiment": "packing_lr"}, note=packing_note),
    *(
        _claim(
            id,
            rule,
            f"mean of DEPTH minus T5 over {', '.join(columns)} {_LAST}, points",
            partial(
                difference,
                "model",
                "depth",
                "t5",
                {"experiment": experiment, "init": init, "column": columns, "step": LAST},
            ),
            **_SMALL,
        )
        for id, experiment, init, columns, rule in _DOWNSTREAM
    ),
    _claim(
        "D8",
        Rule(low=10.0),
        "dc_wiki of DEPTH at step 64,000 minus step 32,000, points",
        partial(difference, "step", 64_000, 32_000, _EMERGED),
        **_SMALL,
    ),
    _claim(
        "D9",
        Rule(-0.1, 0.1),
        f"sentence loss minus reconstruction loss of continued DEPTH {_LAST}, nats",
        _ratio(_PARTS[0], _CONTINUED, _CONTINUED, _PARTS[1]),
        **_SMALL,
    ),
    _claim(
        "D10",
        ABOVE_ZERO,
        f"{_SENT}, continued minus from scratch, points",
        _ratio("sent_accuracy", _CONTINUED | _SHUFFLED, _DEPTH | _SHUFFLED, paired=False),
        **_SMALL,
    ),
)
