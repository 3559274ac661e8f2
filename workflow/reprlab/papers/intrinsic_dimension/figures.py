"""Figures of the paper that no record draws: the heat map of paradigms and the scatter of two estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reprlab.reporting.figures import CYCLE, MARKERS, panels, shared_legend
from reprlab.results.figures import nothing
from reprlab.results.frame import Rows, chosen
from reprlab.results.records import Drawn

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_heatmap(table: Rows, drawn: Drawn) -> Figure:
    """Mean difference in AUC, row minus column (Figure 4)."""
    found = chosen(table, {"estimator": "two_nn"})
    if found.empty:
        return nothing(table, drawn)
    names = list(dict.fromkeys([*found["condition_1"], *found["condition_2"]]))
    figure, axes = panels(1, 1, width=0.75 * len(names) + 1.5, height=0.6 * len(names) + 0.8)
    panel = axes[0][0]
    wide = found.pivot_table(index="condition_1", columns="condition_2", values="difference")
    wide = wide.reindex(index=names, columns=names)
    # The table holds each pair once; the other order has the other sign.
    square = wide.fillna(-wide.T).to_numpy(dtype=float)
    limit = max(float(found["difference"].abs().max()), 1e-9)
    image = panel.imshow(square, cmap="RdBu_r", vmin=-limit, vmax=limit)
    for row in range(len(names)):
        for column in range(len(names)):
            if row != column:
                # Both ends of the scale are dark.
                colour = "white" if abs(square[row, column]) > 0.6 * limit else "black"
                text = f"{square[row, column]:.1f}"
                panel.text(column, row, text, ha="center", va="center", fontsize=8, color=colour)
    panel.set_xticks(range(len(names)), names, rotation=45, ha="right")
    panel.set_yticks(range(len(names)), names)
    panel.grid(False)
    panel.set_title("AUC, row minus column")
    figure.colorbar(image, ax=panel, shrink=0.8)
    return figure


def draw_scatter(table: Rows, drawn: Drawn) -> Figure:
    """One point for each layer of each condition (Figure 46)."""
    if "pearson" not in table or table["pearson"].isna().all():
        return nothing(table, drawn)
    figure, axes = panels(1, 1, width=4.2, height=3.6)
    panel = axes[0][0]
    for (condition, rows), colour, marker in zip(table.groupby("condition", sort=False), CYCLE, MARKERS, strict=False):
        panel.scatter(rows["two_nn"], rows["levina_bickel"], s=9, color=colour, marker=marker, label=condition)
    found = f"r = {table['pearson'].iloc[0]:.2f} over {len(table)} points; 0.7 in the paper"
    panel.set(xlabel="TwoNN", ylabel="Levina-Bickel", title=found)
    shared_legend(figure, axes[0])
    return figure
