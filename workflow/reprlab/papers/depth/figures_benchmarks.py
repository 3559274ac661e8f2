"""Figures 4, 5 and 6: scores by pre-training step, ours and the paper's."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING

from reprlab.papers.depth.names import BENCHMARKS
from reprlab.reporting.figures import COLOURS, draw_curve, panels, say, shared_legend, step_axis
from reprlab.results.frame import Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from reprlab.results.records import Drawn

_TITLES = {
    "cola": "CoLA (Matthews)",
    "sst2": "SST-2",
    "mnli_m": "MNLI matched",
    "mnli_mm": "MNLI mismatched",
    "sp_arxiv": "SP arXiv",
    "sp_wiki": "SP Wiki",
    "sp_rocstory": "SP ROCStory",
    "dc_chat": "DC Chat",
    "dc_wiki": "DC Wiki",
    "rougeL": "NI (ROUGE-L)",
}
_COLUMNS = 4
_INITS = {"fs": "from scratch", "cpt": "continued"}
_NAMES = {"t5": "T5", "depth": "DEPTH"}
_MARKS = {"t5": "o", "depth": "s"}
_UNTRAINED = "untrained"


def draw_benchmark(table: str) -> Callable[[Rows, Drawn], Figure]:
    """One column of panels per task.

    At paper scale the printed curves lie faintly behind ours. At the other scales the steps, models and data differ,
    so the paper's curves have rows of their own below.
    """

    def draw(ours: Rows, drawn: Drawn) -> Figure:
        return _draw(ours, drawn.printed[table], BENCHMARKS[table], drawn.scale)

    return draw


def _draw(ours: Rows, printed: Rows, columns: tuple[str, ...], scale: str) -> Figure:
    numbers = printed.assign(**{name: printed[name].astype(float) for name in (*columns, "step")})
    together = scale == "paper"
    rows = [(init, source) for init in _INITS for source in (("both",) if together else ("ours", "paper"))]
    wide = len(columns) == 1
    # One task, and more than four, have rows: the figure is neither a tower nor too wide to read.
    turned = wide or len(columns) > _COLUMNS
    shape = (len(columns), len(rows)) if turned else (len(rows), len(columns))
    figure, axes = panels(*shape, width=2.75 if wide else 2.35, height=2.6 if wide else 1.95)
    flat = [axes[c][k] if turned else axes[k][c] for k in range(len(rows)) for c in range(len(columns))]
    cells = [(row, column) for row in rows for column in columns]
    for panel, ((init, source), column) in zip(flat, cells, strict=True):
        title = _INITS[init].capitalize() if turned else _TITLES[column]
        label = {"both": "", "ours": f"this run ({scale})", "paper": "the paper"}[source]
        panel.set_title(f"{title}:\n{label}" if turned and label else title)
        if source in ("ours", "both"):
            _ours(panel, ours, init, column)
        if source in ("paper", "both"):
            _paper(panel, numbers, init, column, faint=source == "both")
        if turned and (init, source) == rows[0]:
            panel.set_ylabel(_TITLES[column])
        elif not turned and column == columns[0]:
            panel.set_ylabel(f"{_INITS[init]}\n{label}" if label else _INITS[init])
        if source == "paper":
            panel.set_xlabel("pre-training step")
    shared_legend(figure, flat)
    return figure


def _ours(panel: Axes, ours: Rows, init: str, column: str) -> None:
    rows = ours[ours["init"] == init].dropna(subset=[column])
    if rows.empty:
        say(panel, str(ours[f"data_{column}"].iloc[0]) if f"data_{column}" in ours else str(ours["note"].iloc[0]))
        return
    _curves(panel, rows, column)
    beside = ours[ours["init"] == "baseline"].groupby("model")[column].mean().dropna()
    without = beside.drop(_UNTRAINED, errors="ignore")
    if len(without):
        panel.axhline(without.max(), color="#777777", linestyle="-.", linewidth=1.2, label="Hardest without a model")
    if _UNTRAINED in beside:
        panel.axhline(beside[_UNTRAINED], color="#777777", linestyle=(0, (1, 3)), linewidth=1.2, label="Untrained")
    step_axis(panel, rows["step"].dropna().tolist())
    # The column bears the benchmark's name; what fills it is below.
    panel.set_xlabel(textwrap.fill(f"pre-training step; data: {rows[f'data_{column}'].iloc[0]}", 34), fontsize=7)


def _paper(panel: Axes, printed: Rows, init: str, column: str, *, faint: bool) -> None:
    rows = printed[printed["init"] == init]
    _curves(panel, rows, column, faint=faint)
    released = printed[(printed["init"] == "public") & (printed["split"] == "validation")][column]
    if len(released):
        panel.axhline(released.iloc[0], color=COLOURS["t5-base"], linewidth=1.0, label="T5-Base, printed", alpha=0.6)
    step_axis(panel, rows["step"].tolist())


def _curves(panel: Axes, rows: Rows, column: str, *, faint: bool = False) -> None:
    for model, name in _NAMES.items():
        style = {"color": COLOURS[model], "marker": _MARKS[model], "label": f"{name}, printed" if faint else name}
        own = rows[rows["model"] == model]
        draw_curve(panel, own, column, low=f"low_{column}", high=f"high_{column}", faint=faint, **style)
