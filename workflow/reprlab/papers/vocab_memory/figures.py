"""The paper's figures: which function draws which, from which table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.reporting.figures import CYCLE, MARKERS, house_style, panels, save_figure, shared_legend, table_of
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


def draw_trend(frame: pandas.DataFrame, scale: str) -> Figure:
    """Figure 2: unique tokens by tokens, a point for each data set, and the vocabulary's size as the limit."""
    figure, axes = panels(1, 1, width=4.6, height=3.0)
    one = axes[0][0]
    style: dict[str, Any]
    for number, (tokenizer, rows) in enumerate(frame.groupby("tokenizer", sort=False)):
        style = {
            "color": CYCLE[number % len(CYCLE)],
            "marker": MARKERS[number % len(MARKERS)],
            "linestyle": "",
        }
        one.plot(rows["tokens"], rows["unique"], label=f"{tokenizer} ({rows['vocabulary'].iloc[0]:,})", **style)
        one.axhline(rows["vocabulary"].iloc[0], color=CYCLE[number % len(CYCLE)], linestyle=":", linewidth=1)
    # One name for each data set, at its highest point; vocabularies grow with tokens, so there is room up and left.
    style = {"textcoords": "offset points", "fontsize": 7, "ha": "right", "rotation": -30, "rotation_mode": "anchor"}
    for top in frame.sort_values("unique").drop_duplicates("task", keep="last").to_dict("records"):
        one.annotate(str(top["task"]), (top["tokens"], top["unique"]), (-3, 4), **style)
    one.set_xscale("log")
    one.set_xlim(left=frame["tokens"].min() / 3)
    one.set_xlabel("tokens")
    one.set_ylabel("unique tokens")
    one.set_ylim(bottom=0)
    one.set_title(f"Vocabulary use by data set ({scale})")
    shared_legend(figure, [one])
    return figure


def draw_memory(frame: pandas.DataFrame, scale: str) -> Figure:
    """Peak memory of fine-tuning with and without PEMA, a pair of bars for each data set."""
    import numpy as np

    figure, axes = panels(1, 1, width=4.6, height=2.6)
    one = axes[0][0]
    places = np.arange(len(frame))
    one.bar(places - 0.2, frame["peak_whole_mb"], 0.38, label="whole matrix", color=CYCLE[0])
    one.bar(places + 0.2, frame["peak_mb"], 0.38, label="PEMA", color=CYCLE[1])
    one.set_xticks(places, list(frame["task"]))
    one.set_ylabel("peak memory (MB)")
    one.set_title(f"{frame['model'].iloc[0]}, measured ({scale})")
    shared_legend(figure, [one])
    return figure


FIGURES: dict[str, tuple[str, Callable[[pandas.DataFrame, str], Figure]]] = {
    "fig2_vocab_trend": ("fig2_vocab_trend", draw_trend),
    "fig_memory": ("table9_runtime", draw_memory),
}


def plot(figure: str, tables: Sequence[Path], published: Sequence[Path], scale: str, files: Sequence[Path]) -> None:
    """Draw one figure. The paper prints no numbers behind its own, so none stand beside ours.

    Raises:
        ReprlabError: no such figure, or its table was not given.
    """
    if figure not in FIGURES:
        raise ReprlabError(f"{figure}: vocab-memory has no such figure; it has {', '.join(FIGURES)}")
    table, draw = FIGURES[figure]
    with house_style():
        save_figure(draw(table_of(figure, table, tables), scale), files)
