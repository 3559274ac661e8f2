"""DEPTH's figures: which function draws which, from which table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.papers.depth.figures_benchmarks import draw_benchmark
from reprlab.papers.depth.figures_losses import (
    draw_decomposition,
    draw_losses,
    draw_packing,
    draw_variants,
    draw_weights,
)
from reprlab.papers.depth.published import PUBLISHED
from reprlab.reporting.figures import house_style, save_figure, table_of
from reprlab.reporting.published import read_published
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    Draw = Callable[[pandas.DataFrame, dict[str, pandas.DataFrame], str], Figure]

FIGURES: dict[str, tuple[str, Draw]] = {
    "fig_glue": ("glue", lambda ours, printed, scale: draw_benchmark("glue", ours, printed["glue"], scale)),
    "fig_discoeval": (
        "discoeval",
        lambda ours, printed, scale: draw_benchmark("discoeval", ours, printed["discoeval"], scale),
    ),
    "fig_ni": ("ni", lambda ours, printed, scale: draw_benchmark("ni", ours, printed["ni"], scale)),
    "loss_fs": ("loss_fs", draw_losses),
    "loss_cpt": ("loss_cpt", draw_losses),
    "loss_decomposition": ("loss_decomposition", draw_decomposition),
    "packing_lr": ("packing_lr", draw_packing),
    "sentence_weight": ("sentence_weight", draw_weights),
    "padding_in_loss": ("padding_in_loss", draw_variants),
    "int8_bug": ("int8_bug", draw_variants),
}


def plot(figure: str, tables: Sequence[Path], published: Sequence[Path], scale: str, files: Sequence[Path]) -> None:
    """Draw one figure.

    Raises:
        ReprlabError: no such figure, or its table was not given.
    """
    if figure not in FIGURES:
        raise ReprlabError(f"{figure}: depth has no such figure; it has {', '.join(FIGURES)}")
    table, draw = FIGURES[figure]
    with house_style():
        save_figure(draw(table_of(figure, table, tables), read_published(published, PUBLISHED), scale), files)
