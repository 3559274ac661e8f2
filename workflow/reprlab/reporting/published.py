"""A paper's printed values: tidy tables with the keys of our own result tables and a `source` column."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.artifacts.tables import read_tsv
from reprlab.data.text_files import csv_rows
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class PublishedTable:
    """How one published table is keyed.

    `keys` name a row together with `source`; `values` are the printed columns, in the paper's order.
    """

    keys: tuple[str, ...]
    values: tuple[str, ...]


def read_published(paths: Sequence[Path], declarations: Mapping[str, PublishedTable]) -> dict[str, pandas.DataFrame]:
    """The published tables by name (the file's stem), every cell as text so that no digit is lost.

    Raises:
        ReprlabError: a declared table is not among `paths`, lacks a column or has a row twice.
    """
    by_name = {path.stem: path for path in paths}
    tables = {}
    for name, declaration in declarations.items():
        if name not in by_name:
            raise ReprlabError(f"{name}.tsv: the published table was not given; pass it with --published")
        path = by_name[name]
        frame = read_tsv(path, text=True)
        missing = [column for column in (*declaration.keys, *declaration.values, "source") if column not in frame]
        if missing:
            raise ReprlabError(f"{path}: lacks the column {missing[0]}; restore the file from the repository")
        twice = frame.duplicated([*declaration.keys, "source"])
        if twice.any():
            row = row_name(frame[twice].iloc[0], declaration.keys)
            raise ReprlabError(f"{path}: the row '{row}' is there twice; remove one")
        tables[name] = frame
    return tables


def read_printed(root: Path, paper: str, table: str, keys: int = 1) -> dict[str, dict[str, str]]:
    """The rows of a published table of the checkout `root` by their first columns, joined by spaces.

    pandas is not loaded, which takes its time.

    Raises:
        ReprlabError: the table cannot be read.
    """
    path = root / "resources/published" / paper / f"{table}.tsv"
    try:
        rows = list(csv_rows(path, "\t"))
    except (OSError, ReprlabError, csv.Error) as error:
        raise ReprlabError(f"{path}: cannot be read ({error}); restore the file from the repository") from None
    return {" ".join(row[:keys]): dict(zip(rows[0], row, strict=False)) for row in rows[1:]}


def row_name(row: Mapping[str, object] | pandas.Series, keys: Sequence[str]) -> str:
    """`key=value` pairs of a row, without the empty ones."""
    return " ".join(f"{key}={row[key]}" for key in keys if row[key] != "")
