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
from reprlab.results.twins import Twin
from reprlab.statistics import ABOVE_ZERO, BELOW_ZERO, Rule

_NATS, _POINTS = 0.05, 5.0
"""Nats, or percent points of an accuracy, that count as no difference."""


def _seeds(experiment: str) -> Callable[[Frame], str]:
    """How far a verdict on the runs of an experiment reaches."""

    def note(frame: Frame) -> str:
        count = frame.select(part="training", experiment=experiment)["seed"].nunique()
        return f"scale {frame.scale}; {f'{count} seeds' if count > 1 else 'one seed: nothing is said of other seeds'}"

    return note


def _claim(id: str, claim: str, statistic: str, rule: Rule, find: Find, **more: Any) -> Claim:
    return Claim(id, claim, statistic, rule, find, **{"note": _seeds("main"), **more})


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
    (
        "D1",
        "From scratch, DEPTH beats T5 on GLUE (section 4.2)",
        "mean of DEPTH minus T5 over cola, sst2, mnli_m, mnli_mm at the last checkpoint, points",
        ABOVE_ZERO,
        ("glue", "fs", GLUE),
    ),
    (
        "D2",
        "From scratch, DEPTH beats T5 on DC (section 4.3)",
        "mean of DEPTH minus T5 over dc_chat, dc_wiki at the last checkpoint, points",
        ABOVE_ZERO,
        ("discoeval", "fs", DISCOURSE_COHERENCE),
    ),
    (
        "D3",
        "From scratch, DEPTH beats T5 on SP (section 4.3)",
        "mean of DEPTH minus T5 over sp_arxiv, sp_wiki, sp_rocstory at the last checkpoint, points",
        ABOVE_ZERO,
        ("discoeval", "fs", SENTENCE_POSITION),
    ),
    (
        "D4",
        "From scratch, DEPTH beats T5 on NI (section 4.4)",
        "mean of DEPTH minus T5 over rougeL at the last checkpoint, points",
        ABOVE_ZERO,
        ("ni", "fs", NI),
    ),
    (
        "D5",
        "Continued, DEPTH and T5 are within one point on GLUE (section 4.2)",
        "mean of DEPTH minus T5 over cola, sst2, mnli_m, mnli_mm at the last checkpoint, points",
        Rule(-1.0, 1.0),
        ("glue", "cpt", GLUE),
    ),
    (
        "D6",
        "Continued, DEPTH beats T5 on DiscoEval (appendix G)",
        "mean of DEPTH minus T5 over sp_arxiv, sp_wiki, sp_rocstory, dc_chat, dc_wiki at the last checkpoint, points",
        ABOVE_ZERO,
        ("discoeval", "cpt", DISCOEVAL),
    ),
    (
        "D7",
        "Continued, DEPTH is behind T5 on NI (section 4.4)",
        "mean of DEPTH minus T5 over rougeL at the last checkpoint, points",
        BELOW_ZERO,
        ("ni", "cpt", NI),
    ),
)
_WEIGHTED = (
    (
        "L9a",
        "Weighting the sentence loss 5 times lowers the sentence loss or leaves it",
        "sentence loss of 5x minus baseline at the last checkpoint, nats",
        "sentence_loss",
        Rule(high=_NATS),
    ),
    (
        "L9b",
        "Weighting the sentence loss 5 times does not lower the reconstruction loss",
        "reconstruction loss of 5x minus baseline at the last checkpoint, nats",
        "reconstruction_loss",
        Rule(low=-_NATS),
    ),
    (
        "L9c",
        "Weighting the sentence loss 5 times harms the total loss (appendix B.1)",
        "loss of 5x minus baseline at the last checkpoint, nats",
        "loss",
        ABOVE_ZERO,
    ),
    (
        "L9d",
        "Weighting the sentence loss has minimal impact on SENT accuracy (appendix B.1)",
        "SENT accuracy of 5x minus baseline at the last checkpoint, points",
        "sent_accuracy",
        Rule(-_POINTS, _POINTS),
    ),
)
_EMERGED = {"column": "dc_wiki", "init": "fs", "model": "depth"}


def _downstream(experiment: str, init: str, columns: tuple[str, ...]) -> Find:
    where = {"experiment": experiment, "init": init, "column": columns, "step": LAST}
    return partial(difference, "model", "depth", "t5", where)


CLAIMS = (
    _claim("L1a", "The validation loss of T5 falls from scratch (figure 2)",
           "loss at the last checkpoint minus loss at the first, nats", BELOW_ZERO,
           _ratio("loss", _T5, {**_T5, "step": FIRST})),
    _claim("L1b", "The validation loss of DEPTH falls from scratch (figure 2)",
           "loss at the last checkpoint minus loss at the first, nats", BELOW_ZERO,
           _ratio("loss", _DEPTH, {**_DEPTH, "step": FIRST})),
    _claim("L2", "DEPTH learns to close sentences: its EOSEN accuracy is high",
           "EOSEN accuracy at the last checkpoint, percent", Rule(low=90.0), _ratio("eosen_accuracy", _DEPTH)),
    _claim("L3", "The sentence loss is lower than the reconstruction loss (appendix B, figure 8)",
           "sentence loss minus reconstruction loss at the last checkpoint, nats", BELOW_ZERO,
           _ratio(_PARTS[0], _DEPTH, _DEPTH, _PARTS[1])),
    _claim("L4", "The sentence loss is what chance order gives: near 0.25 ln(m!)/m (appendix B prints 0.3 to 0.4)",
           "sentence loss at the last checkpoint over the chance value", Rule(0.75, 1.25), over_chance),
    _claim("L5", "Un-shuffling is harder than copying: SENT accuracy in order is above that on shuffled batches",
           "SENT accuracy in order minus shuffled at the last checkpoint, points", ABOVE_ZERO,
           _ratio("sent_accuracy", _DEPTH | _IN_ORDER, _DEPTH | _SHUFFLED)),
    _claim("L6", "The total loss tracks the reconstruction loss (appendix B, figure 8)",
           "correlation of total and reconstruction loss over the checkpoints, which follow each other", Rule(low=0.9),
           tracking),
    _claim("L7", "SENT accuracy on shuffled batches stays at or below 5% (section 4.3)",
           "SENT accuracy on shuffled batches at the last checkpoint, percent", Rule(high=5.0),
           _ratio("sent_accuracy", _DEPTH | _SHUFFLED)),
    _claim("L8a", "DEPTH reaches a lower total loss than T5 from scratch (section 4.1, figure 2)",
           "total loss of DEPTH minus loss of T5 at the last checkpoint, nats", BELOW_ZERO,
           _ratio("loss", _DEPTH, _T5, paired=False)),
    _claim("L8b", "DEPTH reaches a lower reconstruction loss than T5 from scratch (section 4.1, figure 2)",
           "reconstruction loss of DEPTH minus loss of T5 at the last checkpoint, nats", BELOW_ZERO,
           _ratio("reconstruction_loss", _DEPTH, _T5, "loss", paired=False)),
    *(
        _claim(id, words, statistic, rule, _ratio(name, _HEAVY, _PLAIN), note=_seeds("sentence_weight"))
        for id, words, statistic, name, rule in _WEIGHTED
    ),
    _claim("L10",
           "Without packing T5 does not train at a high learning rate, with packing it does (appendix A.2, figure 7)",
           "training loss without packing minus with, high learning rate, last tenth, nats", ABOVE_ZERO, packing,
           where={"experiment": "packing_lr"}, note=packing_note),
    *(
        _claim(id, words, statistic, rule, _downstream(*cells), **_SMALL)
        for id, words, statistic, rule, cells in _DOWNSTREAM
    ),
    _claim("D8", "From scratch, DEPTH gains more than 10 points on DC-Wiki between 32k and 64k steps (section 4.3)",
           "dc_wiki of DEPTH at step 64,000 minus step 32,000, points", Rule(low=10.0),
           partial(difference, "step", 64_000, 32_000, _EMERGED), **_SMALL),
    _claim("D9", "Continued, the sentence loss is about the reconstruction loss (appendix B, figure 9)",
           "sentence loss minus reconstruction loss of continued DEPTH at the last checkpoint, nats", Rule(-0.1, 0.1),
           _ratio(_PARTS[0], _CONTINUED, _CONTINUED, _PARTS[1]), **_SMALL),
    _claim("D10", "Continued DEPTH predicts the next sentence better than DEPTH from scratch (appendix B)",
           "SENT accuracy on shuffled batches at the last checkpoint, continued minus from scratch, points", ABOVE_ZERO,
           _ratio("sent_accuracy", _CONTINUED | _SHUFFLED, _DEPTH | _SHUFFLED, paired=False), **_SMALL),
)  # fmt: skip
TWINS = (
    Twin(("L1a",), "the first checkpoint", learned=main("t5"), rows={"step": FIRST}),
    Twin(("L1b",), "the first checkpoint", learned=main("depth"), rows={"step": FIRST}),
    Twin(("L4", "L7"), why_not="chance order is the bound: a claim that nothing was learnt of it"),
    Twin(("L2", "L5"), why_not="a drawn model restores no sentence token, in order or not: both numbers are 0"),
    Twin(("L3", "L6"), why_not="losses of one model beside each other; those of a drawn one are those of even guesses"),
    Twin(("L8a", "L8b", "L9a", "L9b", "L9c", "L9d", "L10", "D1", "D2", "D3", "D4", "D5", "D6", "D7", "D9", "D10"),
         why_not="two trainings from one start: the same untrained model would stand on both sides"),
    Twin(("D8",), why_not="two checkpoints of one training, judged at paper scale alone"),
)  # fmt: skip
