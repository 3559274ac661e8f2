"""Descriptions of figures in words, read off the drawing: for those who do not see it, and for search."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DATA = "_data"
"""Label of the text that names the data of a panel."""
_MOST_BARS = 12


def describe(figure: Figure) -> str:
    """One line for each panel that shows something: its title, its axes, and curves from first to last value."""
    drawn = [axes for axes in figure.axes if axes.get_visible() and axes.get_label() != "<colorbar>"]
    return "\n".join(filter(None, map(_panel, drawn)))


def _panel(axes: Axes) -> str:
    parts = [*_lines(axes), *_bars(axes), *_points(axes), *_image(axes)]
    # A panel without data says why in its only text; others repeat what their axes and names say.
    said = [text.get_text() for text in axes.texts if text.get_label() != DATA]
    parts = parts or [" ".join(re.sub(r"\.\n(?=[a-z_])", ".", text).split()) for text in said[:1]]
    if not any(parts):
        return ""
    named = " by ".join(" ".join(name.split()) for name in (axes.get_ylabel(), axes.get_xlabel()) if name)
    data = [" ".join(text.get_text().split()) for text in axes.texts if text.get_label() == DATA]
    about = ", ".join(name for name in (" ".join(axes.get_title().split()), *data, named) if name)
    return f"{about}: {'; '.join(parts)}." if about else f"{'; '.join(parts)}."


def _lines(axes: Axes) -> Iterator[str]:
    for line in axes.lines:
        label, points = str(line.get_label()), _known(line.get_xydata())
        if label.startswith("_") or not points:
            continue
        across = line.get_transform() == axes.get_yaxis_transform()
        if line.get_linestyle() == "None":
            yield f"{label}, {_span(points)}"
        elif across or len(points) == 1:
            yield f"{label} at {_said(points[0][1])}"
        else:
            (x, y), (u, v) = points[0], points[-1]
            yield f"{label} from {_said(y)} at {_tick(axes, x)} to {_said(v)} at {_tick(axes, u)}"


def _bars(axes: Axes) -> Iterator[str]:
    from matplotlib.container import BarContainer

    for group in axes.containers:
        if isinstance(group, BarContainer):
            found = [(_tick(axes, round(bar.get_x() + bar.get_width() / 2)), bar.get_height()) for bar in group.patches]
            bars = ", ".join(f"{name} {_said(height)}" for name, height in found[:_MOST_BARS] if height == height)
            yield f"{group.get_label()}: {bars}" if bars else ""


def _points(axes: Axes) -> Iterator[str]:
    from matplotlib.collections import PathCollection

    for group in axes.collections:
        points = _known(group.get_offsets()) if isinstance(group, PathCollection) else []
        if points and not str(group.get_label()).startswith("_"):
            yield f"{group.get_label()}, {_span(points)}"
        elif points and len({x for x, _ in points}) == 1:  # one group of several, named by its tick
            low, high = min(y for _, y in points), max(y for _, y in points)
            yield f"{_tick(axes, points[0][0])} from {_said(low)} to {_said(high)}"


def _image(axes: Axes) -> Iterator[str]:
    for image in axes.images:
        values: Any = image.get_array()
        for row, line in enumerate(values.tolist()):
            named = [
                f"{_tick(axes, column)} {_said(value)}"
                for column, value in enumerate(line)
                if value is not None and value == value
            ]
            if named:
                yield f"{_tick(axes, row, axes.yaxis)} against {', '.join(named)}"


def _span(points: list[tuple[float, float]]) -> str:
    (left, right), (low, high) = ((min(one), max(one)) for one in zip(*points, strict=True))
    said = f"{len(points)} point{'s' * (len(points) > 1)} from {_said(left)} to {_said(right)} across"
    return f"{said} and from {_said(low)} to {_said(high)} up"


def _known(points: Any) -> list[tuple[float, float]]:
    import numpy as np

    found: Any = np.ma.filled(np.ma.asarray(points, dtype=float), np.nan)
    return [(float(x), float(y)) for x, y in found if x == x and y == y]


def _tick(axes: Axes, place: float, axis: Any = None) -> str:
    """The name of a tick at a place, or the number itself."""
    axis = axis or axes.xaxis
    named = {float(at): text.get_text() for at, text in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)}
    name = " ".join(named.get(float(place), "").split())
    return name or _said(place)


def _said(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
