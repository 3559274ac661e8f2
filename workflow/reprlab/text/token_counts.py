"""How often each token of a vocabulary occurs in a data set: counts per split, in one pass over the text.

Ids are counted batch by batch with one `bincount` over all ids of a batch, so rows of different lengths do not matter
and memory is one batch and the counts. The same scan serves examples of a task (truncated to the input length of a
model, special tokens included, as a model reads them), documents, and token files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow

_ROWS = 2_000
_EXAMPLE_TEXTS = (["text"], ["text_a", "text_b"])


class CountSettings(BaseModel):
    """What is counted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Literal["examples", "documents", "tokens"]
    """examples: rows of a task, as a model reads them; documents: running text, whole and without special tokens;
    tokens: ids that were made before."""
    max_length: int | None = Field(default=None, ge=1)
    """Tokens of an example that count, special tokens included; later ones are cut off. null: all."""


@dataclass(frozen=True)
class TokenCounts:
    """Occurrences of every id, by split: `counts[split]` is int64 [vocabulary]; `rows` counts examples or documents."""

    counts: dict[str, np.ndarray]
    rows: dict[str, int]
    padding: int | None = None
    """The id that rows are padded with; it is not counted."""

    def used(self, splits: Iterable[str]) -> int:
        """Different ids that occur in padded rows of the splits: padding counts as one of them (PEMA's own count)."""
        import numpy as np

        seen = self.together(splits) > 0
        if self.padding is not None and seen.any():
            seen[self.padding] = True
        return int(np.count_nonzero(seen))

    def together(self, splits: Iterable[str]) -> np.ndarray:
        """Counts over several splits; a split that the data does not have counts nothing."""
        import numpy as np

        size = len(next(iter(self.counts.values())))
        return sum((self.counts[split] for split in splits if split in self.counts), np.zeros(size, dtype=np.int64))


def add_ids(counts: np.ndarray, ids: np.ndarray) -> None:
    """Add the occurrences of `ids` (any shape) to `counts` [vocabulary], in place.

    Raises:
        ReprlabError: an id lies outside the vocabulary.
    """
    import numpy as np

    if not ids.size:
        return
    # Casting once to the index type is faster than two passes for the smallest and the largest id.
    flat = ids.ravel().astype(np.intp, copy=False)
    found = np.bincount(flat, minlength=len(counts)) if flat.min() >= 0 else None
    if found is None or len(found) != len(counts):
        raise ReprlabError(
            f"token counts: an id outside 0 to {len(counts) - 1} (smallest {ids.min()}, largest {ids.max()}); "
            "the ids were made with another tokenizer"
        )
    counts += found


def scan_counts(path: Path, tokenizer: Any, settings: CountSettings) -> TokenCounts:
    """Count the ids of all splits of a file.

    Args:
        path: examples.parquet, documents.parquet or a token file, as `settings.source` says.
        tokenizer: a fast tokenizer; its length is the size of the counts.

    Raises:
        ReprlabError: the file is unreadable or has no column to count.
    """
    import numpy as np

    counts: dict[str, np.ndarray] = {}
    rows: dict[str, int] = {}
    for split, ids, number in _batches(path, tokenizer, settings):
        if split not in counts:
            counts[split], rows[split] = np.zeros(len(tokenizer), dtype=np.int64), 0
        add_ids(counts[split], ids)
        rows[split] += number
    if not counts:
        raise ReprlabError(f"{path}: has no row to count; delete it and run again")
    return TokenCounts(counts, rows, tokenizer.pad_token_id if settings.source == "examples" else None)


def save_counts(counts: TokenCounts, path: Path) -> None:
    """Write the counts as one safetensors file, a tensor for each split; the rest goes into its metadata."""
    from safetensors.numpy import save_file

    from reprlab.runtime.files import atomic_file

    about = json.dumps({"rows": counts.rows, "padding": counts.padding}, sort_keys=True)
    with atomic_file(path) as temporary:
        save_file(counts.counts, temporary, metadata={"reprlab": about})


def load_counts(path: Path) -> TokenCounts:
    """Read what `save_counts` wrote.

    Raises:
        ReprlabError: the file is missing or damaged.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as stored:
            counts = {split: stored.get_tensor(split) for split in stored.keys()}  # noqa: SIM118 (no mapping)
            about = json.loads((stored.metadata() or {})["reprlab"])
            return TokenCounts(counts, about["rows"], about["padding"])
    except FileNotFoundError:
        raise ReprlabError(f"{path}: no such file") from None
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ReprlabError(f"{path}: not readable as token counts ({error}); delete it and run again") from None


def text_columns(path: Path) -> list[str]:
    """The columns of an example table that a model reads: one text, or a pair.

    Raises:
        ReprlabError: the file is missing or not Parquet, or the table has neither.
    """
    import pyarrow.parquet

    from reprlab.artifacts.tables import parquet_errors

    with parquet_errors(path):
        names = pyarrow.parquet.read_schema(path).names
    for columns in _EXAMPLE_TEXTS:
        if set(columns) <= set(names):
            return columns
    raise ReprlabError(f"{path}: has neither a column text nor text_a and text_b; count tasks of single texts or pairs")


def _batches(path: Path, tokenizer: Any, settings: CountSettings) -> Iterator[tuple[str, np.ndarray, int]]:
    """(split, flat ids, rows) of each batch and split."""
    from reprlab.text.parquet_batches import read_batches

    if settings.source == "tokens":
        for batch in read_batches(path, ["split", "input_ids"], _ROWS):
            for split, rows in _by_split(batch):
                ids = rows.column("input_ids")
                yield split, ids.flatten().to_numpy(zero_copy_only=False), len(ids)
        return
    texts = text_columns(path) if settings.source == "examples" else ["text"]
    for batch in read_batches(path, ["split", *texts], _ROWS):
        for split, rows in _by_split(batch):
            yield split, _ids(tokenizer, [rows.column(name).to_pylist() for name in texts], settings), rows.num_rows


def _by_split(batch: pyarrow.RecordBatch) -> Iterator[tuple[str, pyarrow.RecordBatch]]:
    import pyarrow.compute

    column = batch.column("split")
    for split in pyarrow.compute.unique(column).to_pylist():
        yield split, batch.filter(pyarrow.compute.equal(column, split))


def _ids(tokenizer: Any, texts: list[list[str]], settings: CountSettings) -> np.ndarray:
    """All ids of a batch of texts in one flat array."""
    import itertools

    import numpy as np

    from reprlab.text.encoding import encode

    encoded = encode(
        tokenizer,
        *texts,
        closed=settings.source == "examples",
        truncation=settings.max_length is not None,
        max_length=settings.max_length,
        return_attention_mask=False,
        return_token_type_ids=False,
    )["input_ids"]
    return np.fromiter(itertools.chain.from_iterable(encoded), dtype=np.int64, count=sum(map(len, encoded)))
