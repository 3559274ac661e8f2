"""Every printed cell once, with our number beside it or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reprlab.reporting.comparison import Counterpart, compare_cells
from reprlab.reporting.published import PublishedTable
from reprlab.results.frame import Frame, Rows, chosen

# A printed row: every cell as text.
Cell = Any


@dataclass(frozen=True)
class Own:
    """Our side: the frame, and our tables by name, made when they are asked for."""

    frame: Frame
    table: Callable[[str], Rows]
    # The columns of a printed row often ask for the same one.
    _reasons: dict[tuple[tuple[str, str], ...], str] = field(default_factory=dict, init=False, repr=False)

    def rows(self, table: str, **where: Any) -> Rows:
        """The rows of our table whose columns have the given values."""
        return chosen(self.table(table), where)

    def missing(self, reason: str = "", **where: str) -> Counterpart:
        """No number, for the reason that the frame has, or the given one."""
        asked = tuple(sorted(where.items()))
        if asked not in self._reasons:
            self._reasons[asked] = self.frame.reason(**where) if where else ""
        registered = self._reasons[asked]
        return Counterpart("", registered or reason or f"not run at scale {self.frame.scale}")


Find = Callable[[Own, Cell, str], Counterpart]


@dataclass(frozen=True)
class Match:
    """The cell of our table with the same keys and the same column.

    `keys` name the columns of ours, by the printed key; `where` narrows ours further; `across` is the factor whose
    values are the columns. Shares are printed in 0 to 1 by some papers, and ours are in percent: then `share` is true.
    """

    table: str
    keys: Mapping[str, str]
    places: int
    where: Mapping[str, Any] = field(default_factory=dict)
    across: str = ""
    share: bool = False

    def __call__(self, own: Own, row: Cell, column: str) -> Counterpart:
        ours = own.table(self.table)
        wanted = {name: row[printed] for printed, name in self.keys.items()} | dict(self.where)
        known = {name: value for name, value in wanted.items() if name in own.frame.factors}
        for name, value in wanted.items():
            ours = ours[ours[name].astype(str) == str(value)] if name in ours else ours.iloc[:0]
        if column not in ours or ours[column].isna().all():
            return own.missing(**known, **({self.across: column} if self.across else {}))
        cell = ours[ours[column].notna()].iloc[0]
        value = float(cell[column]) / (100 if self.share else 1)
        return Counterpart(f"{value:.{self.places}f}", about(cell, column, own.frame.scale))


@dataclass(frozen=True)
class Printed:
    """A printed table of `resources/published/<slug>`: its keys, its columns, and what is beside them.

    `ours` is a record (`Match`), a function of (our side, printed row, column), or the reason why nothing of ours does.
    """

    keys: tuple[str, ...]
    values: tuple[str, ...]
    ours: Find | str

    def find(self, own: Own, row: Cell, column: str) -> Counterpart:
        """Our side of one cell."""
        return Counterpart("", self.ours) if isinstance(self.ours, str) else self.ours(own, row, column)


def about(cell: Rows, column: str, scale: str) -> str:
    """The note on one of our cells: scale, what it is a mean of, data, whether it is above its baselines."""
    several = [name for name in ("seeds", "models") if name in cell and _known(cell[name]) and cell[name]]
    counted = [f"mean of {cell[name]} {name}" for name in several]
    data = cell.get(f"data_{column}", cell.get("data"))
    flags = [(kind, cell.get(f"above_{kind}_{column}", cell.get(f"above_{kind}"))) for kind in ("trivial", "untrained")]
    known = [f"n={cell['n']}"] if _known(cell.get("n")) else []
    known += [f"data: {data}"] if _known(data) else []
    known += [f"{kind}: {flag}" for kind, flag in flags if _known(flag) and flag != "above"]
    return "; ".join([f"scale {scale}", *counted, *known])


def compare(own: Own, published: Mapping[str, Rows], printed: Mapping[str, Printed]) -> Rows:
    """The table `comparison`, in the order of the paper's tables."""
    return compare_cells(
        published, declarations(printed), lambda table, row, column: printed[table].find(own, row, column)
    )


def declarations(printed: Mapping[str, Printed]) -> dict[str, PublishedTable]:
    """How the printed tables are keyed, for `read_published`."""
    return {name: PublishedTable(one.keys, one.values) for name, one in printed.items()}


def _known(value: Any) -> bool:
    import pandas

    return value is not None and not pandas.isna(value) and value != ""
