"""Claims of L3Prune: what is measured, over which units, and the rule, written before the numbers."""

from __future__ import annotations

from typing import Any

from reprlab.papers.overparameterized_encoders.tables_pruning import curves, mean_scores
from reprlab.results.claims import Claim, Find
from reprlab.results.frame import Frame, Rows
from reprlab.statistics import ABOVE_ZERO, BELOW_ZERO, Estimate, Rule, mean_over_crossed, mean_over_units, slope

_LOSS = {"part": "scores", "dataset": "triples", "metric": "contrastive_loss"}
_MODERATE = ("p20", "p25", "p30")
_DEEP: dict[str, Any] = {
    "only_at": ("paper",),
    "because": "specification, section 6: differences of scores and the shape of the curve are not visible in small",
}


_OF_SIZE = "the memory of models of 4 to 8 billion parameters is not that of small ones"


def _over(values: Rows, names: list[str]) -> Estimate:
    return mean_over_crossed(values, {name: values.index.get_level_values(name) for name in names})


def moderate_pruning(frame: Frame) -> Estimate | str:
    """By how much more the loss rises from moderate pruning to the shallowest model than from none to moderate."""
    rows = frame.select(**_LOSS, training="trained")
    by = ["model", "seed"]
    shallowest = rows[rows["layers"] == rows.groupby("model")["layers"].transform("min")]
    whole, moderate = rows[rows["depth"] == "p00"], rows[rows["depth"].isin(_MODERATE)]
    # What is pruned moderately and no further has no second rise.
    shallowest = shallowest[shallowest["layers"] < shallowest["model"].map(moderate.groupby("model")["layers"].min())]
    none, some, most = (part.groupby(by)["value"].mean() for part in (whole, moderate, shallowest))
    values = (most + none - 2 * some).dropna()
    if values.empty:
        return f"no model is scored with nothing, with 20 to 30 % and with more dropped at scale {frame.scale}"
    return _over(values, by)


def training_repairs(frame: Frame) -> Estimate | str:
    """The loss of the trained model less that of the same layers without training, on the same triples."""
    rows, by = frame.select(**_LOSS), ["model", "depth"]
    after, before = (rows[rows["training"] == one].groupby(by)["value"].mean() for one in ("trained", "none"))
    values = (after - before).dropna()
    return _over(values, by) if len(values) else f"not run at scale {frame.scale}"


def time_by_depth(frame: Frame) -> Estimate | str:
    """Percent of the whole model's training time for each percent of its layers, over models and depths."""
    rows = frame.select(part="cost").pivot_table(index=["model", "depth"], columns="metric", values="value")
    if "seconds" not in rows:
        return f"not run at scale {frame.scale}"
    whole = rows["seconds"].unstack("depth").reindex(columns=["p00"])["p00"].reindex(rows.index, level="model")
    if whole.isna().all():
        return f"no model is trained with nothing dropped at scale {frame.scale}"
    points = (100 * rows["layers"] / rows["of_layers"], 100 * rows["seconds"] / whole)
    known = points[1].notna()
    return slope(points[0][known].to_numpy(), points[1][known].to_numpy(), "depth of a model")


def against_whole(depth: str) -> Find:
    """The mean score of a variant less that of the whole model, where every task has been scored."""

    def find(frame: Frame) -> Estimate | str:
        scores = mean_scores(frame)
        by_depth = scores.unstack("depth").reindex(columns=[depth, "p00"])
        values = (by_depth[depth] - by_depth["p00"]).dropna()
        if values.empty:
            return frame.reason(part="scores") or f"not run at scale {frame.scale}"
        return _over(values, ["model", "seed"])

    return find


def hump(frame: Frame) -> Estimate | str:
    """The highest untrained loss between the two chosen layers, less the higher of theirs; nats, over models.

    Without a hump it is below 0; where nothing lies between them it is 0.
    """
    values = [
        losses.loc[small + 1 : large - 1].max() - losses.loc[[small, large]].max() if large - small > 1 else 0.0
        for losses, small, large in curves(frame).values()
    ]
    return mean_over_units(values, "model") if values else f"not run at scale {frame.scale}"


def peak_of_small(frame: Frame) -> Estimate | str:
    """Peak memory of training the small variant, GB (1e9 bytes), over models; the largest of a model's seeds."""
    rows = frame.select(part="cost", metric="peak_memory", depth="small")
    values = rows.groupby("model")["value"].max() / 1e9
    return mean_over_units(values, "model") if len(values) else f"not run at scale {frame.scale}"


_POINTS = "mean score less that of the whole model, points"
CLAIMS = (
    Claim("O1", "Dropping 20 to 30 % of the layers costs little of what leaving the fewest costs (figure 4)",
          "difference of two rises of the loss, nats", ABOVE_ZERO, moderate_pruning),
    Claim("O2",
          "Training repairs a pruned model: its loss falls far below that of the same layers untrained (section 4.3)",
          "loss after training less loss before, nats", BELOW_ZERO, training_repairs),
    Claim("O3", "The time of training grows with the layers that are kept (appendix A.3)",
          "percent of time for a percent of layers", ABOVE_ZERO, time_by_depth),
    Claim("O4", "The large variant loses at most what it loses at worst in Table 1, 1.5 points", _POINTS,
          Rule(low=-1.5), against_whole("large"), **_DEEP),
    Claim("O5", "The small variant loses at most what it loses at worst in Table 1, 6.9 points", _POINTS,
          Rule(low=-6.9), against_whole("small"), **_DEEP),
    Claim("O6", "The untrained loss drops, rises and drops again over the layers (section 4.2)",
          "highest loss between the minima less theirs, nats", ABOVE_ZERO, hump, **_DEEP),
    Claim("O7", "The small variants are trained in at most 23.6 GB", "peak memory of training, GB", Rule(high=23.6),
          peak_of_small, only_at=("paper",), because=_OF_SIZE),
)  # fmt: skip
