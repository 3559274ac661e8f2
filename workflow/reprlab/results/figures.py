"""Figures whose axes are columns of their table: curves, boxes and points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reprlab.reporting.figures import CYCLE, draw_lines, name_panel, panels, say, shared_legend
from reprlab.results.frame import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from reprlab.results.records import Drawn


@dataclass(frozen=True)
class Axis:
    """A column with its label; `low` and `high` bound a band around it, `level` is a dotted line for each curve."""

    column: str
    label: str
    low: str = ""
    high: str = ""
    level: str = ""
    level_label: str = ""


@dataclass(frozen=True)
class Curves:
    """Each of `y` against `x`: a row of panels for each of them, a column for each value of `panel` (columns of the
    table, with spaces between them), a curve for each value of `line`."""

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
        figure, axes = panels(len(self.y), len(groups))
        for place, (name, rows) in enumerate(groups):
            for row, axis in enumerate(self.y):
                panel = axes[row][place]
                draw_lines(
                    panel, rows, x=self.x.column, y=axis.column, by=self.line, order=order, low=axis.low, high=axis.high
                )
                for value, part in rows.groupby(self.line) if axis.level else ():
                    # A line's own level, in its colour.
                    colour = CYCLE[order.index(value) % len(CYCLE)]
                    label = f"{axis.level_label}, {value}" if len(order) > 1 else axis.level_label
                    panel.axhline(part[axis.level].iloc[-1], color=colour, linestyle=":", marker="", label=label)
                panel.set_ylabel(axis.label if not place else "")
            data = "; ".join(dict.fromkeys(rows["data"].dropna())) if "data" in rows else ""
            name_panel(axes[0][place], "\n".join(name), data)
            axes[-1][place].set_xlabel(self.x.label)
        shared_legend(figure, [one for row in axes for one in row])
        figure.suptitle(f"Scale {drawn.scale}")
        return figure


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
        figure, axes = panels(1, len(groups), width=2.2 if self.panel else 5.0, height=2.4 if self.panel else 3.0)
        for panel, (name, rows) in zip(axes[0], groups, strict=True):
            boxes = [(str(value), part[self.y.column].dropna()) for value, part in rows.groupby(self.x, sort=False)]
            panel.boxplot([values for _, values in boxes], tick_labels=[value for value, _ in boxes], showfliers=False)
            for place, (_, values) in enumerate(boxes, start=1):
                panel.scatter([place] * len(values), values, s=12, color=CYCLE[0], zorder=3)
            panel.tick_params(axis="x", rotation=30)
            panel.set_title(" ".join(name))
        axes[0][0].set_ylabel(self.y.label)
        figure.suptitle(f"Scale {drawn.scale}")
        return figure


def chosen(table: Rows, where: Mapping[str, Any]) -> Rows:
    """The rows of a table whose columns have the given values."""
    for column, value in where.items():
        table = table[table[column] == value] if column in table else table.iloc[:0]
    return table


def groups_of(table: Rows, columns: str) -> list[tuple[tuple[str, ...], Rows]]:
    """Rows by the values of some columns, in their order; one group where no column is named."""
    names = columns.split()
    if not names:
        return [((), table)]
    return [(tuple(str(part) for part in key), rows) for key, rows in table.groupby(names, sort=False, dropna=False)]


def nothing(table: Rows, drawn: Drawn) -> Figure:
    """A figure that says why it has no points."""
    figure, axes = panels(1, 1)
    notes = table["note"].dropna().tolist() if "note" in table else []
    say(axes[0][0], str(notes[0]) if notes else f"not run at scale {drawn.scale}")
    return figure
