"""Statistics and rules of DEPTH's claims, written before any number was seen.

L1 to L10 are visible in short runs and are judged at every scale. D1 to D10 are about downstream scores, emergence and
continued pre-training, which runs of a few hundred steps cannot show (section 6 of the specification): below the
`small` scale their numbers are reported and not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from reprlab.papers.depth.evidence import difference, main, over_chance, packing, packing_note, tracking
from reprlab.papers.depth.measures import RATIOS, TIMES
from reprlab.papers.depth.names import DISCOEVAL, DISCOURSE_COHERENCE, GLUE, NI, SENTENCE_POSITION
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


def _claim(id: str, rule: Rule, find: Find, **more: Any) -> Claim:
    return Claim(id, "", rule, find, **{"note": _seeds("main"), **more})


def _ratio(name: str, first: Mapping[str, Any], second: Any = None, less: str = "", *, paired: bool = True) -> Ratio:
    """A loss in nats a label, or an accuracy in percent."""
    return Ratio(RATIOS[name], first, second, RATIOS[less or name], paired=paired, times=TIMES[name])


_PARTS = ("sentence_loss", "reconstruction_loss")
_T5, _DEPTH, _CONTINUED = main("t5"), main("depth"), main("depth", "cpt")
_SHUFFLED, _IN_ORDER = {"shuffled": "true"}, {"shuffled": "false"}
_PLAIN, _HEAVY = ({"experiment": "sentence_weight", "variant": variant, "step": LAST} for variant in ("baseline", "5x"))
_SMALL: dict[str, Any] = {
    "only_at": ("small", "paper"),
    "because": "runs of a few hundred steps of a small model show no such effect; the number is reported, not judged",
}
_DOWNSTREAM = (
    ("D1", ABOVE_ZERO, ("glue", "fs", GLUE)),
    ("D2", ABOVE_ZERO, ("discoeval", "fs", DISCOURSE_COHERENCE)),
    ("D3", ABOVE_ZERO, ("discoeval", "fs", SENTENCE_POSITION)),
    ("D4", ABOVE_ZERO, ("ni", "fs", NI)),
    ("D5", Rule(-1.0, 1.0), ("glue", "cpt", GLUE)),
    ("D6", ABOVE_ZERO, ("discoeval", "cpt", DISCOEVAL)),
    ("D7", BELOW_ZERO, ("ni", "cpt", NI)),
)
_WEIGHTED = (
    ("L9a", "sentence_loss", Rule(high=_NATS)),
    ("L9b", "reconstruction_loss", Rule(low=-_NATS)),
    ("L9c", "loss", ABOVE_ZERO),
    ("L9d", "sent_accuracy", Rule(-_POINTS, _POINTS)),
)
_EMERGED = {"column": "dc_wiki", "init": "fs", "model": "depth"}


def _downstream(experiment: str, init: str, columns: tuple[str, ...]) -> Find:
    where = {"experiment": experiment, "init": init, "column": columns, "step": LAST}
    return partial(difference, "model", "depth", "t5", where)


CLAIMS = (
    _claim("L1a", BELOW_ZERO, _ratio("loss", _T5, {**_T5, "step": FIRST})),
    _claim("L1b", BELOW_ZERO, _ratio("loss", _DEPTH, {**_DEPTH, "step": FIRST})),
    _claim("L2", Rule(low=90.0), _ratio("eosen_accuracy", _DEPTH)),
    _claim("L3", BELOW_ZERO, _ratio(_PARTS[0], _DEPTH, _DEPTH, _PARTS[1])),
    _claim("L4", Rule(0.75, 1.25), over_chance),
    _claim("L5", ABOVE_ZERO, _ratio("sent_accuracy", _DEPTH | _IN_ORDER, _DEPTH | _SHUFFLED)),
    _claim("L6", Rule(low=0.9), tracking),
    _claim("L7", Rule(high=5.0), _ratio("sent_accuracy", _DEPTH | _SHUFFLED)),
    _claim("L8a", BELOW_ZERO, _ratio("loss", _DEPTH, _T5, paired=False)),
    _claim("L8b", BELOW_ZERO, _ratio("reconstruction_loss", _DEPTH, _T5, "loss", paired=False)),
    *(_claim(id, rule, _ratio(name, _HEAVY, _PLAIN), note=_seeds("sentence_weight")) for id, name, rule in _WEIGHTED),
    _claim("L10", ABOVE_ZERO, packing, where={"experiment": "packing_lr"}, note=packing_note),
    *(_claim(id, rule, _downstream(*cells), **_SMALL) for id, rule, cells in _DOWNSTREAM),
    _claim("D8", Rule(low=10.0), partial(difference, "step", 64_000, 32_000, _EMERGED), **_SMALL),
    _claim("D9", Rule(-0.1, 0.1), _ratio(_PARTS[0], _CONTINUED, _CONTINUED, _PARTS[1]), **_SMALL),
    _claim(
        "D10",
        ABOVE_ZERO,
        _ratio("sent_accuracy", _CONTINUED | _SHUFFLED, _DEPTH | _SHUFFLED, paired=False),
        **_SMALL,
    ),
)
