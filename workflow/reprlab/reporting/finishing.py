"""Finishing touches of every figure: whole numbers on axes of counts, covered lines told apart, plain words."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_FEW_TICKS = 6
_DIGIT = 0.035
"""Width of a digit as a share of a panel's."""
_LONGEST = 5
"""Digits of a tick whose power of ten is at the end of the axis."""
_COVERED = 0.012
"""Share of a panel's height within which two lines look like one: about a line's width."""
_APART = 2.0
"""Points between lines that would cover each other."""


def finish(figure: Figure, labels: Mapping[str, str]) -> None:
    """Finish all panels of a figure. `labels` are the words for names of the workflow (`icl_0`: no demonstrations)."""
    for axes in figure.axes:
        whole_ticks(axes)
        short_powers(axes)
        tell_apart(axes)
    name_texts(figure, labels)


def whole_ticks(axes: Axes) -> None:
    """Ticks of a linear x axis at whole numbers where all its points are at whole numbers (layers, steps, counts).

    Few different points get a tick each, where there is room for their numbers.
    """
    from matplotlib.ticker import AutoLocator, FixedLocator, MaxNLocator

    points = sorted({x for line in _curves(axes) for x, _ in _points(line)})
    if not points or type(axes.xaxis.get_major_locator()) is not AutoLocator:
        return
    if any(not point.is_integer() for point in points):
        return
    # Room for the widest number and a space, as a share of a panel of a grid.
    room = (min(max(len(f"{point:g}") for point in points), _LONGEST) + 1) * _DIGIT
    gaps = [after - before for before, after in itertools.pairwise(points)]
    few = len(points) <= _FEW_TICKS and (not gaps or min(gaps) >= room * (points[-1] - points[0]))
    most = MaxNLocator(nbins=int(1 / room), integer=True, min_n_ticks=2)
    axes.xaxis.set_major_locator(FixedLocator(points) if few else most)


def short_step(step: float) -> str:
    """2000 as 2k, 1000000 as 1M, 400 as 400."""
    if step >= 1_000_000:
        return f"{step / 1_000_000:g}M"
    return f"{step / 1000:g}k" if step >= 1000 else f"{step:g}"


def short_powers(axes: Axes) -> None:
    """Ticks of a decimal logarithmic x axis at 1, 2 and 5 times the powers of ten, as 20k: its own would overlap."""
    from matplotlib.ticker import FuncFormatter, LogFormatterSciNotation, LogLocator, NullLocator

    if isinstance(axes.xaxis.get_major_formatter(), LogFormatterSciNotation) and axes.get_xlim()[0] >= 1:
        low, high = axes.get_xlim()
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 1000 else (1,)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short_step(value)))


def tell_apart(axes: Axes) -> None:
    """Draw lines that would cover each other side by side, a line's width apart; no number is read that finely."""
    from matplotlib.transforms import ScaledTranslation

    height = axes.get_window_extent().height / axes.figure.dpi
    ends = [0.0, 1.0]
    for lines in _covering(_curves(axes)):
        for place, line in enumerate(lines):
            shift = (place - (len(lines) - 1) / 2) * _APART / 72
            ends += [one + shift / height for one in _heights(line).values()]
            line.set_transform(axes.transData + ScaledTranslation(0, shift, axes.get_figure().dpi_scale_trans))  # type: ignore[union-attr]
            line.set_clip_on(False)
    # What was moved out of a panel would be in its labels.
    if axes.get_yscale() == "linear" and (min(ends) < 0 or max(ends) > 1):
        low, high = axes.get_ylim()
        axes.set_ylim(low + min(ends) * (high - low), low + max(ends) * (high - low))


def _curves(axes: Axes) -> list[Line2D]:
    """Lines through points of the data; not those across the whole panel."""
    return [line for line in axes.lines if line.get_transform() == axes.transData and len(_points(line))]


def _points(line: Line2D) -> Any:
    """x and y of a line, as an array (points, 2) of floats."""
    return line.get_xydata()


def _covering(lines: list[Line2D]) -> list[list[Line2D]]:
    """Groups of lines of which each covers another one, in the order in which they are drawn."""
    groups = [[line] for line in lines if line.get_linestyle() != "None"]
    for one, other in itertools.combinations([group[0] for group in groups], 2):
        if _cover(one, other):
            first, second = (next(group for group in groups if line in group) for line in (one, other))
            if first is not second:
                first += second
                groups.remove(second)
    return [group for group in groups if len(group) > 1]


def _cover(one: Line2D, other: Line2D) -> bool:
    """Whether at most of the places that two lines share, their heights in the panel are the same to the eye."""
    places = [_heights(line) for line in (one, other)]
    shared = places[0].keys() & places[1].keys()
    close = [place for place in shared if abs(places[0][place] - places[1][place]) < _COVERED]
    return 2 * len(close) > len(shared)


def _heights(line: Line2D) -> dict[float, float]:
    """Height of each point as a share of the panel's, by its place on the x axis."""
    axes = line.axes
    assert axes is not None
    axes.get_ylim()  # limits follow the data only when they are asked for
    drawn = (axes.transScale + axes.transLimits).transform(_points(line))
    return {float(x): float(y) for x, y in drawn if x == x and y == y}


def name_texts(figure: Figure, labels: Mapping[str, str]) -> None:
    """Replace every line of a text, every tick's name and every label that is one of the workflow's names."""
    from matplotlib.text import Text

    if not labels:
        return
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            _name_ticks(axis, labels)
        drawn: list[Any] = [*axes.lines, *axes.collections, *axes.containers]
        for artist in drawn:
            artist.set_label(labels.get(str(artist.get_label()), artist.get_label()))
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        text.set_text("\n".join(labels.get(line, line) for line in text.get_text().split("\n")))


def _name_ticks(axis: Axis, labels: Mapping[str, str]) -> None:
    from matplotlib.ticker import FixedLocator

    if isinstance(axis.get_major_locator(), FixedLocator):
        names = [text.get_text() for text in axis.get_ticklabels()]
        if not labels.keys().isdisjoint(names):
            axis.set_ticklabels([labels.get(name, name) for name in names])
