"""Claims of L3Prune: what is measured, over which units, and the rule, written before the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reprlab.papers.overparameterized_encoders.tables_pruning import curves, mean_scores
from reprlab.results.claims import Claim, Find
from reprlab.results.contrasts import sum_over_seeds
from reprlab.results.frame import Frame, Rows
from reprlab.results.twins import Twin
from reprlab.statistics import ABOVE_ZERO, BELOW_ZERO, Estimate, Rule, mean_over_crossed, mean_over_units, slope

_LOSS = {"part": "scores", "dataset": "triples", "metric": "contrastive_loss"}
_MODERATE = ("p20", "p25", "p30")
SCORES = ("ndcg_at_10", "map", "v_measure", "average_precision", "accuracy", "spearman")
"""Metrics of the tasks, of which the mean is taken."""
_DEEP: dict[str, Any] = {
    "only_at": ("paper",),
    "because": "specification, section 6: differences of scores and the shape of the curve are not visible in small",
}


_OF_SIZE = "the memory of models of 4 to 8 billion parameters is not that of small ones"


def _gaps(
    sides: Sequence[Rows], weights: Sequence[float], by: list[str], item: str, apart: str = ""
) -> Estimate | None:
    """Weighted sum of scores over models (and what else `by` names); of one model, over its seeds, or its items."""
    each = [weight * side.groupby([*by, "seed"])["value"].mean() for side, weight in zip(sides, weights, strict=True)]
    values = sum(each[1:], each[0]).dropna()
    names = values.index.droplevel("seed").unique()
    if not len(values):
        return None
    if len(names) > 1:
        return mean_over_crossed(values, {name: values.index.get_level_values(name) for name in [*by, "seed"]})
    one = [side[side["model"] == values.index.get_level_values("model")[0]] for side in sides]
    return sum_over_seeds(one, weights, item, apart=apart)


def moderate_pruning(frame: Frame) -> Estimate | str:
    """By how much more the loss rises from moderate pruning to the shallowest model than from none to moderate."""
    rows = frame.select(**_LOSS, training="trained")
    shallowest = rows[rows["layers"] == rows.groupby("model")["layers"].transform("min")]
    whole, moderate = rows[rows["depth"] == "p00"], rows[rows["depth"].isin(_MODERATE)]
    # What is pruned moderately and no further has no second rise.
    shallowest = shallowest[shallowest["layers"] < shallowest["model"].map(moderate.groupby("model")["layers"].min())]
    found = _gaps((shallowest, whole, moderate), (1, 1, -2), ["model"], "batch")
    return found or f"no model is scored with nothing, with 20 to 30 % and with more dropped at scale {frame.scale}"


def training_repairs(frame: Frame) -> Estimate | str:
    """By how much a trained pruned model's loss lies above the whole model's, less its fall in training; on the same
    triples, over models and depths."""
    rows, by = frame.select(**_LOSS), ["model", "depth"]
    after, before = (rows[rows["training"] == one].groupby(by)["value"].mean() for one in ("trained", "none"))
    whole = rows[(rows["training"] == "trained") & (rows["depth"] == "p00")].groupby("model")["value"].mean()
    values = (2 * after - before).sub(whole, level="model").drop("p00", level="depth", errors="ignore").dropna()
    if values.empty:
        return frame.reason(**_LOSS) or f"no pruned model beside a whole one at scale {frame.scale}"
    return mean_over_crossed(values, {name: values.index.get_level_values(name) for name in by})


def time_by_depth(frame: Frame) -> Estimate | str:
    """Percent of time for each percent of layers: slope of logarithms, mean over models; of one, over its depths."""
    import numpy as np

    rows = frame.select(part="cost").pivot_table(index=["model", "depth"], columns="metric", values="value")
    if "seconds" not in rows:
        return f"not run at scale {frame.scale}"
    each = {
        model: slope(np.log(part["layers"]), np.log(part["seconds"]), "depth")
        for model, part in rows[rows["seconds"] > 0].groupby("model")
        if part["layers"].nunique() > 1
    }
    if len(each) == 1:
        return next(iter(each.values()))
    return mean_over_units([one.value for one in each.values()], "model")


def less(first: str, second: str) -> Find:
    """The mean score of one depth less that of another, points, where every task has been scored."""

    def find(frame: Frame) -> Estimate | str:
        scored = mean_scores(frame).index
        rows = frame.select(part="scores", training="trained").set_index(["model", "depth", "seed"])
        rows = rows[(rows["dataset"] != "triples") & rows.index.isin(scored)].reset_index()
        sides = [rows[rows["depth"] == depth] for depth in (first, second)]
        found = _gaps(sides, (1, -1), ["model"], "example", "dataset")
        return found or frame.reason(part="scores") or f"not run at scale {frame.scale}"

    return find


def beside(way: str) -> Find:
    """The mean score of a neighbour less that of the plain encoder, points, from the rows of these two; mean over the
    depths of a model that both have every task at."""

    def find(frame: Frame) -> Estimate | str:
        shared = mean_scores(frame, "neighbours").index.intersection(mean_scores(frame).index)
        rows = frame.select(part=("neighbours", "scores"), training="trained", metric=SCORES)
        rows = rows.set_index(["model", "depth", "seed"])
        rows = rows[rows.index.isin(shared)].reset_index()
        sides = [rows[rows["way"] == name] for name in (way, "")]
        found = _gaps(sides, (1, -1), ["model"], "example", "dataset")
        return found or frame.reason(part="neighbours", way=way) or f"not run at scale {frame.scale}"

    return find


def hump(frame: Frame) -> Estimate | str:
    """The highest untrained loss between the two chosen layers, less the higher of theirs and twice the largest step
    from a layer to the next between them; nats, over models.

    Without a hump it is below 0. Between any two minima something is higher, also of layers in a random order:
    there a step leads half of the way up in all but 3 of 1,000 draws.
    """
    values = []
    for losses, small, large in curves(frame).values():
        between = losses.loc[small:large]
        steps = between.diff().abs().max() if large > small else 0.0
        values.append(float(between.max() - losses.loc[[small, large]].max() - 2 * steps))
    return mean_over_units(values, "model") if values else f"not run at scale {frame.scale}"


def peak_of_small(frame: Frame) -> Estimate | str:
    """Peak memory of training the small variant, GB (1e9 bytes), over models; the largest of a model's seeds."""
    rows = frame.select(part="cost", metric="peak_memory", depth="small")
    values = rows.groupby("model")["value"].max() / 1e9
    return mean_over_units(values, "model") if len(values) else f"not run at scale {frame.scale}"


WAYS = {"O8": "echo", "O9": "whitening", "O10": "block_cosine", "O11": "replace_me", "O12": "matryoshka"}
"""Neighbours of the plain encoder, by the claim on each."""
_TITLES = (
    "Echo", "Whitening", "Removing the block that changes a text least", "Replacing that block by a linear map",
    "2D Matryoshka, one training for all depths,",
)  # fmt: skip
CLAIMS = (
    Claim("O1", "Dropping 20 to 30 % of the layers costs little of what leaving the fewest costs (figure 4)",
          "difference of two rises of the loss, nats", ABOVE_ZERO, moderate_pruning),
    # That it lowers the loss at all could hardly fail.
    Claim("O2",
          "Training repairs a pruned model: it ends nearer to the whole model than to where it began (section 4.3)",
          "loss above the whole model's after training, less its own fall, nats", BELOW_ZERO, training_repairs),
    # That time grows with the layers could hardly fail.
    Claim("O3", "The time of training is in proportion to the layers that are kept, within a tenth (appendix A.3)",
          "percent of time for a percent of layers", Rule(0.9, 1.1), time_by_depth),
    # "Negligible" and "modest" losses cannot be told from four models: by the printed scores their means are -0.4 and
    # -5.2 with a reach of 1.3 and 2.7, beyond the worst of them. What they do decide is the order of the three.
    Claim("O4", "The large variant costs less than the small one (Table 1)", "mean score, large less small, points",
          ABOVE_ZERO, less("large", "small"), **_DEEP),
    Claim("O5", "The small variant costs something (Table 1; section 1: 4.4 to 6.9 points)",
          "mean score less that of the whole model, points", BELOW_ZERO, less("small", "p00"), **_DEEP),
    Claim("O6",
          "The untrained loss drops, rises and drops again over the layers, by more than single layers do (section"
          " 4.2)", "highest loss between the minima less theirs and twice the largest step between neighbours, nats",
          ABOVE_ZERO, hump, **_DEEP),
    Claim("O7", "The small variants are trained in at most 23.6 GB", "peak memory of training, GB", Rule(high=23.6),
          peak_of_small, only_at=("paper",), because=_OF_SIZE),
    *(
        Claim(name, f"{title} beats the plain encoder of the same depth (ours)",
              "mean score, less that of the plain encoder, points, mean over depths", ABOVE_ZERO, beside(way),
              {"part": ("neighbours", "scores"), "way": (way, "")})
        for (name, way), title in zip(WAYS.items(), _TITLES, strict=True)
    ),
)  # fmt: skip
TWINS = (
    Twin(("O2",), "no update: the pruned model before training", learned={"training": "trained"},
         rows={"training": "none", "seed": None}),
    Twin(("O1", "O6"), why_not="about depth and not about training: the loss before training is beside it by layer"),
    Twin(("O4", "O5"), why_not="two trainings from one start: the same untrained model would stand on both sides"),
    Twin(tuple(WAYS), why_not="both sides are trained alike from one start, or are one training"),
    Twin(("O3", "O7"), why_not="time and memory, whatever is learnt"),
)  # fmt: skip
