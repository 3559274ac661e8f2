"""Figures whose axes are columns of their table: curves, bars and boxes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reprlab.reporting.figures import CYCLE, draw_lines, name_panel, panels, say, shared_legend, step_axis
from reprlab.results.frame import Rows, chosen

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from reprlab.results.records import Drawn


_COLUMNS = 4
_SLANTED = 5
_SLANT: Any = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"}


@dataclass(frozen=True)
class Axis:
    """A column with its label; `low` and `high` bound a band around it, `level` is a dotted line for each curve.

    `log`: of x, for steps of training, which double; of y, for counts of several sizes.
    """

    column: str
    label: str
    low: str = ""
    high: str = ""
    level: str = ""
    level_label: str = ""
    ticks: str = ""
    """A column with the words that are at its values; where it is empty, there is no tick."""
    log: bool = False


@dataclass(frozen=True)
class Curves:
    """Each of `y` against `x`: a row of panels for each of them, a column for each value of `panel` (columns of the
    table, with spaces between them), a curve for each value of `line`. More than four columns go on in rows below."""

    x: Axis
    y: Sequence[Axis]
    line: str
    panel: str
    where: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, table: Rows, drawn: Drawn) -> Figure:
        table = chosen(table, self.where)
        if table.empty or table[self.x.column].isna().all():
            return nothing(table, drawn)
        groups = groups_of(table, self.panel)
        order = list(dict.fromkeys(table[self.line]))
        figure, axes = wrapped_panels(len(self.y), len(groups))
        known = ["; ".join(dict.fromkeys(rows["data"].dropna())) if "data" in rows else "" for _, rows in groups]
        # Data that fill all panels are named once.
        common = len(groups) > 1 and len(set(known)) == 1
        if common:
            figure.suptitle(known[0])
        for place, ((name, rows), data) in enumerate(zip(groups, known, strict=True)):
            for row, axis in enumerate(self.y):
                panel = axes[row][place]
                draw_lines(
                    panel, rows, x=self.x.column, y=axis.column, by=self.line, order=order, low=axis.low, high=axis.high
                )
                _draw_levels(panel, rows, axis, self.line, order)
                if self.x.log:
                    step_axis(panel, rows[self.x.column].dropna().tolist())
                _draw_ticks(panel, rows, self.x)
                if axis.log:
                    panel.set_yscale("log")
                panel.set_ylabel("" if place % _COLUMNS else axis.label)
            name_panel(axes[0][place], "\n".join(name), "" if common else data)
            # Of wrapped panels, those with no other below them.
            if place + _COLUMNS >= len(groups):
                axes[-1][place].set_xlabel(self.x.label)
        shared_legend(figure, [one for row in axes for one in row])
        return figure


def _draw_levels(panel: Any, rows: Rows, axis: Axis, line: str, order: list[Any]) -> None:
    """A line's own level, in its colour; where all lines have one, a single grey level."""
    levels = {value: part[axis.level].iloc[-1] for value, part in rows.groupby(line)} if axis.level else {}
    levels = {value: level for value, level in levels.items() if level == level}
    common = len(set(levels.values())) == 1 and len(order) > 1
    for value, level in list(levels.items())[: 1 if common else None]:
        colour = "#666666" if common else CYCLE[order.index(value) % len(CYCLE)]
        label = axis.level_label if common or len(order) == 1 else f"{axis.level_label}, {value}"
        panel.axhline(level, color=colour, linestyle=":", marker="", label=label)


def _draw_ticks(panel: Any, rows: Rows, axis: Axis) -> None:
    if axis.ticks:
        named = rows.drop_duplicates(axis.column)
        named = named[named[axis.ticks].notna() & (named[axis.ticks] != "")]
        panel.set_xticks(named[axis.column], named[axis.ticks], rotation=45 if len(named) > _SLANTED else 0)


@dataclass(frozen=True)
class Long:
    """A figure of a table with one row for each value of some columns, by their labels.

    The rows get `quantity`, `value`, and `low` and `high` of `<column>_low` and `<column>_high`.
    """

    columns: Mapping[str, str]
    draw: Callable[[Rows, Drawn], Figure]

    def __call__(self, table: Rows, drawn: Drawn) -> Figure:
        import pandas

        ends = {"value": "", "low": "_low", "high": "_high"}
        parts = [
            table.assign(quantity=label, **{name: table[f"{column}{end}"] for name, end in ends.items()})
            for column, label in self.columns.items()
            if column in table and table[column].notna().any()
        ]
        return self.draw(pandas.concat(parts), drawn) if parts else nothing(table, drawn)


@dataclass(frozen=True)
class Bars:
    """Bars side by side at each value of `x`: one for each of `y`, or of the only `y` for each value of `line`.

    A panel for each value of `panel` (columns, with spaces between them), below each other. `label` is the axis's.
    """

    x: str
    y: Sequence[Axis]
    label: str
    line: str = ""
    panel: str = ""

    def __call__(self, table: Rows, drawn: Drawn) -> Figure:
        known = [axis.column for axis in self.y if axis.column in table]
        if not known or table[known].isna().all(axis=None):
            return nothing(table, drawn)
        groups, places = groups_of(table, self.panel), list(dict.fromkeys(table[self.x]))
        kinds = sorted(set(table[self.line])) if self.line else [axis.label for axis in self.y]
        figure, axes = panels(len(groups), 1, width=5.6, height=2.5)
        for (panel,), (name, rows) in zip(axes, groups, strict=True):
            for number, kind in enumerate(kinds):
                axis, part = (self.y[0], rows[rows[self.line] == kind]) if self.line else (self.y[number], rows)
                part = part.drop_duplicates(self.x).set_index(self.x).reindex(places)
                at = [place + (number - (len(kinds) - 1) / 2) * 0.8 / len(kinds) for place in range(len(places))]
                absent = "" if part[axis.column].notna().any() else " (no value)"
                draw_bars(panel, at, part, axis, 0.74 / len(kinds), color=CYCLE[number], label=f"{kind}{absent}")
            panel.set_xticks(range(len(places)), map(str, places), **(_SLANT if len(places) > _SLANTED else {}))
            panel.set(title=", ".join(name), ylabel=self.label)
        shared_legend(figure, [row[0] for row in axes])
        return figure


def draw_bars(panel: Any, at: Sequence[float], rows: Rows, axis: Axis, width: float, **style: Any) -> None:
    """Bars of a column at some places, with its interval where the axis has one."""
    value = rows[axis.column].astype(float).to_numpy()
    panel.bar(at, value, width, **style)
    if axis.low:
        low, high = (rows[name].astype(float).to_numpy() for name in (axis.low, axis.high))
        reach = [(value - low).clip(0), (high - value).clip(0)]
        panel.errorbar(at, value, reach, color="#333333", linewidth=1.0, capsize=2, fmt="none")
    panel.axhline(0, color="#333333", linewidth=0.8)


@dataclass(frozen=True)
class Boxes:
    """Distribution of `y` for each value of `x`, a panel for each of `panel`; every row of the table is a point."""

    x: str
    y: Axis
    panel: str = ""
    where: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, table: Rows, drawn: Drawn) -> Figure:
        table = chosen(table, self.where)
        if table.empty or table[self.y.column].isna().all():
            return nothing(table, drawn)
        groups = groups_of(table, self.panel)
        size = {"width": 2.2, "height": 2.4} if self.panel else {"width": 5.0, "height": 3.0}
        figure, axes = wrapped_panels(1, len(groups), **size)
        for panel, (name, rows) in zip(axes[0], groups, strict=True):
            boxes = [(str(value), part[self.y.column].dropna()) for value, part in rows.groupby(self.x, sort=False)]
            panel.boxplot([values for _, values in boxes], showfliers=False)
            panel.set_xticks(range(1, len(boxes) + 1), [value for value, _ in boxes], **_SLANT)
            for place, (_, values) in enumerate(boxes, start=1):
                panel.scatter([place] * len(values), values, s=12, color=CYCLE[0], zorder=3)
            panel.set_title(", ".join(name))
        axes[0][0].set_ylabel(self.y.label)
        return figure


def wrapped_panels(rows: int, columns: int, **size: float) -> tuple[Figure, list[list[Any]]]:
    """Panels by row and column, of which more than four columns go on in rows below; the last may be hidden."""
    wide = min(columns, _COLUMNS)
    turns = -(-columns // wide)
    figure, grid = panels(rows * turns, wide, **size)
    axes = [[one for turn in range(turns) for one in grid[turn * rows + row]] for row in range(rows)]
    for one in (one for row in axes for one in row[columns:]):
        one.set_visible(False)
    return figure, [row[:columns] for row in axes]


def groups_of(table: Rows, columns: str) -> list[tuple[tuple[str, ...], Rows]]:
    """Rows by the values of some columns, in their order; one group where no column is named."""
    names = columns.split()
    if not names:
        return [((), table)]
    found = table.groupby(names, sort=False, dropna=False)
    said = {"seed": "seed {}"}
    return [
        (tuple(said.get(name, "{}").format(part) for name, part in zip(names, key, strict=True)), rows)
        for key, rows in found
    ]


def nothing(table: Rows, drawn: Drawn) -> Figure:
    """A figure that says why it has no points."""
    figure, axes = panels(1, 1)
    notes = table["note"].dropna().tolist() if "note" in table else []
    say(axes[0][0], str(notes[0]) if notes else f"not run at scale {drawn.scale}")
    return figure
