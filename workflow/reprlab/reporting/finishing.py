"""Finishing touches of every figure: whole numbers on axes of counts, covered lines told apart, plain words."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_BETWEEN = re.compile(r"(, | after |(?<=\w)\+(?=\w)| \(no value\)$)")
_NAME = re.compile(r"[a-z0-9]+(_[a-z0-9]+)+")
_RAISED = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")
_FEW_TICKS = 6
_FEW_POINTS = 3
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
        plain_powers(axes)
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
    """2000 as 2k, 1000000 as 1M; what would need more than one decimal is written out: 1024."""
    if step >= 1_000_000:
        return f"{step / 1_000_000:g}M"
    return f"{step / 1000:g}k" if step >= 1000 and step % 100 == 0 else f"{step:g}"


def short_powers(axes: Axes) -> None:
    """Ticks of a decimal logarithmic x axis at 1, 2 and 5 times the powers of ten, as 20k: its own would overlap."""
    from matplotlib.ticker import FuncFormatter, LogFormatterSciNotation, LogLocator, NullLocator

    if isinstance(axes.xaxis.get_major_formatter(), LogFormatterSciNotation) and axes.get_xlim()[0] >= 1:
        low, high = axes.get_xlim()
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 1000 else (1,)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short_step(value)))


def plain_powers(axes: Axes) -> None:
    """Ticks of logarithmic axes as 10⁻² in letters: matplotlib writes them as a formula, which no text of ours is."""
    from matplotlib.ticker import FuncFormatter, LogFormatterMathtext

    for axis in (axes.xaxis, axes.yaxis):
        for get, put in (
            (axis.get_major_formatter, axis.set_major_formatter), (axis.get_minor_formatter, axis.set_minor_formatter)
        ):  # fmt: skip
            if isinstance(formula := get(), LogFormatterMathtext):
                put(FuncFormatter(lambda value, place, formula=formula: _plain_power(formula(value, place))))


def _plain_power(formula: str) -> str:
    """`$\\mathdefault{2\\times10^{-1}}$` as 2×10⁻¹."""
    text = formula.strip("$").replace(r"\mathdefault", "").replace(r"\times", "×")
    raised = re.sub(r"\^\{([^}]*)\}", lambda found: found[1].translate(_RAISED), text)
    return re.sub(r"[{}$]", "", raised).replace("-", "−")


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


def too_few(axes: Axes) -> str:
    """Why a panel shows nothing: bars of 0 alone, three points, curves of one place each, or of a single number.

    Empty where it shows something.
    """
    from matplotlib.collections import PathCollection

    bars = [bar.get_height() for group in axes.containers for bar in getattr(group, "patches", ())]
    if bars and not any(bars):
        return f"all {len(bars)} values are 0" if len(bars) > 1 else "the only value is 0"
    # What has no name of its own (a box and its whiskers) is drawn from points that are there as well.
    lines = [line for line in _curves(axes) if not str(line.get_label()).startswith("_")]
    curves = [[(x, y) for x, y in _points(line) if x == x and y == y] for line in lines]
    groups: list[Any] = [one.get_offsets() for one in axes.collections if isinstance(one, PathCollection)]
    points = [point for group in (*curves, *groups) for point in group]
    if axes.patches or axes.images or not points:
        return ""
    drawn = not groups and any(line.get_linestyle() != "None" for line in lines)
    if drawn and len(points) > 1 and len({y for _, y in points}) == 1:
        return f"all {len(points)} values are {points[0][1]:.4g}"
    if len(points) <= _FEW_POINTS or (drawn and max(len({x for x, _ in curve}) for curve in curves) < 2):
        return f"{len(points)} point{'s' * (len(points) > 1)}: too few for a figure; the table has all values"
    return ""


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
    """Replace every line of a text, every tick's name and every label that is one of the workflow's names.

    So are parts between commas. A name without words gets spaces for its underscores. Text that is data (in a
    typewriter's letters) stays.
    """
    from matplotlib.text import Text

    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            _name_ticks(axis, labels)
        drawn: list[Any] = [*axes.lines, *axes.collections, *axes.containers]
        for artist in drawn:
            artist.set_label(_words(str(artist.get_label()), labels))
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        if "monospace" not in text.get_fontfamily():
            text.set_text("\n".join(_words(line, labels) for line in text.get_text().split("\n")))


def _words(text: str, labels: Mapping[str, str]) -> str:
    """People's words for a name, or for the names between commas (or `after`, of one that is trained on another)."""
    if text in labels:
        return labels[text]
    parts = _BETWEEN.split(text)
    if len(parts) > 1:
        return "".join(part if _BETWEEN.fullmatch(part) else _words(part, labels) for part in parts)
    return text.replace("_", " ") if _NAME.fullmatch(text) else text


def _name_ticks(axis: Axis, labels: Mapping[str, str]) -> None:
    from matplotlib.ticker import FixedLocator, ScalarFormatter

    # Numbers are no names.
    if isinstance(axis.get_major_locator(), FixedLocator) and not isinstance(
        axis.get_major_formatter(), ScalarFormatter
    ):
        names = [text.get_text() for text in axis.get_ticklabels()]
        if (named := [_words(name, labels) for name in names]) != names:
            axis.set_ticklabels(named)
