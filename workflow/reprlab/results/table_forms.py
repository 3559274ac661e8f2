"""The two forms that most tables have: a listing of rows, and a pivot with one column for each value of a factor.

Both are called with a frame and give a table, as does a plain function where neither is enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reprlab.results.frame import Frame, Rows
from reprlab.runtime.errors import ReprlabError
from reprlab.statistics.standing import ABOVE, NOT_ABOVE

_SUMMED = ("n", "steps", "tokens")
_NOT_RUN = "not run"


@dataclass(frozen=True)
class Listing:
    """One row for each value.

    `columns` are names of columns of the frame with spaces between them, `new=old` where the table names one otherwise.
    """

    columns: str
    empty: bool = False
    """Whether rows without a value are shown as well; a column should have their `reason`."""

    def used(self) -> list[str]:
        """The columns of the frame that it shows."""
        return [old for _, old in self._pairs()]

    def __call__(self, frame: Frame) -> Rows:
        rows = frame.rows if self.empty else frame.select()
        return type(rows)({new: rows[old] for new, old in self._pairs()}).reset_index(drop=True)

    def _pairs(self) -> Iterator[tuple[str, str]]:
        for column in self.columns.split():
            new, _, old = column.partition("=")
            yield new, old or new


@dataclass(frozen=True)
class Pivot:
    """One row for each combination of the factors in `rows`, one column for each value of the factor `across`.

    Columns: `rows`; one for each value of `across`, in the order of registration; `about` (keys again, sums of `n`,
    `steps` and `tokens`, or what the cells have); for each kind in `beside` (data, low, high, above_trivial, …)
    `<kind>_<column>`; `note`, with the reasons of empty cells. Cells that differ in the factors of `over` alone are
    averaged: then `<factor>s` counts the values of each. Metrics of the same answers (`across` is metric) are summed
    once, by the one that counts most. Of answers of several methods to the same items (`same_items`) `n` is not a sum.
    """

    rows: str
    across: str
    about: str = "scale seed n steps tokens"
    beside: str = "data low high above_trivial above_untrained"
    over: str = ""
    same_items: bool = False

    def used(self) -> list[str]:
        """The columns of the frame that it reads."""
        return [*self.rows.split(), self.across, *self.about.split(), *self.beside.split(), *self.over.split()]

    def __call__(self, frame: Frame) -> Rows:
        names = [str(name) for name in dict.fromkeys(frame.rows[self.across]) if name != ""]
        keys = self.rows.split()
        found = frame.select().groupby(keys, sort=False, dropna=False)
        groups: dict[tuple, Any] = {key if isinstance(key, tuple) else (key,): rows for key, rows in found}
        order = frame.rows.drop_duplicates(keys)[keys].itertuples(index=False, name=None)
        lines = [self._line(frame, names, key, groups.get(key)) for key in order if _is_known(key, groups)]
        about = [name for name in self.about.split() if name not in keys]
        over = self.over.split()
        about = [f"{name}s" if name in over else name for name in about]
        about += [f"{name}s" for name in over if f"{name}s" not in about]
        beside = [f"{kind}_{name}" for kind in self.beside.split() for name in names]
        table = type(frame.rows)(lines, columns=[*keys, *names, *about, *beside, "note"])
        whole = [name for name in (*keys, *about) if str(frame.rows.get(name, table[name]).dtype) == "Int64"]
        whole = [name for name in whole if not table[name].map(type).eq(str).any()]
        return table.astype(dict.fromkeys([*whole, *(f"{name}s" for name in over)], "Int64"))

    def _line(self, frame: Frame, names: list[str], key: tuple, rows: Rows | None) -> dict[str, Any]:
        line: dict[str, Any] = dict(zip(self.rows.split(), key, strict=True))
        cells = {} if rows is None else dict(list(rows.groupby(self.across, sort=False)))
        for name, cell in cells.items():
            if len(cell) > 1 and (not self.over or cell.duplicated(self.over.split()).any()):
                raise ReprlabError(f"results: several values of {name} for {line}; name the factors to average over")
            line[str(name)] = cell["value"].mean()
            for kind in self.beside.split():
                line[f"{kind}_{name}"] = together(cell[kind])
        for name in self.about.split():
            line.setdefault(name, frame.scale if rows is None and name == "scale" else self._about(name, rows))
        if rows is not None:
            line |= {f"{name}s": rows[name].nunique() for name in self.over.split()}
        return line | {"note": self._note(frame, line, names, cells)}

    def _about(self, name: str, rows: Rows | None) -> Any:
        if rows is None:
            return None
        if name in _SUMMED:
            known = rows.dropna(subset=[name])
            if name == "n" and self.same_items:
                return int(known["n"].max()) if len(known) else None
            if self.across == "metric":
                over, known = self.over.split(), known.sort_values(name)
                known = known.drop_duplicates(over, keep="last") if over else known.tail(1)
            return int(known[name].sum()) if len(known) else None
        values = list(dict.fromkeys(rows[name].dropna()))
        return values[0] if len(values) == 1 else "; ".join(map(str, values)) if values else None

    def _note(self, frame: Frame, line: dict[str, Any], names: list[str], cells: dict[Any, Rows]) -> str:
        key = {name: line[name] for name in self.rows.split()}
        reasons = {name: frame.reason(**key, **{self.across: name}) or _NOT_RUN for name in names if name not in cells}
        if names and len(reasons) == len(names) and len(set(reasons.values())) == 1:
            return next(iter(reasons.values()))
        return "; ".join(f"{name}: {reason}" for name, reason in reasons.items())


def together(values: Rows) -> Any:
    """The summary of several cells: their mean, their one text, or `above with 2 of 3`."""
    if values.dtype.kind == "f":
        return values.mean() if len(values) == 1 else float("nan")
    known = list(dict.fromkeys(value for value in values if value != ""))
    if set(known) == {ABOVE, NOT_ABOVE}:
        return f"{ABOVE} with {(values == ABOVE).sum()} of {len(values)}"
    return "; ".join(map(str, known))


def _is_known(key: tuple, groups: dict[tuple, Any]) -> bool:
    """Whether a key is that of a row; a missing cell that leaves a factor open has none of its own."""
    import pandas

    return key in groups or not any(pandas.isna(part) or part == "" for part in key)
