"""Claims of DEPTH about losses and accuracies in pre-training, with bootstrap intervals over validation batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from reprlab.papers.depth.chance import mixed_chance_loss
from reprlab.papers.depth.layouts import ClaimsLayout
from reprlab.papers.depth.loss_tables import diverged, training_curve
from reprlab.reporting.claims import ABOVE_ZERO, BELOW_ZERO, ClaimRow, Rule, decide, missing
from reprlab.reporting.intervals import Estimate, curve_correlation, mean_difference, ratio, ratio_difference
from reprlab.reporting.layouts import PretrainedRun, Statistics
from reprlab.reporting.loss_table import ACCURACIES, LOSSES, mean_sentences, read_evaluation, sums_by_batch

# A frame of `read_evaluation`, and a statistic of one or two of them.
Evaluation = Any
Find = Callable[..., Estimate]
_BATCHES_OF_A_SEED = 1_000_000
_MARGIN = 0.05
"""Nats (or share of hits) that count as no difference."""


def loss_claims(layout: ClaimsLayout) -> list[ClaimRow]:
    """Claims L1 to L10."""
    return [*_main_claims(layout), *_weight_claims(layout), _packing_claim(layout)]


def _main_claims(layout: ClaimsLayout) -> Iterator[ClaimRow]:
    depth, t5 = pooled(layout.fs, "depth"), pooled(layout.fs, "t5")
    last, t5_last = at_last(depth), at_last(t5)
    nats = "at the last checkpoint, nats"
    fall = "loss at the last checkpoint minus loss at the first, nats"
    claims: tuple[tuple[str, str, Rule, str, Find, list[Evaluation | None]], ...] = (
        ("L1a", "The validation loss of T5 falls from scratch (figure 2)", BELOW_ZERO, fall, _fall, [t5]),
        ("L1b", "The validation loss of DEPTH falls from scratch (figure 2)", BELOW_ZERO, fall, _fall, [depth]),
        (
            "L2",
            "DEPTH learns to close sentences: its EOSEN accuracy is high",
            Rule(low=0.9),
            "EOSEN accuracy at the last checkpoint",
            _eosen_accuracy,
            [last],
        ),
        (
            "L3",
            "The sentence loss is lower than the reconstruction loss (appendix B, figure 8)",
            BELOW_ZERO,
            f"sentence loss minus reconstruction loss {nats}",
            parts_gap,
            [last],
        ),
        (
            "L4",
            "The sentence loss is what chance order gives: near 0.25 ln(m!)/m (appendix B prints 0.3 to 0.4)",
            Rule(0.75, 1.25),
            "sentence loss at the last checkpoint over the chance value",
            _over_chance,
            [last],
        ),
        (
            "L5",
            "Un-shuffling is harder than copying: SENT accuracy in order is at least that on shuffled batches",
            Rule(low=0.0),
            "SENT accuracy in order minus shuffled, last checkpoint",
            _order_gap,
            [last],
        ),
        (
            "L6",
            "The total loss tracks the reconstruction loss (appendix B, figure 8)",
            Rule(low=0.9),
            "correlation of total and reconstruction loss over the checkpoints",
            _tracking,
            [depth],
        ),
        (
            "L7",
            "SENT accuracy on shuffled batches stays at or below 5% (section 4.3)",
            Rule(high=0.05),
            "SENT accuracy on shuffled batches, last checkpoint",
            _shuffled_accuracy,
            [last],
        ),
        (
            "L8a",
            "DEPTH reaches a lower total loss than T5 from scratch (section 4.1, figure 2)",
            BELOW_ZERO,
            f"total loss of DEPTH minus loss of T5 {nats}",
            _total_against_t5,
            [last, t5_last],
        ),
        (
            "L8b",
            "DEPTH reaches a lower reconstruction loss than T5 from scratch (section 4.1, figure 2)",
            BELOW_ZERO,
            f"reconstruction loss of DEPTH minus loss of T5 {nats}",
            _reconstruction_against_t5,
            [last, t5_last],
        ),
    )
    for id, claim, rule, statistic, find, needed in claims:
        frames = [frame for frame in needed if frame is not None]
        if len(frames) < len(needed):
            yield missing(id, claim, rule, statistic, "no such run in this configuration")
            continue
        estimate = find(*frames, layout.statistics)
        yield decide(id, claim, rule, statistic, estimate, over_batches(layout.statistics), seeds_note(layout.fs))


def _weight_claims(layout: ClaimsLayout) -> Iterator[ClaimRow]:
    variants = {
        name: at_last(pooled([run for run in layout.sentence_weight if run.variant == name], "depth"))
        for name in ("baseline", "5x")
    }
    baseline, heavy = variants["baseline"], variants["5x"]
    harmless, harmful = Rule(high=_MARGIN), Rule(low=-_MARGIN)
    claims = (
        ("L9a", "Weighting the sentence loss 5 times lowers the sentence loss or leaves it", harmless, "sentence_loss"),
        (
            "L9b",
            "Weighting the sentence loss 5 times does not lower the reconstruction loss",
            harmful,
            "reconstruction_loss",
        ),
        ("L9c", "Weighting the sentence loss 5 times harms the total loss (appendix B.1)", ABOVE_ZERO, "loss"),
        (
            "L9d",
            "Weighting the sentence loss has minimal impact on SENT accuracy (appendix B.1)",
            Rule(-_MARGIN, _MARGIN),
            "sent_accuracy",
        ),
    )
    for id, claim, rule, column in claims:
        names = (LOSSES | ACCURACIES)[column]
        statistic = f"{column.replace('_', ' ')} of 5x minus baseline at the last checkpoint"
        if baseline is None or heavy is None:
            yield missing(id, claim, rule, statistic, "the sentence_weight runs are not made in this configuration")
            continue
        estimate = ratio_difference(
            sums_by_batch(heavy, names), sums_by_batch(baseline, names), layout.statistics, paired=True
        )
        yield decide(
            id, claim, rule, statistic, estimate, over_batches(layout.statistics), seeds_note(layout.sentence_weight)
        )


def _packing_claim(layout: ClaimsLayout) -> ClaimRow:
    claim = "Without packing T5 does not train at a high learning rate, with packing it does (appendix A.2, figure 7)"
    rule, statistic = ABOVE_ZERO, "training loss without packing minus with, high learning rate, last tenth, nats"
    runs = layout.packing_lr
    high = max((run.learning_rate for run in runs), default=0.0)
    pairs = {flag: [run for run in runs if run.packing == flag and run.learning_rate == high] for flag in (True, False)}
    if not all(pairs.values()):
        return missing("L10", claim, rule, statistic, "the packing_lr runs are not made in this configuration")
    curves = {flag: training_curve(found[0]) for flag, found in pairs.items()}
    flags = {flag: "diverged" if diverged(curve) else "did not diverge" for flag, curve in curves.items()}
    tails = {flag: curve["loss"].dropna().tail(max(2, len(curve) // 10)).to_numpy() for flag, curve in curves.items()}
    estimate = mean_difference(tails[False], tails[True], layout.statistics)
    note = f"learning rate {high:g}: without packing the run {flags[False]}, with packing it {flags[True]}; "
    note += "the tasks differ in length, so the losses are of different texts"
    return decide("L10", claim, rule, statistic, estimate, "95% bootstrap over the rows of the last tenth", note)


def pooled(runs: list[PretrainedRun], model: str) -> Evaluation | None:
    """Evaluations of all seeds of a model; a batch of each seed is a unit of its own."""
    import pandas

    evaluated = [(run.evaluation, run.evaluation_run) for run in runs if run.model == model]
    frames = [read_evaluation(path, name) for path, name in evaluated if path is not None]
    for number, frame in enumerate(frames):
        frame["batch"] += _BATCHES_OF_A_SEED * number
    return pandas.concat(frames, ignore_index=True) if frames else None


def seeds_note(runs: list[PretrainedRun]) -> str:
    """What an interval over batches covers."""
    count = len({run.seed for run in runs})
    return f"batches of {count} seeds pooled" if count > 1 else "one seed: the interval is over batches, not over seeds"


def over_batches(statistics: Statistics) -> str:
    """Name of the interval."""
    return f"{statistics.confidence:.0%} bootstrap over validation batches"


def at_last(frame: Evaluation | None) -> Evaluation | None:
    """The rows of the last checkpoint."""
    return None if frame is None else frame[frame["step"] == frame["step"].max()]


def parts_gap(frame: Evaluation, statistics: Statistics) -> Estimate:
    """Sentence loss minus reconstruction loss."""
    sentence, reconstruction = (sums_by_batch(frame, LOSSES[f"{name}_loss"]) for name in ("sentence", "reconstruction"))
    return ratio_difference(sentence, reconstruction, statistics, paired=True)


def _fall(frame: Evaluation, statistics: Statistics) -> Estimate:
    first, last = (frame[frame["step"] == step] for step in (frame["step"].min(), frame["step"].max()))
    return ratio_difference(
        sums_by_batch(last, LOSSES["loss"]), sums_by_batch(first, LOSSES["loss"]), statistics, paired=True
    )


def _eosen_accuracy(frame: Evaluation, statistics: Statistics) -> Estimate:
    return ratio(*sums_by_batch(frame, ACCURACIES["eosen_accuracy"]), statistics)


def _shuffled_accuracy(frame: Evaluation, statistics: Statistics) -> Estimate:
    return ratio(*sums_by_batch(frame[frame["shuffled"]], ACCURACIES["sent_accuracy"]), statistics)


def _over_chance(frame: Evaluation, statistics: Statistics) -> Estimate:
    chance = mixed_chance_loss(mean_sentences(frame))
    found = ratio(*sums_by_batch(frame, LOSSES["sentence_loss"]), statistics)
    if chance == 0:
        # Passages of one sentence have no order to know.
        return Estimate(math.nan, math.nan, math.nan, found.n)
    return Estimate(found.value / chance, found.low / chance, found.high / chance, found.n)


def _order_gap(frame: Evaluation, statistics: Statistics) -> Estimate:
    ordered, shuffled = (
        sums_by_batch(frame[frame["shuffled"] == flag], ACCURACIES["sent_accuracy"]) for flag in (False, True)
    )
    return ratio_difference(ordered, shuffled, statistics, paired=True)


def _total_against_t5(depth: Evaluation, t5: Evaluation, statistics: Statistics) -> Estimate:
    # The two models read different encodings of the passages, so their batches are no pairs.
    sums = [sums_by_batch(frame, LOSSES["loss"]) for frame in (depth, t5)]
    return ratio_difference(sums[0], sums[1], statistics, paired=False)


def _reconstruction_against_t5(depth: Evaluation, t5: Evaluation, statistics: Statistics) -> Estimate:
    sums = [sums_by_batch(depth, LOSSES["reconstruction_loss"]), sums_by_batch(t5, LOSSES["loss"])]
    return ratio_difference(sums[0], sums[1], statistics, paired=False)


def _tracking(frame: Evaluation, statistics: Statistics) -> Estimate:
    import numpy as np

    names = [*LOSSES["loss"], *LOSSES["reconstruction_loss"]]
    sums = frame.groupby(["batch", "step"])[names].sum()
    shape = (frame["batch"].nunique(), frame["step"].nunique(), len(names))
    return curve_correlation(np.asarray(sums.to_numpy(dtype=float)).reshape(shape), statistics)
