"""One house style for all figures, and PNG, SVG and PDF files whose bytes depend on the numbers alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.reporting.description import DATA, describe
from reprlab.reporting.finishing import finish, short_step, too_few
from reprlab.runtime.files import atomic_file

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette: told apart by colour-blind readers, and in grey by their markers.
COLOURS = {"t5": "#0072B2", "depth": "#D55E00", "t5-base": "#333333"}
CYCLE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES: Any = ("-", (0, (6, 1.2)), (0, (6, 1.2, 1.2, 1.2)), "-", (0, (3, 1)), (0, (3, 1, 1, 1, 1, 1)), "-")
"""A line that says nothing else gets its marker and its dashes by its place, beside its colour."""
_TITLE_LETTERS = 13
"""Letters of a title that fit in an inch."""
_SMALL_LETTERS = 15
"""Small letters that fit in an inch."""
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
    "savefig.dpi": 200,
    "svg.hashsalt": "reprlab",
    "svg.fonttype": "path",
    # Names and texts of data are in titles, ticks and legends: a dollar in them is a dollar.
    "text.parse_math": False,
}


@contextmanager
def house_style() -> Iterator[None]:
    """Draw inside this block; it needs no display."""
    import matplotlib
    from cycler import cycler

    matplotlib.use("Agg")
    cycle = cycler(color=CYCLE, marker=MARKERS, linestyle=DASHES)
    with matplotlib.rc_context(_STYLE | {"axes.prop_cycle": cycle}):
        yield


def save_figure(
    figure: Figure, files: Sequence[Path], labels: Mapping[str, str] | None = None, title: str = ""
) -> None:
    """Finish a figure and write its files, which say in words what is seen, without dates: equal numbers, equal bytes.

    The endings of `files` name their formats: png, svg, pdf. `labels` are people's words for the names of the workflow
    that are in legends, titles and ticks. `title` is the figure's, above a line that it has of its own; a panel with
    too few points for a figure says so in its place.
    """
    import matplotlib.pyplot

    for axes in figure.axes:
        if reason := too_few(axes):
            _emptied(axes, reason)
    finish(figure, labels or {})
    _renew_legend(figure)
    if title:
        name_figure(figure, title)
    words = "\n".join(filter(None, [title, describe(figure)]))
    metadata: dict[str, dict[str, Any]] = {
        "png": {"Software": None, "Description": words},
        "svg": {"Date": None, "Creator": None, "Description": words},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None, "Subject": words},
    }
    for path in files:
        ending = path.suffix.removeprefix(".")
        with atomic_file(path) as temporary:
            figure.savefig(temporary, format=ending, metadata=metadata[ending])
    matplotlib.pyplot.close(figure)


def panels(rows: int, columns: int, *, width: float = 3.1, height: float = 2.4) -> tuple[Figure, list[list[Axes]]]:
    """A grid of panels, each of `width` by `height` inches."""
    import matplotlib.pyplot

    size = (max(width * columns, 4.6), height * rows + 0.7)
    figure, axes = matplotlib.pyplot.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    return figure, [list(row) for row in axes]


def draw_curve(
    axes: Axes,
    frame: pandas.DataFrame,
    column: str,
    *,
    low: str,
    high: str,
    x: str = "step",
    faint: bool = False,
    **style: Any,
) -> None:
    """Draw `column` against `x`: the mean over seeds, with the interval of a single seed or the range of several."""
    rows = frame.dropna(subset=[x, column])
    if rows.empty:
        return
    by_step = rows.groupby(x, sort=True)
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


def name_panel(axes: Axes, title: str, data: str = "") -> None:
    """Title of a panel, and below it in small letters the true name of the data that fill it, as wide as the panel."""
    import textwrap

    place = axes.get_subplotspec()
    share = place.get_gridspec().ncols if place else 1
    figure = axes.get_figure()
    inches = figure.get_figwidth() / share if figure else 3.0  # type: ignore[union-attr]
    lines = textwrap.wrap(data, max(16, int(inches * _SMALL_LETTERS)))
    axes.set_title(title, pad=5 + 9 * len(lines))
    if lines:
        at: Any = {"xytext": (0, 3), "textcoords": "offset points", "ha": "center", "va": "bottom"}
        axes.annotate(
            "\n".join(lines), (0.5, 1), xycoords="axes fraction", fontsize=7, color="#555555", label=DATA, **at
        )


def draw_lines(
    axes: Axes,
    frame: pandas.DataFrame,
    *,
    x: str,
    y: str,
    by: str,
    order: Sequence[Any],
    low: str = "",
    high: str = "",
) -> None:
    """A curve of `y` against `x` for each value of `by`, with a band from `low` to `high` where they are columns.

    A value's colour, marker and dashes follow from its place in `order`, so that they are the same in all panels.
    """
    for number, value in enumerate(order):
        # Markers and dashes take another turn at each round of colours, so that no two of up to 49 curves look alike.
        turn = number + number // len(CYCLE)
        colour, marker, dash = CYCLE[number % len(CYCLE)], MARKERS[turn % len(MARKERS)], DASHES[turn % len(DASHES)]
        style: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": dash, "label": str(value)}
        draw_curve(axes, frame[frame[by] == value], y, x=x, low=low, high=high, **style)


def name_figure(figure: Figure, title: str) -> None:
    """Put a title above a figure, as wide as it, over the line that it has already."""
    import textwrap

    below = figure.get_suptitle()
    width = max(24, int(figure.get_figwidth() * _TITLE_LETTERS))
    lines = [*textwrap.wrap(title, width), *textwrap.wrap(below, int(width * 1.1))]
    figure.suptitle("\n".join(lines), fontsize=10)


def _emptied(axes: Axes, reason: str) -> None:
    """Take what is drawn out of a panel, and say why; its title stays."""
    title, data = axes.get_title(), [text.get_text() for text in axes.texts if text.get_label() == DATA]
    axes.clear()
    axes.set_xscale("linear")
    name_panel(axes, title, " ".join(" ".join(data).split()))
    say(axes, reason)


def _renew_legend(figure: Figure) -> None:
    """Lay out the legend again: names have become words, and an emptied panel may have been the last with some."""
    for legend in list(figure.legends):
        legend.remove()
        shared_legend(figure, figure.axes)


def say(axes: Axes, text: str) -> None:
    """A panel that has no data says why; a long name of a setting is cut at its dots."""
    import re
    import textwrap

    lines = textwrap.wrap(re.sub(r"\.(?=\w)", ".\0 ", text), 26)
    axes.text(
        0.5,
        0.5,
        "\n".join(lines).replace("\0 ", "").replace("\0", ""),
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
        # The layout takes the legend's room from the panels: more than two rows get their own.
        figure.set_figheight(figure.get_figheight() + 0.2 * max(rows - 2, 0))
        figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=-(-len(entries) // rows))
