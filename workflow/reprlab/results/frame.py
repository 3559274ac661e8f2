"""The frame of one paper's results, as tables, claims and figures read it."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

from reprlab.artifacts.tables import read_parquet, write_parquet
from reprlab.results.gather import gather_rows
from reprlab.results.schema import FIXED, arrow_schema
from reprlab.results.sources import GatherSettings, Value
from reprlab.runtime.errors import ReprlabError

Rows = Any
_ABOUT = b"reprlab"
_FILE = "results.parquet"


@dataclass(frozen=True)
class Option:
    """In a selection: the value that the config chose, by its name among the frame's options."""

    name: str


class Edge(Enum):
    """In a selection: the smallest or the largest value of a number among the rows that the others select."""

    FIRST = "first"
    LAST = "last"


FIRST, LAST = Edge.FIRST, Edge.LAST
Choice = Value | Option | Edge | tuple[Value | Option, ...]


def choices(wanted: Choice, options: Mapping[str, Any]) -> list[Any]:
    """The values that a selection takes of a column, with those of the config's options."""
    several = wanted if isinstance(wanted, tuple) else (wanted,)
    return [options[one.name] if isinstance(one, Option) else one for one in several]


@dataclass(frozen=True)
class Frame:
    """Rows of one paper with the settings that its tables must know.

    `rows` are in the order of registration; texts are "" where they are empty, numbers NA. A row with a `reason` stands
    for cells without a value.
    """

    rows: Rows
    scale: str
    factors: tuple[str, ...]
    options: Mapping[str, Any]

    def narrowed(self, where: Mapping[str, Choice]) -> Frame:
        """The rows of a selection; missing cells that do not give a factor belong to all of its values.

        Raises:
            ReprlabError: it names no column.
        """
        self._require(where)
        rows = self.rows
        missing = rows["reason"] != ""
        kept = missing | True
        for name, wanted in sorted(where.items(), key=lambda one: isinstance(one[1], Edge)):
            column = rows[name]
            if isinstance(wanted, Edge):
                known = column[kept & ~missing].dropna()
                wanted = (known.min() if wanted is Edge.FIRST else known.max()) if len(known) else ()
            chosen = column.isin(choices(wanted, self.options))
            left_open = missing & (column.isna() | (column == ""))
            kept &= (chosen | left_open).fillna(False).astype(bool)
        # Once: a frame has dozens of columns.
        rows = rows[kept]
        return replace(self, rows=rows)

    @functools.cached_property
    def _has_reasons(self) -> bool:
        return bool((self.rows["reason"] != "").any())

    def _require(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self.rows:
                raise ReprlabError(f"results: there is no column {name}; there are {', '.join(self.rows)}")

    def select(self, **where: Choice) -> Rows:
        """The rows of a selection that have a value."""
        rows = self.narrowed(where).rows
        return rows[rows["reason"] == ""]

    def reason(self, **where: Choice) -> str:
        """Why a selection has no value; "" where nothing is registered.

        Of several reasons the one is given that shares most factors with the selection, and of these the one with the
        fewest others: a factor that the selection leaves open, or gives several values of, makes it a reason of a part.
        """
        self._require(where)
        if not self._has_reasons:
            return ""
        rows = self.narrowed(where).rows
        found = rows[rows["reason"] != ""]
        if found.empty:
            return ""
        given = ~(found[[*self.factors]].isna() | (found[[*self.factors]] == "")).fillna(True)
        named = [name for name in self.factors if name in where and not isinstance(where[name], tuple)]
        shared, others = given[named].sum(axis=1), given.drop(columns=named).sum(axis=1)
        best = min(range(len(found)), key=lambda place: (-shared.iloc[place], others.iloc[place]))
        return str(found["reason"].iloc[best])


def chosen(table: Rows, where: Mapping[str, Any]) -> Rows:
    """The rows of a finished table whose columns have the given values; none where it lacks one."""
    for column, value in where.items():
        table = table[table[column] == value] if column in table else table.iloc[:0]
    return table


def frame_of(rows: Rows, settings: GatherSettings) -> Frame:
    """A frame of gathered rows, without a file between."""
    kinds = {name: factor.kind for name, factor in settings.factors.items()}
    kinds |= {name: kind for name, (kind, _) in FIXED.items()}
    types = {name: {"text": object, "whole": "Int64", "number": "float64"}[kind] for name, kind in kinds.items()}
    rows = rows.astype(types)
    texts = [name for name, kind in kinds.items() if kind == "text"]
    rows[texts] = rows[texts].fillna("")
    return Frame(rows, settings.scale, tuple(settings.factors), settings.options)


def write_results(path: Path, settings: GatherSettings) -> None:
    """Gather the rows and write them; settings that tables must know are in the file's metadata.

    Raises:
        ReprlabError: see `gather_rows`.
    """
    import pyarrow

    about = settings.model_dump(mode="json", exclude={"entries"})
    schema = arrow_schema(settings.factors, {_ABOUT.decode(): json.dumps(about, sort_keys=True)})
    rows = frame_of(gather_rows(settings), settings).rows
    texts = [field.name for field in schema if pyarrow.types.is_string(field.type)]
    rows[texts] = rows[texts].where(rows[texts] != "")
    write_parquet(path, pyarrow.Table.from_pandas(rows, schema=schema, preserve_index=False))


def read_frame(path: Path) -> Frame:
    """The frame of a results.parquet.

    Raises:
        ReprlabError: it is missing, damaged, or was not written by the `write_results` of this version.
    """
    table = read_parquet(path)
    about = (table.schema.metadata or {}).get(_ABOUT)
    if about is None:
        raise ReprlabError(f"{path}: is not a frame of results; delete it and run the same command again")
    settings = GatherSettings.model_validate({**json.loads(about), "entries": []})
    if missing := sorted({*settings.factors, *FIXED} - {*table.column_names}):
        raise ReprlabError(
            f"{path}: lacks the columns {', '.join(missing)}, as results of another version do; run the same command "
            "again"
        )
    return frame_of(table.to_pandas(integer_object_nulls=True), settings)
