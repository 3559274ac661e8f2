"""TSV and Parquet tables, written atomically and with the same bytes for the same values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.artifacts.tsv import escape, unescape
from reprlab.runtime.errors import ReprlabError, first_line, raise_if_machine_is_short
from reprlab.runtime.files import atomic_file

if TYPE_CHECKING:
    import pandas
    import pyarrow


def write_tsv(path: Path, frame: pandas.DataFrame) -> None:
    """Write a TSV: header, no index, missing values empty, floats in their shortest exact form, texts as in `tsv`."""
    with atomic_file(path) as temporary:
        escaped = _each_text(frame, escape).rename(columns=escape)
        escaped.to_csv(temporary, sep="\t", index=False, na_rep="", lineterminator="\n")


def read_tsv(path: Path, *, text: bool = False) -> pandas.DataFrame:
    """Read a TSV that `write_tsv` wrote: empty cells are missing, and a column of numbers alone is numeric.

    `text` keeps every cell as a string (empty cells are "").

    Raises:
        ReprlabError: the file is missing or not a table.
    """
    import pandas

    try:
        kind, missing = (str, None) if text else (None, [""])
        frame = pandas.read_csv(path, sep="\t", dtype=kind, keep_default_na=False, na_values=missing)
    except FileNotFoundError:
        raise ReprlabError(f"{path}: no such file") from None
    except (ValueError, pandas.errors.ParserError) as error:
        raise ReprlabError(f"{path}: not a readable TSV ({' '.join(str(error).split())})") from None
    return _each_text(frame, unescape).rename(columns=unescape)


def _each_text(frame: pandas.DataFrame, change: Callable[[str], str]) -> pandas.DataFrame:
    import pandas

    def changed(column: pandas.Series) -> pandas.Series:
        if pandas.api.types.is_numeric_dtype(column):
            return column
        return column.map(lambda value: change(value) if isinstance(value, str) else value)

    return frame.apply(changed)


def write_parquet(path: Path, table: pyarrow.Table) -> None:
    """Write Parquet (zstd) atomically."""
    import pyarrow.parquet

    with atomic_file(path) as temporary:
        pyarrow.parquet.write_table(table, temporary, compression="zstd")


def read_parquet(path: Path, columns: list[str] | None = None) -> pyarrow.Table:
    """Read a Parquet file.

    Raises:
        ReprlabError: the file is missing, truncated or lacks a column.
    """
    import pyarrow.parquet

    with parquet_errors(path):
        table = pyarrow.parquet.read_table(path, columns=columns)
        # A damaged file may still open; texts that are not UTF-8 and offsets out of bounds are found here.
        table.validate(full=True)
    return table


@contextmanager
def parquet_errors(path: Path) -> Iterator[None]:
    """Turn what pyarrow raises on a missing or damaged file into the user's line.

    Raises:
        ReprlabError: the file is missing, truncated, not Parquet, or has names or statistics that are not UTF-8.
    """
    import pyarrow

    try:
        yield
    except FileNotFoundError:
        raise ReprlabError(f"{path}: no such file") from None
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise_if_machine_is_short(error)
        reason = first_line(error)
        raise ReprlabError(f"{path}: not readable as Parquet ({reason}); delete it and run again") from None
