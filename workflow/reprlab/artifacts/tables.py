"""TSV and Parquet tables, written atomically and with the same bytes for the same values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.runtime.errors import ReprlabError, first_line
from reprlab.runtime.files import atomic_file

if TYPE_CHECKING:
    import pandas
    import pyarrow


def write_tsv(path: Path, frame: pandas.DataFrame) -> None:
    """Write a TSV: header, no index, missing values empty, floats in their shortest exact form."""
    with atomic_file(path) as temporary:
        frame.to_csv(temporary, sep="\t", index=False, na_rep="", lineterminator="\n")


def read_tsv(path: Path, *, text: bool = False) -> pandas.DataFrame:
    """Read a TSV that `write_tsv` wrote. `text` keeps every cell as a string (empty cells are "").

    Raises:
        ReprlabError: the file is missing or not a table.
    """
    import pandas

    try:
        if text:
            return pandas.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
        return pandas.read_csv(path, sep="\t", keep_default_na=True)
    except FileNotFoundError:
        raise ReprlabError(f"{path}: no such file") from None
    except (ValueError, pandas.errors.ParserError) as error:
        raise ReprlabError(f"{path}: not a readable TSV ({' '.join(str(error).split())})") from None


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
        # A damaged file may still open; texts that are no UTF-8 and offsets out of bounds are found here.
        table.validate(full=True)
    return table


@contextmanager
def parquet_errors(path: Path) -> Iterator[None]:
    """Turn what pyarrow raises on a missing or damaged file into the user's line.

    Raises:
        ReprlabError: the file is missing, truncated, not Parquet, or has names or statistics that are no UTF-8.
    """
    import pyarrow

    try:
        yield
    except FileNotFoundError:
        raise ReprlabError(f"{path}: no such file") from None
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = first_line(error)
        raise ReprlabError(f"{path}: not readable as Parquet ({reason}); delete it and run again") from None
