"""The graph of stages as inline SVG: layers from left to right, each stage behind all that feed it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from reprlab.reporting.page.html import Html, tag
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import read_json

Edge = tuple[str, str]
_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 168, 30, 56, 18
_SWEEPS = 8
_DOT_NODE = re.compile(r'^\s*(\d+)\s*\[\s*label\s*=\s*"([^"\\]*)')
_DOT_EDGE = re.compile(r"^\s*(\d+)\s*->\s*(\d+)")


def read_edges(path: Path) -> list[Edge]:
    """Edges (from, to) between stages: JSON (`{"edges": [[from, to], ...]}`), or DOT as `snakemake --rulegraph` prints.

    Raises:
        ReprlabError: neither.
    """
    if path.suffix == ".json":
        try:
            return sorted({(str(a), str(b)) for a, b in read_json(path)["edges"]})
        except (KeyError, TypeError, ValueError):
            raise ReprlabError(f'{path}: not a list of edges; expected {{"edges": [["from", "to"], ...]}}') from None
    lines = path.read_text(encoding="utf-8").splitlines()
    names = {match[1]: match[2] for line in lines if (match := _DOT_NODE.match(line))}
    edges = [(match[1], match[2]) for line in lines if (match := _DOT_EDGE.match(line))]
    if not names or any(end not in names for edge in edges for end in edge):
        raise ReprlabError(f"{path}: not a graph in DOT as `snakemake --rulegraph` prints it")
    return sorted({(names[a], names[b]) for a, b in edges if names[b] != "all"})


def layers(edges: Iterable[Edge]) -> list[list[str]]:
    """Stages by the longest path that leads to them, ordered within a layer so that few edges cross.

    Raises:
        ReprlabError: the edges form a circle.
    """
    edges = [edge for edge in edges if edge[0] != edge[1]]
    depth = _depths(edges)
    rows: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in sorted(depth):
        rows[depth[name]].append(name)
    sources = {name: [a for a, b in edges if b == name] for name in depth}
    targets = {name: [b for a, b in edges if a == name] for name in depth}
    for sweep in range(_SWEEPS):
        place = {name: number / max(1, len(row) - 1) for row in rows for number, name in enumerate(row)}
        near = sources if sweep % 2 == 0 else targets

        def middle(name: str, near: dict[str, list[str]] = near, place: dict[str, float] = place) -> float:
            around = [place[other] for other in near[name]]
            return sum(around) / len(around) if around else place[name]

        rows = [sorted(row, key=middle) for row in rows]
    return rows


def _depths(edges: list[Edge]) -> dict[str, int]:
    names = {end for edge in edges for end in edge}
    depth = dict.fromkeys(names, 0)
    for _ in names:
        before = dict(depth)
        for source, target in edges:
            depth[target] = max(depth[target], depth[source] + 1)
        if depth == before:
            return depth
    if names:
        raise ReprlabError("graph of stages: its edges form a circle")
    return depth


def draw_graph(edges: list[Edge]) -> Html:
    """The graph as SVG with a title and a description for screen readers."""
    rows = layers(edges)
    tallest = max((len(row) for row in rows), default=0)
    height = tallest * (_HEIGHT + _GAP_Y) + _GAP_Y
    width = len(rows) * (_WIDTH + _GAP_X) + 8
    spots: dict[str, tuple[float, float]] = {}
    for number, row in enumerate(rows):
        for place, name in enumerate(row):
            spots[name] = (4 + number * (_WIDTH + _GAP_X), height * (place + 1) / (len(row) + 1) - _HEIGHT / 2)
    curves = [tag("path", d=_curve(spots[a], spots[b]), fill="none", stroke="#9aa4b2") for a, b in edges if a != b]
    boxes = [_box(name, *spot) for name, spot in spots.items()]
    listed = "; ".join(f"{a} feeds {b}" for a, b in edges)
    return tag(
        "svg",
        tag("title", "Graph of stages"),
        tag("desc", listed),
        curves,
        boxes,
        role="img",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        font_family="system-ui, sans-serif",
        font_size="12",
    )


def _box(name: str, x: float, y: float) -> Html:
    return tag(
        "g",
        tag("rect", x=f"{x:.1f}", y=f"{y:.1f}", width=_WIDTH, height=_HEIGHT, rx=5, fill="#eef3f9", stroke="#5b7ea6"),
        tag(
            "text",
            name,
            x=f"{x + _WIDTH / 2:.1f}",
            y=f"{y + _HEIGHT / 2 + 4:.1f}",
            text_anchor="middle",
            fill="#1d2430",
        ),
    )


def _curve(source: tuple[float, float], target: tuple[float, float]) -> str:
    x, y = source[0] + _WIDTH, source[1] + _HEIGHT / 2
    u, v = target[0], target[1] + _HEIGHT / 2
    bend = max(_GAP_X / 2, (u - x) / 2)
    return f"M{x:.1f},{y:.1f} C{x + bend:.1f},{y:.1f} {u - bend:.1f},{v:.1f} {u:.1f},{v:.1f}"
