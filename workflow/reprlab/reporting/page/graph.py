"""The graph of stages as inline SVG: layers from top to bottom, each stage below all that feed it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from reprlab.reporting.page.html import Html, tag

Edge = tuple[str, str]
_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 138, 28, 14, 40
_LANE = 12
"""Width kept free where an edge passes a layer."""
_SWEEPS = 8


def returning(edges: Iterable[Edge]) -> list[Edge]:
    """The edges that lead back to a stage on the way to them: jobs of a stage may feed others of it by another stage.

    Found from the stages that nothing feeds, in the order of the alphabet; without them the graph has no circle.
    """
    below: dict[str, list[str]] = {}
    for source, target in sorted(set(edges)):
        below.setdefault(source, []).append(target)
    fed = {target for targets in below.values() for target in targets}
    found, done = list[Edge](), set[str]()

    def visit(name: str, way: tuple[str, ...]) -> None:
        done.add(name)
        for target in below.get(name, []):
            if target in (*way, name):
                found.append((name, target))
            elif target not in done:
                visit(target, (*way, name))

    for name in [*sorted(below.keys() - fed), *sorted(below)]:
        if name not in done:
            visit(name, ())
    return found


def layers(edges: Iterable[Edge]) -> list[list[str]]:
    """Stages by the longest path that leads to them; one that nothing feeds is right above what it feeds.

    The edges form no circle.
    """
    edges = list(edges)
    depth = _depths(edges)
    fed = {target for _, target in edges}
    for name in sorted(set(depth) - fed):
        depth[name] = min(depth[target] for source, target in edges if source == name) - 1
    rows: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in sorted(depth):
        rows[depth[name]].append(name)
    return rows


def _depths(edges: list[Edge]) -> dict[str, int]:
    names = {end for edge in edges for end in edge}
    depth = dict.fromkeys(names, 0)
    for _ in names:
        before = dict(depth)
        for source, target in edges:
            depth[target] = max(depth[target], depth[source] + 1)
        if depth == before:
            break
    return depth


def _with_lanes(rows: list[list[str]], edges: list[Edge]) -> tuple[list[list[str]], list[list[str]]]:
    """Give each edge a place in every layer that it passes: (layers with lanes, the stations of each edge)."""
    depth = {name: number for number, row in enumerate(rows) for name in row}
    rows = [list(row) for row in rows]
    routes = []
    for source, target in edges:
        lanes = [f"{source}\0{target}\0{level}" for level in range(depth[source] + 1, depth[target])]
        for level, lane in enumerate(lanes, start=depth[source] + 1):
            rows[level].append(lane)
        routes.append([source, *lanes, target])
    return rows, routes


def _ordered(rows: list[list[str]], routes: list[list[str]]) -> list[list[str]]:
    """Sort each layer by the mean place of its neighbours, down and up in turn, so that few edges cross."""
    above: dict[str, list[str]] = {name: [] for row in rows for name in row}
    below: dict[str, list[str]] = {name: [] for row in rows for name in row}
    for route in routes:
        for one, other in itertools.pairwise(route):
            above[other].append(one)
            below[one].append(other)
    for sweep in range(_SWEEPS):
        near = above if sweep % 2 == 0 else below
        order = range(len(rows)) if sweep % 2 == 0 else reversed(range(len(rows)))
        place = {name: (k + 1) / (len(row) + 1) for row in rows for k, name in enumerate(row)}
        for level in order:
            means = {n: sum(place[o] for o in near[n]) / len(near[n]) if near[n] else place[n] for n in rows[level]}
            rows[level] = sorted(rows[level], key=lambda name, means=means: means[name])  # type: ignore[misc]
            place |= {name: (k + 1) / (len(rows[level]) + 1) for k, name in enumerate(rows[level])}
    return rows


def draw_graph(edges: list[Edge]) -> Html:
    """The graph as SVG with a title and a description for screen readers; edges that lead back are in words alone."""
    every, back = edges, set(returning(edges))
    edges = [edge for edge in edges if edge not in back]
    rows, routes = _with_lanes(layers(edges), edges)
    rows = _ordered(rows, routes)
    spans = [sum(_wide(name) + _GAP_X for name in row) - _GAP_X for row in rows]
    width = max(spans, default=0) + 8
    height = len(rows) * (_HEIGHT + _GAP_Y) - _GAP_Y + 8
    spots: dict[str, tuple[float, float]] = {}
    for level, (row, span) in enumerate(zip(rows, spans, strict=True)):
        left = (width - span) / 2
        for name in row:
            spots[name] = (left + _wide(name) / 2, 4 + level * (_HEIGHT + _GAP_Y))
            left += _wide(name) + _GAP_X
    paths = [tag("path", d=_path([spots[name] for name in route]), fill="none", stroke="#8d99a8") for route in routes]
    boxes = [_box(name, *spot) for name, spot in spots.items() if "\0" not in name]
    return tag(
        "svg",
        tag("title", "Graph of stages"),
        tag("desc", "; ".join(f"{source} feeds {target}" for source, target in every)),
        paths,
        boxes,
        role="img",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        font_family="system-ui, sans-serif",
        font_size="12",
    )


def _wide(name: str) -> int:
    return _LANE if "\0" in name else _WIDTH


def _box(name: str, x: float, y: float) -> Html:
    left = f"{x - _WIDTH / 2:.1f}"
    return tag(
        "g",
        tag("rect", x=left, y=y, width=_WIDTH, height=_HEIGHT, rx=5, fill="#eef3f9", stroke="#5b7ea6"),
        tag("text", name, x=f"{x:.1f}", y=y + _HEIGHT / 2 + 4, text_anchor="middle", fill="#1d2430"),
    )


def _path(spots: list[tuple[float, float]]) -> str:
    """Down through the lanes: a curve in each gap between layers, straight past each layer."""
    x, y = spots[0][0], spots[0][1] + _HEIGHT
    parts = [f"M{x:.1f},{y:.1f}"]
    for u, v in spots[1:]:
        middle = (y + v) / 2
        parts.append(f"C{x:.1f},{middle:.1f} {u:.1f},{middle:.1f} {u:.1f},{v:.1f}")
        parts.append(f"V{v + _HEIGHT:.1f}" if (u, v) != spots[-1] else "")
        x, y = u, v + _HEIGHT
    return " ".join(part for part in parts if part)
