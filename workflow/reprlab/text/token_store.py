"""Tokenised passages as one flat array, gathered into batches without loops."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reprlab.runtime.errors import ReprlabError
from reprlab.text.flat_tokens import mapped_split, no_rows, split_rows

# Larger files (at 1.4 bytes a token more than 0.4 GB as int32 and int16) are memory mapped; smaller ones are read and
# leave no file beside.
_BYTES_IN_MEMORY = 100 << 20


@dataclass(frozen=True)
class TokenStore:
    """Rows of tokens: row i is `ids[offsets[i]:offsets[i + 1]]`, or `ids[i * packed:(i + 1) * packed]` when packed.

    Attributes:
        ids: [tokens] integers, in memory or memory mapped.
        types: [tokens] integers, number of the sentence from 1.
        offsets: [rows + 1] int64; of the unpacked rows.
        packed: tokens of every row; 0: rows are those of `offsets`.
    """

    ids: np.ndarray
    types: np.ndarray
    offsets: np.ndarray
    packed: int = 0

    @classmethod
    def open(cls, path: Path, split: str, *, packing: int = 0, in_memory: int = _BYTES_IN_MEMORY) -> TokenStore:
        """Open one split of a token file. What it gives does not depend on whether it is read or mapped.

        Args:
            path: Parquet with the columns `split`, `input_ids` and `token_types`.
            split: which rows.
            packing: concatenate the rows and cut them into rows of this many tokens, dropping what is left at the
                end (T5's packing, Figure 7); 0 keeps the rows.
            in_memory: a file with more bytes than this is unpacked once beside itself and memory mapped.

        Raises:
            ReprlabError: the file is missing or damaged, or the split has no rows or too few tokens for one packed row.
        """
        arrays = _read(path, split) if _size(path) <= in_memory else mapped_split(path, split)
        store = cls(*arrays, packed=packing)
        if len(store) == 0:
            raise ReprlabError(f"{path}: {len(store.ids)} tokens are less than one packed row of {packing}")
        return store

    def __len__(self) -> int:
        return len(self.ids) // self.packed if self.packed else len(self.offsets) - 1

    @property
    def lengths(self) -> RowLengths:
        """Tokens of each row, looked up when they are asked for: `lengths[rows]`."""
        return RowLengths(self)

    def spans(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First token and number of tokens of each of `rows`, int64."""
        rows = np.asarray(rows, dtype=np.int64)
        if self.packed:
            return rows * self.packed, np.full(rows.shape, self.packed, dtype=np.int64)
        starts = self.offsets[rows]
        return starts, self.offsets[rows + 1] - starts

    def batch(
        self, indices: np.ndarray, length: int, pad: int = 0, *, fixed_length: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gather rows, cut to `length` and padded to the longest of them (to `length` when `fixed_length`).

        Returns:
            ids [B, L] int32, token types [B, L] int16 (0 on padding), lengths [B] int64.
        """
        starts, lengths = self.spans(indices)
        lengths = np.minimum(lengths, length)
        width = length if fixed_length else int(lengths.max(initial=0))
        columns = np.arange(width)
        inside = columns < lengths[:, None]
        positions = (starts[:, None] + columns)[inside]
        ids = np.full(inside.shape, pad, dtype=np.int32)
        types = np.zeros(inside.shape, dtype=np.int16)
        ids[inside] = self.ids[positions]
        types[inside] = self.types[positions]
        return ids, types, lengths


@dataclass(frozen=True)
class RowLengths:
    """Lengths of the rows of a store, read where they are needed, cut to `limit` where one is given."""

    store: TokenStore
    limit: int | None = None

    def __len__(self) -> int:
        return len(self.store)

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        """[rows] int64."""
        _, lengths = self.store.spans(rows)
        return lengths if self.limit is None else np.minimum(lengths, self.limit)


def _size(path: Path) -> int:
    if not path.exists():
        raise ReprlabError(f"{path}: no such file")
    return path.stat().st_size


def _read(path: Path, split: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ids int32, types int16 and offsets of one split, in memory."""
    ids, types, offsets, end = [], [], [np.zeros(1, np.int64)], 0
    for batch_ids, batch_types, starts in split_rows(path, split):
        ids.append(batch_ids.astype(np.int32, copy=False))
        types.append(batch_types.astype(np.int16, copy=False))
        offsets.append(starts[1:] + end)
        end += int(starts[-1])
    found = np.concatenate(offsets)
    if len(found) == 1:
        raise no_rows(path, split)
    return np.concatenate(ids), np.concatenate(types), found
