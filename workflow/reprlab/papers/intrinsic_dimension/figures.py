"""Figures of the paper on intrinsic dimension: which function draws which, from which table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.papers.intrinsic_dimension.figures_curves import draw_dynamics, draw_layers, draw_scatter
from reprlab.papers.intrinsic_dimension.figures_paradigms import draw_by_condition, draw_by_model, draw_heatmap
from reprlab.papers.intrinsic_dimension.measures import Frame
from reprlab.reporting.figures import house_style, save_figure, table_of
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    Draw = Callable[[Frame, str], Figure]

FIGURES: dict[str, tuple[str, Draw]] = {
    "id_layers": ("id_layers", draw_layers),
    "auc_heatmap": ("auc_heatmap", draw_heatmap),
    "auc_by_condition": ("auc", draw_by_condition),
    "auc_by_model": ("auc", draw_by_model),
    "sft_dynamics": ("sft_dynamics", draw_dynamics),
    "icl_dynamics": ("icl_dynamics", draw_dynamics),
    "icl_unique": ("icl_unique", draw_dynamics),
    "twonn_vs_mle": ("twonn_vs_mle", draw_scatter),
}


def plot(figure: str, tables: Sequence[Path], published: Sequence[Path], scale: str, files: Sequence[Path]) -> None:
    """Draw one figure. The paper's figures print no numbers, so `published` is not drawn.

    Raises:
        ReprlabError: no such figure, or its table was not given.
    """
    if figure not in FIGURES:
        raise ReprlabError(f"{figure}: intrinsic-dimension has no such figure; it has {', '.join(FIGURES)}")
    table, draw = FIGURES[figure]
    with house_style():
        save_figure(draw(table_of(figure, table, tables), scale), files)
