"""The paper's figures: which function draws which, from which table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.papers.amuro_char.figures_bars import draw_final_formats, draw_gains, draw_ood
from reprlab.papers.amuro_char.figures_curves import draw_curves, draw_fewshot, draw_formats
from reprlab.papers.amuro_char.figures_names import CAPTIONS, FIGURES
from reprlab.reporting.figures import house_style, save_figure, table_of
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    Draw = Callable[[pandas.DataFrame, str, str], Figure]

# (table, name of the figure, scale) -> figure; those that are not named draw curves.
DRAWN: dict[str, Draw] = {
    "fig2_fig14_format": draw_formats,
    "fig3": draw_final_formats,
    "fig5": draw_ood,
    "fig15": draw_ood,
    "fig6_fewshot_base": draw_fewshot,
    "fig8": draw_gains,
}


def plot(figure: str, tables: Sequence[Path], published: Sequence[Path], scale: str, files: Sequence[Path]) -> None:
    """Draw one figure. The paper's figures print no numbers, so `published` is not drawn.

    Raises:
        ReprlabError: no such figure, or its table was not given.
    """
    if figure not in FIGURES:
        raise ReprlabError(f"{figure}: amuro-char has no such figure; it has {', '.join(CAPTIONS)}")
    frame = table_of(figure, FIGURES[figure], tables)
    for column in ("ckpt", "checkpoints"):
        if column in frame:
            frame[column] = frame[column].astype(str)
    with house_style():
        save_figure(DRAWN.get(figure, draw_curves)(frame, figure, scale), files)
