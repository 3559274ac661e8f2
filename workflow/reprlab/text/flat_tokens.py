"""Token files laid out for memory mapping: the rows of one split as flat arrays in a folder beside the token file.

Parquet is compressed, so its rows cannot be read one by one. A corpus that does not fit into memory is therefore
unpacked once, row group by row group, into three `.npy` files that the operating system pages in as batches ask for
them; all runs that read the token file share the folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import atomic_directory
from reprlab.runtime.log import get_logger
from reprlab.runtime.tables import parquet_errors
from reprlab.text.parquet_batches import read_batches

if TYPE_CHECKING:
    import pyarrow

_COLUMNS = ["split", "input_ids", "token_types"]
_ROWS = 20_000


def flat_folder(path: Path) -> Path:
    """Folder of the unpacked splits of the token file `path`."""
    return path.with_name(f".{path.stem}.flat")


def mapped_split(path: Path, split: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Memory-mapped token ids, types and offsets of one split, unpacked if that has not been done for this very file.

    Ids and types have the smallest unsigned type that holds them: 3 bytes a token for a vocabulary of 32,128.

    Raises:
        ReprlabError: the token file is not readable, or the folder beside it cannot be written.
    """
    import filelock

    folder = flat_folder(path) / split
    state = f"{path.stat().st_size} {path.stat().st_mtime_ns}"
    if not _is_current(folder, state):
        try:
            folder.parent.mkdir(exist_ok=True)
            with filelock.FileLock(folder.parent / f"{split}.lock"):
                # Several runs start at once; the first unpacks and the others wait for it.
                if not _is_current(folder, state):
                    get_logger().info("%s: unpacking the split %s for memory mapping", path, split)
                    with atomic_directory(folder) as target:
                        _unpack(path, split, target)
                        (target / "source").write_text(state, encoding="ascii")
        except OSError as error:
            needed = f"the tokens need {_needed(path) >> 20} MB of disk beside their file"
            raise ReprlabError(f"{folder.parent}: {needed} ({error.strerror})") from error
    ids, types, offsets = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("ids", "types", "offsets"))
    return ids, types, offsets


def token_count(path: Path) -> int:
    """Tokens of a token file, all splits together, from its footer alone.

    Raises:
        ReprlabError: the file is missing or not Parquet.
    """
    footer = _footer(path)
    places = [
        number for number in range(footer.num_columns) if footer.schema.column(number).path.startswith("input_ids")
    ]
    groups = range(footer.num_row_groups)
    return sum(footer.row_group(group).column(place).num_values for group in groups for place in places)


def _footer(path: Path) -> pyarrow.parquet.FileMetaData:
    import pyarrow.parquet

    with parquet_errors(path):
        return pyarrow.parquet.read_metadata(path)


def _is_current(folder: Path, state: str) -> bool:
    source = folder / "source"
    return source.exists() and source.read_text(encoding="ascii") == state


def _needed(path: Path) -> int:
    """Bytes of ids (2) and types (1); offsets are few."""
    return token_count(path) * 3


def _unpack(path: Path, split: str, folder: Path) -> None:
    ids_type, types_type = _types(path)
    rows = 0
    with (
        _array_file(folder / "ids.npy", ids_type) as ids,
        _array_file(folder / "types.npy", types_type) as types,
        _array_file(folder / "offsets.npy", np.dtype(np.int64)) as offsets,
    ):
        end = 0
        offsets.write(np.zeros(1, np.int64))
        for batch in split_batches(path, split):
            batch_ids, starts = values_and_offsets(batch["input_ids"])
            batch_types, _ = values_and_offsets(batch["token_types"])
            ids.write(batch_ids.astype(ids_type, copy=False))
            types.write(batch_types.astype(types_type, copy=False))
            offsets.write(starts[1:] + end)
            end += int(starts[-1])
            rows += batch.num_rows
    if rows == 0:
        raise no_rows(path, split)


def no_rows(path: Path, split: str) -> ReprlabError:
    """The error of a split that is not there."""
    return ReprlabError(f"{path}: no rows of the split {split!r}; use a larger corpus or another split")


def split_batches(path: Path, split: str) -> Iterator[pyarrow.RecordBatch]:
    """The rows of one split, as a stream; row groups without it are not read."""
    import pyarrow.compute

    footer = _footer(path)
    columns = [number for number in range(footer.num_columns) if footer.schema.column(number).path == "split"]
    groups = range(footer.num_row_groups)
    with parquet_errors(path):
        wanted = [group for group in groups if all(_may_hold(footer, group, column, split) for column in columns)]
    for batch in read_batches(path, _COLUMNS, _ROWS, wanted) if wanted else ():
        yield batch.filter(pyarrow.compute.equal(batch["split"], split))


def _may_hold(footer: pyarrow.parquet.FileMetaData, group: int, column: int, value: str) -> bool:
    known = footer.row_group(group).column(column).statistics
    return known is None or not known.has_min_max or known.min <= value <= known.max


def values_and_offsets(lists: pyarrow.ListArray) -> tuple[np.ndarray, np.ndarray]:
    """Values of a list array as one array, and the offset of each list from 0."""
    offsets = np.asarray(lists.offsets, dtype=np.int64)
    values = np.asarray(lists.values)[offsets[0] : offsets[-1]]
    return values, offsets - offsets[0]


def _types(path: Path) -> tuple[np.dtype, np.dtype]:
    """The smallest unsigned types of ids and types, by the largest values that the footer records."""
    footer = _footer(path)
    found = []
    for name, otherwise in (("input_ids", np.int32), ("token_types", np.int16)):
        largest = 0
        for number in range(footer.num_columns):
            if footer.schema.column(number).path.startswith(name):
                known = [footer.row_group(group).column(number).statistics for group in range(footer.num_row_groups)]
                if any(one is None or not one.has_min_max or one.min < 0 for one in known):
                    largest = -1
                    break
                largest = max(one.max for one in known)
        found.append(np.dtype(otherwise) if largest < 0 else np.min_scalar_type(largest))
    return found[0], found[1]


class _Appender:
    """Appends to an `.npy` file whose length is not known beforehand."""

    def __init__(self, handle: IO[bytes], dtype: np.dtype) -> None:
        self._handle, self._dtype, self._count = handle, dtype, 0

    def write(self, values: np.ndarray) -> None:
        self._handle.write(values.tobytes())
        self._count += len(values)

    def write_header(self) -> None:
        self._handle.seek(0)
        # NumPy reserves room in a header for a length that grows.
        header = {"descr": np.lib.format.dtype_to_descr(self._dtype), "fortran_order": False, "shape": (self._count,)}
        np.lib.format.write_array_header_1_0(self._handle, header)


@contextmanager
def _array_file(path: Path, dtype: np.dtype) -> Iterator[_Appender]:
    with path.open("wb") as handle:
        appender = _Appender(handle, dtype)
        appender.write_header()
        start = handle.tell()
        yield appender
        appender.write_header()
        if handle.tell() != start:
            raise AssertionError("the header of an .npy file outgrew its room")
        handle.flush()
        os.fsync(handle.fileno())
