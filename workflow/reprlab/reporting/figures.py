"""One house style for all figures, and PNG and SVG files whose bytes depend on the numbers alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.tables import read_tsv
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import atomic_file

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette: told apart by colour-blind readers, and in grey by their markers.
COLOURS = {"t5": "#0072B2", "depth": "#D55E00", "t5-base": "#333333"}
CYCLE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "figure.dpi": 100,
    "savefig.dpi": 150,
    "svg.hashsalt": "reprlab",
    "svg.fonttype": "path",
}


def table_of(figure: str, table: str, tables: Sequence[Path]) -> pandas.DataFrame:
    """The table that a figure is drawn from, found among `tables` by its file name.

    Raises:
        ReprlabError: it was not given.
    """
    path = next((path for path in tables if path.stem == table), None)
    if path is None:
        raise ReprlabError(f"{figure}: needs {table}.tsv; pass it with --tables")
    return read_tsv(path)


@contextmanager
def house_style() -> Iterator[None]:
    """Draw inside this block; it needs no display."""
    import matplotlib

    matplotlib.use("Agg")
    with matplotlib.rc_context(_STYLE):
        yield


def save_figure(figure: Figure, png: Path, svg: Path) -> None:
    """Write both files without dates, so that equal numbers are equal bytes."""
    import matplotlib.pyplot

    with atomic_file(svg) as temporary:
        figure.savefig(temporary, format="svg", metadata={"Date": None, "Creator": None})
    with atomic_file(png) as temporary:
        figure.savefig(temporary, format="png", metadata={"Software": None})
    matplotlib.pyplot.close(figure)


def panels(rows: int, columns: int, *, width: float = 3.1, height: float = 2.4) -> tuple[Figure, list[list[Axes]]]:
    """A grid of panels, each of `width` by `height` inches."""
    import matplotlib.pyplot

    size = (max(width * columns, 4.6), height * rows + 0.7)
    figure, axes = matplotlib.pyplot.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    return figure, [list(row) for row in axes]


def draw_curve(
    axes: Axes, frame: pandas.DataFrame, column: str, *, low: str, high: str, faint: bool = False, **style: Any
) -> None:
    """Draw `column` against `step`: the mean over seeds, with the interval of a single seed or the range of several."""
    rows = frame.dropna(subset=["step", column])
    if rows.empty:
        return
    by_step = rows.groupby("step", sort=True)
    middle = by_step[column].mean()
    line: dict[str, Any] = {"alpha": 0.45, "linestyle": "--"} if faint else {}
    axes.plot(middle.index, middle, **(line | style))
    if faint or low not in rows or high not in rows:
        return
    several = by_step[column].nunique().max() > 1
    lower, upper = (
        (by_step[column].min(), by_step[column].max()) if several else (by_step[low].min(), by_step[high].max())
    )
    axes.fill_between(
        middle.index, lower.astype(float), upper.astype(float), color=style.get("color"), alpha=0.15, linewidth=0
    )


def step_axis(axes: Axes, steps: Sequence[float]) -> None:
    """A logarithmic axis of steps with a tick at each power of ten, or at the steps where they are few."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    known = sorted({int(step) for step in steps if step > 0})
    if not known:
        return
    axes.set_xscale("log", base=2)
    shown = known if len(known) <= 5 else known[:: -(-len(known) // 5)]
    axes.xaxis.set_major_locator(FixedLocator(shown))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short_step(value)))
    axes.set_xlim(known[0] / 1.25, known[-1] * 1.25)


def short_step(step: float) -> str:
    """2000 as 2k, 1000000 as 1M, 400 as 400."""
    if step >= 1_000_000:
        return f"{step / 1_000_000:g}M"
    return f"{step / 1000:g}k" if step >= 1000 else f"{step:g}"


def say(axes: Axes, text: str) -> None:
    """A panel that has no data says why."""
    import textwrap

    axes.text(
        0.5,
        0.5,
        textwrap.fill(text, 24),
        ha="center",
        va="center",
        transform=axes.transAxes,
        color="#666666",
        fontsize=8.5,
    )
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)


def shared_legend(figure: Figure, axes: Sequence[Axes]) -> None:
    """One legend below all panels, each label once."""
    entries: dict[str, Any] = {}
    for one in axes:
        for handle, label in zip(*one.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if entries:
        # An entry takes its text and about half an inch for the line; rows are filled evenly.
        longest = max(len(label) for label in entries) * 0.075 + 0.6
        fitting = max(1, int(figure.get_figwidth() / longest))
        rows = -(-len(entries) // fitting)
        figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=-(-len(entries) // rows))
