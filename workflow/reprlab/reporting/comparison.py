"""Every printed cell of a paper once, with our number beside it or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reprlab.reporting.published import PublishedTable, row_name
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import pandas

COLUMNS = ("table", "row", "column", "published", "ours", "note")


@dataclass(frozen=True)
class Counterpart:
    """Our number for a printed one. `ours` is empty where there is none; then `note` says why."""

    ours: str
    note: str

    def __post_init__(self) -> None:
        if not self.ours and not self.note:
            raise ReprlabError("comparison: a cell without our number needs a reason")


Lookup = Callable[[str, "pandas.Series", str], Counterpart]


def compare_cells(
    published: Mapping[str, pandas.DataFrame], declarations: Mapping[str, PublishedTable], lookup: Lookup
) -> pandas.DataFrame:
    """One row per printed cell, in the order of the paper's tables.

    Args:
        published: printed tables by name, every cell as text.
        declarations: keys and value columns of each.
        lookup: our number for (table, row, column).
    """
    import pandas

    rows = []
    for name, declaration in declarations.items():
        for _, row in published[name].iterrows():
            label = f"{row['source']}: {row_name(row, declaration.keys)}"
            for column in declaration.values:
                if row[column] == "":
                    continue
                found = lookup(name, row, column)
                rows.append((name, label, column, row[column], found.ours, found.note))
    return pandas.DataFrame(rows, columns=list(COLUMNS))
