"""Tokenised passages as one flat array, gathered into batches without loops."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.tables import read_parquet


@dataclass(frozen=True)
class TokenStore:
    """Rows of tokens: row i is `ids[offsets[i]:offsets[i + 1]]`.

    Attributes:
        ids: [tokens] int32.
        types: [tokens] int16, number of the sentence from 1.
        offsets: [rows + 1] int64.
    """

    ids: np.ndarray
    types: np.ndarray
    offsets: np.ndarray

    @classmethod
    def open(cls, path: Path, split: str, *, packing: int = 0) -> TokenStore:
        """Read one split of a token file.

        Args:
            path: Parquet with the columns `split`, `input_ids` and `token_types`.
            split: which rows.
            packing: concatenate the rows and cut them into rows of this many tokens, dropping what is left at the
                end (T5's packing, Figure 7); 0 keeps the rows.

        Raises:
            ReprlabError: the split has no rows, or too few tokens for one packed row.
        """
        import pyarrow.compute

        table = read_parquet(path, columns=["split", "input_ids", "token_types"])
        table = table.filter(pyarrow.compute.equal(table["split"], split))
        if table.num_rows == 0:
            raise ReprlabError(f"{path}: no rows of the split {split!r}; use a larger corpus or another split")
        ids, offsets = _flatten(table["input_ids"])
        types, _ = _flatten(table["token_types"])
        store = cls(ids.astype(np.int32, copy=False), types.astype(np.int16, copy=False), offsets)
        return store._packed(packing, path) if packing else store

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> np.ndarray:
        """[rows] int64: tokens of each row."""
        return np.diff(self.offsets)

    def batch(
        self, indices: np.ndarray, length: int, pad: int = 0, *, fixed_length: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gather rows, cut to `length` and padded to the longest of them (to `length` when `fixed_length`).

        Returns:
            ids [B, L] int32, token types [B, L] int16 (0 on padding), lengths [B] int64.
        """
        indices = np.asarray(indices, dtype=np.int64)
        starts = self.offsets[indices]
        lengths = np.minimum(self.offsets[indices + 1] - starts, length)
        width = length if fixed_length else int(lengths.max(initial=0))
        columns = np.arange(width)
        inside = columns < lengths[:, None]
        positions = (starts[:, None] + columns)[inside]
        ids = np.full(inside.shape, pad, dtype=np.int32)
        types = np.zeros(inside.shape, dtype=np.int16)
        ids[inside] = self.ids[positions]
        types[inside] = self.types[positions]
        return ids, types, lengths

    def _packed(self, length: int, path: Path) -> TokenStore:
        rows = len(self.ids) // length
        if rows == 0:
            raise ReprlabError(f"{path}: {len(self.ids)} tokens are less than one packed row of {length}")
        end = rows * length
        return TokenStore(self.ids[:end], self.types[:end], np.arange(rows + 1, dtype=np.int64) * length)


def _flatten(column: object) -> tuple[np.ndarray, np.ndarray]:
    """Values and offsets of a chunked list column."""
    lists = column.combine_chunks()  # type: ignore[attr-defined]
    if hasattr(lists, "chunks"):
        import pyarrow

        lists = pyarrow.concat_arrays(lists.chunks)
    offsets = np.asarray(lists.offsets, dtype=np.int64)
    values = np.asarray(lists.values)[offsets[0] : offsets[-1]]
    return values, offsets - offsets[0]
