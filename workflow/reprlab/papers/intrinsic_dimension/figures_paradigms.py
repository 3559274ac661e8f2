"""Areas under the curves by paradigm and by model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reprlab.papers.intrinsic_dimension.measures import Frame
from reprlab.reporting.figures import CYCLE, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_heatmap(frame: Frame, scale: str) -> Figure:
    """Mean difference in AUC, row minus column (Figure 4)."""
    found = frame[frame["estimator"] == "two_nn"]
    value = next(name for name in found if name.startswith("difference_"))
    names = list(dict.fromkeys([*found["condition_1"], *found["condition_2"]]))
    figure, axes = panels(1, 1, width=0.75 * len(names) + 1.5, height=0.6 * len(names) + 0.8)
    panel = axes[0][0]
    wide = found.pivot_table(index="condition_1", columns="condition_2", values=value)
    wide = wide.reindex(index=names, columns=names)
    # The table holds each pair once; the other order has the other sign.
    square = wide.fillna(-wide.T).to_numpy(dtype=float)
    limit = max(float(found[value].abs().max()), 1e-9)
    image = panel.imshow(square, cmap="RdBu_r", vmin=-limit, vmax=limit)
    for row in range(len(names)):
        for column in range(len(names)):
            if row != column:
                # Both ends of the scale are dark.
                colour = "white" if abs(square[row, column]) > 0.6 * limit else "black"
                panel.text(
                    column, row, f"{square[row, column]:.1f}", ha="center", va="center", fontsize=8, color=colour
                )
    panel.set_xticks(range(len(names)), names, rotation=45, ha="right")
    panel.set_yticks(range(len(names)), names)
    panel.grid(False)
    panel.set_title(f"AUC, row minus column ({value.removeprefix('difference_')}); scale {scale}")
    figure.colorbar(image, ax=panel, shrink=0.8)
    return figure


def draw_by_condition(frame: Frame, scale: str) -> Figure:
    """Distribution of AUC over models and data sets, by paradigm (Figure 5)."""
    found, area = _comparison(frame)
    figure, axes = panels(1, 1, width=5.0, height=3.0)
    _boxes(axes[0][0], found, "condition", area)
    axes[0][0].set(ylabel=f"normalised AUC ({area.removeprefix('auc_')})", title=f"Scale {scale}")
    return figure


def draw_by_model(frame: Frame, scale: str) -> Figure:
    """Distribution of AUC over data sets, by model, a panel for each paradigm (Figures 6, 40 to 45)."""
    found, area = _comparison(frame)
    groups = list(found.groupby("condition", sort=False))
    figure, axes = panels(1, len(groups), width=2.2)
    for panel, (condition, rows) in zip(axes[0], groups, strict=True):
        _boxes(panel, rows, "model", area)
        panel.set(title=condition)
        panel.tick_params(axis="x", rotation=30)
    axes[0][0].set_ylabel(f"normalised AUC ({area.removeprefix('auc_')})")
    figure.suptitle(f"Scale {scale}")
    return figure


def _comparison(frame: Frame) -> tuple[Frame, str]:
    """TwoNN in the comparison of paradigms, and the column of the chosen AUC."""
    found = frame[(frame["estimator"] == "two_nn") & (frame["experiment"] == "comparison")]
    return found, f"auc_{frame['norm'].iloc[0]}"


def _boxes(panel: Axes, frame: Frame, by: str, area: str) -> None:
    groups: list[tuple[Any, Any]] = [(name, rows[area].dropna()) for name, rows in frame.groupby(by, sort=False)]
    panel.boxplot([values for _, values in groups], tick_labels=[str(name) for name, _ in groups], showfliers=False)
    for place, (_, values) in enumerate(groups, start=1):
        panel.scatter([place] * len(values), values, s=12, color=CYCLE[0], zorder=3)
