"""What DEPTH's claims are decided by: estimates from the frame, or in words why there is none.

What would be drawn anew is the seed of pre-training; with one seed an estimate is over the validation batches or the
examples of that run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from reprlab.papers.depth.measures import (
    RATIOS,
    diverged,
    evaluated,
    in_percent,
    mean_sentences,
    mixed_chance_loss,
    over_units,
    ratio,
    training_curves,
)
from reprlab.results.frame import Frame, Rows
from reprlab.statistics import (
    Estimate,
    contrast,
    correlation,
    difference_of_groups,
    difference_over_pairs,
    mean_correlation,
    ratio_difference,
)

Find = Callable[[Frame], "Estimate | str"]


def main_run(frame: Frame, model: str, init: str = "fs") -> Rows:
    """Validation sums of a main run, of all its seeds."""
    return evaluated(frame, experiment="main", init=init, model=model)


def at_last(part: Rows) -> Rows:
    """The rows of the last checkpoint."""
    return part[part["step"] == part["step"].max()]


def unit_of(part: Rows) -> str:
    """What is drawn anew: the seed, or the batch where there is one."""
    return "seed" if part["seed"].nunique() > 1 else "batch"


def gap(first: Rows, second: Rows, name: str, other: str = "", *, same_text: bool = True) -> Estimate | str:
    """Difference of a ratio between two parts; batches are paired where both encode the same text, seeds always."""
    if first.empty or second.empty:
        return ""
    unit = unit_of(first)
    paired = same_text or unit == "seed"
    if paired:
        shared = set(first[unit]) & set(second[unit])
        first, second = (part[part[unit].isin(shared)] for part in (first, second))
    sides = over_units(first, name, unit), over_units(second, other or name, unit)
    return in_percent(ratio_difference(*sides, unit, paired=paired), name)


def fall(model: str) -> Find:
    """Loss at the last checkpoint minus loss at the first."""

    def find(frame: Frame) -> Estimate | str:
        part = main_run(frame, model)
        return gap(at_last(part), part[part["step"] == part["step"].min()], "loss")

    return find


def level(name: str, **order: str) -> Find:
    """A ratio of DEPTH from scratch at its last checkpoint."""

    def find(frame: Frame) -> Estimate | str:
        part = at_last(main_run(frame, "depth"))
        for column, value in order.items():
            part = part[part[column] == value]
        return ratio(part, name, frame.options["confidence"], unit_of(part)) if len(part) else ""

    return find


def parts_gap(init: str) -> Find:
    """Sentence loss minus reconstruction loss of DEPTH."""

    def find(frame: Frame) -> Estimate | str:
        part = at_last(main_run(frame, "depth", init))
        return gap(part, part, "sentence_loss", "reconstruction_loss")

    return find


def over_chance(frame: Frame) -> Estimate | str:
    """Sentence loss over the value that chance order gives."""
    part = at_last(main_run(frame, "depth"))
    if part.empty:
        return ""
    chance = mixed_chance_loss(mean_sentences(part))
    if chance == 0:
        return "passages of one sentence have no order to know"
    found = ratio(part, "sentence_loss", frame.options["confidence"], unit_of(part))
    return replace(found, value=found.value / chance, low=found.low / chance, high=found.high / chance)


def order_gap(frame: Frame) -> Estimate | str:
    """SENT accuracy in order minus shuffled."""
    part = at_last(main_run(frame, "depth"))
    return gap(part[part["shuffled"] == "false"], part[part["shuffled"] == "true"], "sent_accuracy")


def tracking(frame: Frame) -> Estimate | str:
    """Correlation of total and reconstruction loss over the checkpoints of each seed."""
    part = main_run(frame, "depth")
    if part.empty:
        return ""
    sums = part.groupby(["seed", "step"])[[*RATIOS["loss"], *RATIOS["reconstruction_loss"]]].sum()
    total, rest = (sums[RATIOS[name][0]] / sums[RATIOS[name][1]] for name in ("loss", "reconstruction_loss"))
    seeds = total.index.get_level_values("seed").unique()
    if len(seeds) > 1:
        return mean_correlation([total[seed].corr(rest[seed]) for seed in seeds], "seed")
    return correlation(total, rest, "checkpoint")


def against_t5(name: str) -> Find:
    """A loss of DEPTH minus the loss of T5, which read different encodings of the same passages."""

    def find(frame: Frame) -> Estimate | str:
        depth, t5 = (at_last(main_run(frame, model)) for model in ("depth", "t5"))
        return gap(depth, t5, name, "loss", same_text=False)

    return find


def heavy(name: str) -> Find:
    """A ratio of the run with five times the sentence loss minus that of the plain one."""

    def find(frame: Frame) -> Estimate | str:
        plain, five = (
            at_last(evaluated(frame, experiment="sentence_weight", variant=variant)) for variant in ("baseline", "5x")
        )
        return gap(five, plain, name) or frame.reason(experiment="sentence_weight")

    return find


def _high_rate(frame: Frame) -> tuple[dict[str, Rows], float]:
    """Training curves of T5 at the high learning rate, by packing."""
    curves = training_curves(frame.narrowed({"experiment": "packing_lr"}), "packing", "lr")
    rate = curves["lr"].max()
    return dict(list(curves[curves["lr"] == rate].groupby("packing"))), rate


def packing(frame: Frame) -> Estimate | str:
    """Mean training loss of the last tenth of a run without packing minus with."""
    curves, _ = _high_rate(frame)
    if len(curves) < 2:
        return frame.reason(experiment="packing_lr")
    tails = {
        flag: [run["loss"].dropna().tail(max(2, len(run) // 10)).mean() for _, run in rows.groupby("seed")]
        for flag, rows in curves.items()
    }
    return difference_of_groups(tails["no"], tails["yes"], "run")


def packing_note(frame: Frame) -> str:
    curves, rate = _high_rate(frame)
    said = [
        f"{'with' if flag == 'yes' else 'without'} packing the run {'diverged' if diverged(run) else 'did not diverge'}"
        for flag, run in curves.items()
    ]
    return "; ".join([f"learning rate {rate:g}", *said, "the tasks differ in length: losses of different texts"])


def downstream(experiment: str, init: str, columns: tuple[str, ...]) -> Find:
    """Mean over the columns that both models have of DEPTH minus T5, by seed; with one seed over examples."""

    def find(frame: Frame) -> Estimate | str:
        rows = frame.select(part="finetuning", experiment=experiment, init=init, column=columns, model=("depth", "t5"))
        rows = rows[rows["step"] == rows["step"].max()]
        cell = ["column", "seed", "tuning_seed"]
        depth, t5 = (rows[rows["model"] == model].set_index(cell).sort_index() for model in ("depth", "t5"))
        shared = depth.index.intersection(t5.index)
        if not len(shared):
            return frame.reason(experiment=experiment, column=columns)
        depth, t5 = depth.loc[shared], t5.loc[shared]
        if len(shared.unique("seed")) > 1:
            means = [side["value"].groupby("seed").mean() for side in (depth, t5)]
            return difference_over_pairs(means[0], means[1], "seed")
        weights = [1 / len(shared)] * len(shared) + [-1 / len(shared)] * len(shared)
        return contrast([*_estimates(depth), *_estimates(t5)], weights)

    return find


def emergence(frame: Frame) -> Estimate | str:
    """dc_wiki of DEPTH at step 64,000 minus step 32,000."""
    where: dict[str, Any] = {"part": "finetuning", "column": "dc_wiki", "init": "fs", "model": "depth"}
    before, after = (frame.select(**where, step=step).set_index(["seed", "tuning_seed"]) for step in (32_000, 64_000))
    shared = before.index.intersection(after.index)
    if not len(shared):
        return frame.reason(column="dc_wiki")
    before, after = before.loc[shared], after.loc[shared]
    if len(shared.unique("seed")) > 1:
        means = [side["value"].groupby("seed").mean() for side in (after, before)]
        return difference_over_pairs(means[0], means[1], "seed")
    return contrast([_estimates(after)[0], _estimates(before)[0]], (1, -1))


def _estimates(rows: Rows) -> list[Estimate]:
    bounds = rows[["value", "low", "high", "n"]].itertuples(index=False, name=None)
    return [Estimate(value, low, high, int(n), "example") for value, low, high, n in bounds]


def continued_accuracy(frame: Frame) -> Estimate | str:
    """SENT accuracy on shuffled batches, continued minus from scratch."""
    parts = [at_last(main_run(frame, "depth", init)) for init in ("cpt", "fs")]
    cpt, scratch = (part[part["shuffled"] == "true"] for part in parts)
    return gap(cpt, scratch, "sent_accuracy", same_text=False)
