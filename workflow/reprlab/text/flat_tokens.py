"""Token files laid out for memory mapping: the rows of one split as flat arrays in a folder beside the token file.

Parquet is compressed, so its rows cannot be read one by one. A corpus that does not fit into memory is therefore
unpacked once, row group by row group, into three `.npy` files that the operating system pages in as batches ask for
them; all runs that read the token file share the folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import atomic_directory
from reprlab.runtime.log import get_logger
from reprlab.text.parquet_batches import read_batches, row_groups_with

if TYPE_CHECKING:
    import pyarrow

_COLUMNS = ["split", "input_ids", "token_types"]
_ROWS = 20_000
_OFFSETS = np.dtype(np.int64)
_AGAIN = "delete it and run again"


def flat_folder(path: Path) -> Path:
    """Folder of the unpacked splits of the token file `path`."""
    return path.with_name(f".{path.stem}.flat")


def mapped_split(path: Path, split: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Memory-mapped token ids, types and offsets of one split, unpacked if that has not been done for this very file.

    Ids and types have the smallest unsigned type that holds them: 3 bytes a token for a vocabulary of 32,128, about
    twice what they take in the token file.

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
            size = f"about twice the {path.stat().st_size >> 20} MB of {path.name}"
            raise ReprlabError(f"{folder.parent}: unpacked tokens need {size} ({error.strerror})") from error
    ids, types, offsets = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("ids", "types", "offsets"))
    return ids, types, offsets


def _is_current(folder: Path, state: str) -> bool:
    source = folder / "source"
    return source.exists() and source.read_text(encoding="ascii") == state


def _unpack(path: Path, split: str, folder: Path) -> None:
    """Read the split twice: for its size and largest numbers, and to write it into arrays of just that size."""
    size = _measure(path, split)
    shapes = {"ids": (size.tokens, size.ids), "types": (size.tokens, size.types), "offsets": (size.rows + 1, _OFFSETS)}
    ids, types, offsets = (
        np.lib.format.open_memmap(folder / f"{name}.npy", mode="w+", dtype=dtype, shape=(length,))
        for name, (length, dtype) in shapes.items()
    )
    token, row = 0, 0
    for batch_ids, batch_types, starts in split_rows(path, split):
        end = token + len(batch_ids)
        ids[token:end], types[token:end] = batch_ids, batch_types
        offsets[row + 1 : row + len(starts)] = starts[1:] + token
        token, row = end, row + len(starts) - 1
    for array in (ids, types, offsets):
        array.flush()


@dataclass(frozen=True)
class _Size:
    """Rows and tokens of a split, and the smallest types that hold its ids and its types."""

    rows: int
    tokens: int
    ids: np.dtype
    types: np.dtype


def _measure(path: Path, split: str) -> _Size:
    rows = tokens = 0
    ids = types = np.dtype(np.uint8)
    for batch_ids, batch_types, starts in split_rows(path, split):
        rows, tokens = rows + len(starts) - 1, tokens + len(batch_ids)
        ids, types = _holding(ids, batch_ids), _holding(types, batch_types)
    if tokens == 0:
        raise no_rows(path, split)
    return _Size(rows, tokens, ids, types)


def _holding(dtype: np.dtype, values: np.ndarray) -> np.dtype:
    """The smallest type that holds `values` and what `dtype` does."""
    bounds = (int(values.min(initial=0)), int(values.max(initial=0)))
    return np.result_type(dtype, *(np.min_scalar_type(bound) for bound in bounds))


def no_rows(path: Path, split: str) -> ReprlabError:
    """The error of a split that is not there."""
    return ReprlabError(f"{path}: no rows of the split {split!r}; use a larger corpus or another split")


def split_rows(path: Path, split: str) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The rows of one split, as a stream of ids [tokens], types [tokens] and offsets [rows + 1] int64 from 0.

    Row groups without the split are not read, but for their column `split`.

    Raises:
        ReprlabError: the file is missing or damaged, or its columns are not those of a token file.
    """
    import pyarrow.compute

    wanted = row_groups_with(path, "split", split)
    for batch in read_batches(path, _COLUMNS, _ROWS, wanted) if wanted else ():
        rows = batch.filter(pyarrow.compute.equal(batch["split"], split))
        ids, offsets = _values_and_offsets(path, rows, "input_ids")
        types, type_offsets = _values_and_offsets(path, rows, "token_types")
        if not np.array_equal(offsets, type_offsets):
            raise ReprlabError(f"{path}: rows whose input_ids and token_types differ in length; {_AGAIN}")
        yield ids, types, offsets


def _values_and_offsets(path: Path, rows: pyarrow.RecordBatch, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Values of a column of lists as one array, and the offset of each list from 0."""
    import pyarrow

    lists = rows[name]
    if not (pyarrow.types.is_list(lists.type) and pyarrow.types.is_integer(lists.type.value_type)):
        raise ReprlabError(f"{path}: its column {name} is {lists.type}, expected lists of integers; {_AGAIN}")
    offsets = np.asarray(lists.offsets, dtype=np.int64)
    values = lists.values[offsets[0] : offsets[-1]]
    if lists.null_count or values.null_count:
        raise ReprlabError(f"{path}: its column {name} has missing values; {_AGAIN}")
    return np.asarray(values), offsets - offsets[0]
