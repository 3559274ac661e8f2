"""Parquet tables read and written in batches, so that a corpus need not fit into memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.artifacts.tables import parquet_errors
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import atomic_file

if TYPE_CHECKING:
    import pyarrow

# Metadata key under which every table of text carries the true name and licence of its data.
_DATA_KEY = b"reprlab"


def read_batches(
    path: Path, columns: list[str], rows: int, row_groups: list[int] | None = None
) -> Iterator[pyarrow.RecordBatch]:
    """Yield record batches of at most `rows` rows, of the whole file or of some of its row groups.

    Raises:
        ReprlabError: the file is missing, truncated or lacks a column.
    """
    import pyarrow.parquet

    with parquet_errors(path), pyarrow.parquet.ParquetFile(path) as file:
        _demand_columns(path, file, columns)
        yield from _checked(file.iter_batches(batch_size=rows, columns=columns, row_groups=row_groups))


def row_groups_with(path: Path, column: str, value: str) -> list[int]:
    """The row groups in which `column` has `value`, by reading that column.

    A footer's own minima and maxima are not used: pyarrow ends the whole process on a footer that contradicts itself.

    Raises:
        ReprlabError: the file is missing, damaged or lacks the column.
    """
    import pyarrow.compute
    import pyarrow.parquet

    with parquet_errors(path), pyarrow.parquet.ParquetFile(path) as file:
        _demand_columns(path, file, [column])

        return [
            group
            for group in range(file.num_row_groups)
            if any(
                pyarrow.compute.any(pyarrow.compute.equal(batch[column], value)).as_py()
                for batch in _checked(file.iter_batches(columns=[column], row_groups=[group]))
            )
        ]


def _checked(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Each batch, once its texts are known to be UTF-8 and its offsets to lie within bounds."""
    for batch in batches:
        batch.validate(full=True)
        yield batch


def _demand_columns(path: Path, file: pyarrow.parquet.ParquetFile, columns: list[str]) -> None:
    missing = set(columns) - set(file.schema_arrow.names)
    if missing:
        raise ReprlabError(f"{path}: no column {', '.join(sorted(missing))}; delete it and run again")


def data_metadata(path: Path) -> dict[bytes, bytes]:
    """What the table says about its data's name and licence, to be handed on to tables made from it.

    Raises:
        ReprlabError: the file is missing or not Parquet.
    """
    import pyarrow.parquet

    with parquet_errors(path):
        metadata = pyarrow.parquet.read_schema(path).metadata or {}
    return {_DATA_KEY: metadata[_DATA_KEY]} if _DATA_KEY in metadata else {}


def write_batches(path: Path, schema: pyarrow.Schema, batches: Iterable[pyarrow.RecordBatch]) -> int:
    """Write record batches as one Parquet file (zstd), atomically.

    Returns:
        the number of rows.
    """
    import pyarrow.parquet

    rows = 0
    with atomic_file(path) as temporary, pyarrow.parquet.ParquetWriter(temporary, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch)
            rows += batch.num_rows
        if rows == 0:
            raise ReprlabError(f"{path}: nothing to write; the input has no text that can be used")
    return rows
