"""Curves over layers, steps and numbers of demonstrations, and the scatter of two estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reprlab.papers.intrinsic_dimension.measures import Frame
from reprlab.reporting.figures import CYCLE, MARKERS, panels, say, shared_legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_layers(frame: Frame, scale: str) -> Figure:
    """TwoNN by layer, a panel for each model and data set, a curve for each paradigm (Figures 1b, 29 to 36)."""
    found = frame[(frame["estimator"] == "two_nn") & (frame["experiment"] == "comparison")]
    groups = list(found.groupby(["model", "dataset"], sort=False))
    figure, axes = panels(1, len(groups))
    for panel, ((model, dataset), rows) in zip(axes[0], groups, strict=True):
        for (condition, curve), colour in zip(rows.groupby("condition", sort=False), CYCLE * 9, strict=False):
            curve = curve.sort_values("layer")
            panel.plot(curve["layer"], curve["id"], label=condition, color=colour)
        panel.set(title=f"{model}\n{dataset}", xlabel="layer", ylabel="intrinsic dimension (TwoNN)")
    shared_legend(figure, axes[0])
    figure.suptitle(f"Scale {scale}")
    return figure


def draw_dynamics(frame: Frame, scale: str) -> Figure:
    """Accuracy above, AUC below, against step or k; a column for each model and data set, a curve for each split."""
    if frame.empty:
        figure, axes = panels(1, 1)
        say(axes[0][0], f"not run at scale {scale}")
        return figure
    axis = "step" if "step" in frame else "k"
    area = next(name for name in ("auc_paper", "auc_upstream") if name in frame)
    frame = frame if "split" in frame else frame.assign(split="validation")
    groups = list(frame.groupby(["model", "dataset"], sort=False))
    figure, axes = panels(2, len(groups))
    for column, ((model, dataset), rows) in enumerate(groups):
        above, below = axes[0][column], axes[1][column]
        for (split, curve), colour, marker in zip(rows.groupby("split"), CYCLE, MARKERS, strict=False):
            curve = curve.sort_values(axis)
            style: Any = {"color": colour, "marker": marker, "label": split}
            above.plot(curve[axis], curve["accuracy"], **style)
            above.fill_between(curve[axis], curve["low"], curve["high"], color=colour, alpha=0.15, linewidth=0)
            below.plot(curve[axis], curve[area], **style)
            below.fill_between(curve[axis], curve["auc_low"], curve["auc_high"], color=colour, alpha=0.15, linewidth=0)
        chance = rows.loc[rows["split"] == "validation", "majority"].iloc[-1]
        above.axhline(chance, color="#666666", linestyle=":", label="most frequent class")
        above.set(title=f"{model}\n{dataset}", ylabel="accuracy")
        below.set(xlabel=axis, ylabel=f"normalised AUC ({area.removeprefix('auc_')})")
    shared_legend(figure, axes[0])
    figure.suptitle(f"Scale {scale}")
    return figure


def draw_scatter(frame: Frame, scale: str) -> Figure:
    """One point for each layer of each condition (Figure 46)."""
    figure, axes = panels(1, 1, width=4.2, height=3.6)
    panel = axes[0][0]
    for (condition, rows), colour, marker in zip(frame.groupby("condition", sort=False), CYCLE, MARKERS, strict=False):
        panel.scatter(rows["two_nn"], rows["levina_bickel"], s=9, color=colour, marker=marker, label=condition)
    found = (
        f"r = {frame['pearson'].iloc[0]:.2f} over {len(frame)} points; 0.7 in the paper" if len(frame) else "no points"
    )
    panel.set(xlabel="TwoNN", ylabel="Levina-Bickel", title=f"{found}\nscale {scale}")
    shared_legend(figure, axes[0])
    return figure
