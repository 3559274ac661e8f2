"""Evidence for those of DEPTH's claims that are not decided by a plain ratio: estimates, or a reason why there is none.

What would be drawn anew is the seed of pre-training; with one seed an estimate is over the validation batches or the
examples of that run.
"""

from __future__ import annotations

from typing import Any

from reprlab.papers.depth.measures import (
    RATIOS,
    diverged,
    evaluated,
    mean_sentences,
    mixed_chance_loss,
    training_curves,
)
from reprlab.results.contrasts import Ratio, sum_over_seeds
from reprlab.results.frame import LAST, Frame, Rows
from reprlab.statistics import (
    Estimate,
    correlation,
    difference_of_groups,
    mean_correlation,
)


def main(model: str, init: str = "fs", **more: Any) -> dict[str, Any]:
    """The last checkpoint of a main run."""
    return {"experiment": "main", "model": model, "init": init, "step": LAST, **more}


def over_chance(frame: Frame) -> Estimate | str:
    """Sentence loss over the value that chance order gives."""
    found = Ratio(RATIOS["sentence_loss"], main("depth"))(frame)
    if isinstance(found, str):
        return found
    chance = mixed_chance_loss(mean_sentences(evaluated(frame, **main("depth"))))
    return found.times(1 / chance) if chance else "passages of one sentence have no order to know"


def tracking(frame: Frame) -> Estimate:
    """Correlation of total and reconstruction loss over the checkpoints of each seed."""
    part = evaluated(frame, experiment="main", init="fs", model="depth")
    sums = part.groupby(["seed", "step"])[[*RATIOS["loss"], *RATIOS["reconstruction_loss"]]].sum()
    total, rest = (sums[RATIOS[name][0]] / sums[RATIOS[name][1]] for name in ("loss", "reconstruction_loss"))
    seeds = total.index.get_level_values("seed").unique()
    if len(seeds) > 1:
        return mean_correlation([total[seed].corr(rest[seed]) for seed in seeds], "seed")
    return correlation(total, rest, "checkpoint")


def _high_rate(frame: Frame) -> dict[str, Rows]:
    """Training curves of T5 at the high learning rate, by packing."""
    return dict(list(training_curves(frame.narrowed({"lr": LAST}), "packing", "lr").groupby("packing")))


def packing(frame: Frame) -> Estimate | str:
    """Mean training loss of the last tenth of a run without packing minus with."""
    tails = {
        flag: [run["loss"].dropna().tail(max(2, len(run) // 10)).mean() for _, run in rows.groupby("seed")]
        for flag, rows in _high_rate(frame).items()
    }
    return difference_of_groups(tails["no"], tails["yes"], "seed") if len(tails) > 1 else ""


def packing_note(frame: Frame) -> str:
    """The outcome of both runs."""
    curves = _high_rate(frame)
    said = [
        f"{'with' if flag == 'yes' else 'without'} packing the run {'diverged' if diverged(run) else 'did not diverge'}"
        for flag, run in curves.items()
    ]
    rate = curves["no"]["lr"].iloc[0]
    return "; ".join([f"learning rate {rate:g}", *said, "the tasks differ in length: losses of different texts"])


def difference(factor: str, first: Any, second: Any, where: dict[str, Any], frame: Frame) -> Estimate | str:
    """Scores with one value of a factor minus those with another, mean over the cells that both have, over seeds, or
    over examples within few of them."""
    where = {"part": "finetuning", **where, factor: (first, second)}
    rows = frame.select(**where).set_index(["column", "seed", "tuning_seed"]).sort_index()
    one, two = (rows[rows[factor] == value] for value in (first, second))
    shared = one.index.intersection(two.index)
    if not len(shared):
        return frame.reason(**where)
    one, two = one.loc[shared], two.loc[shared]
    sides = [side.reset_index() for side in (one, two)]
    return sum_over_seeds(sides, (1, -1), "example", apart="column") or frame.reason(**where)
