"""Examples as flat arrays of ids: tokenised once, padded batch by batch without a loop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reprlab.text.encoding import piece_ids

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Ragged:
    """Sequences of integers in one flat array; sequence i is `flat[offsets[i]:offsets[i + 1]]`."""

    flat: np.ndarray
    offsets: np.ndarray

    @classmethod
    def of(cls, sequences: Iterable[Sequence[int]], dtype: Any = "int64") -> Ragged:
        """Pack lists of integers."""
        import numpy as np

        rows = [np.asarray(sequence, dtype=dtype) for sequence in sequences]
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        flat = np.concatenate(rows) if rows else np.zeros(0, dtype)
        return cls(flat, np.concatenate([[0], np.cumsum(lengths)]))

    @classmethod
    def joined(cls, parts: Sequence[Ragged]) -> Ragged:
        """Several (at least one), one after another."""
        import numpy as np

        starts = np.cumsum([0, *(len(part.flat) for part in parts)])
        ends = [part.offsets[1:] + start for part, start in zip(parts, starts, strict=False)]
        return cls(np.concatenate([part.flat for part in parts]), np.concatenate([np.zeros(1, np.int64), *ends]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> np.ndarray:
        """Length of each sequence [n]."""
        return self.offsets[1:] - self.offsets[:-1]

    def lengths_of(self, rows: np.ndarray) -> np.ndarray:
        """Lengths of the sequences `rows` [B], without those of all."""
        found: np.ndarray = self.offsets[rows + 1] - self.offsets[rows]
        return found

    def pad(self, rows: np.ndarray, fill: int, width: int | None = None) -> np.ndarray:
        """Sequences `rows` [B] as an array [B, width] (default: the longest of them), `fill` behind the ends."""
        import numpy as np

        lengths = self.lengths_of(rows)
        width = int(lengths.max(initial=1)) if width is None else width
        places = np.arange(width)
        inside = places < lengths[:, None]
        found = np.full((len(rows), width), fill, dtype=np.int64)
        found[inside] = self.flat[(self.offsets[rows][:, None] + places)[inside]]
        return found

    def padded(self, rows: np.ndarray, fill: int, width: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """`pad` and its mask, 1 at ids of the sequences, which may hold the id that fills the rest."""
        import numpy as np

        found = self.pad(rows, fill, width)
        return found, (np.arange(found.shape[1]) < self.lengths_of(rows)[:, None]).astype(np.int64)


def encode_closed(tokenizer: Any, texts: Sequence[str], length: int, end: int) -> Ragged:
    """Texts as `pieces.. end`, cut to `length` with the end token kept (T5's form of inputs and targets)."""
    return Ragged.of([*ids[: length - 1], end] for ids in piece_ids(tokenizer, texts))


def encode_depth(
    tokenizer: Any, segments: Sequence[Sequence[str]], length: int, sentence_ids: np.ndarray, eosen: int, end: int
) -> tuple[Ragged, Ragged]:
    """Ids and token types in the DEPTH format, sentence tokens in fixed order (spec 2.1, fine-tuning).

    `EOSEN SENT_0 x.. EOSEN SENT_1 x.. EOSEN ... EOS`; types count sentences from 1, the first EOSEN is 1, EOS belongs
    to the last sentence. Sentences beyond the number of sentence tokens join the last one, so that the end of a long
    prompt, where its question is, stays. Longer examples are cut to `length` and end in EOSEN EOS.
    """
    import numpy as np

    most = len(sentence_ids)
    merged = [
        [*parts[: most - 1], "".join(parts[most - 1 :])] if len(parts) > most else list(parts) for parts in segments
    ]
    pieces = Ragged.of(piece_ids(tokenizer, [part for parts in merged for part in parts]))
    counts = np.array([len(parts) for parts in merged], dtype=np.int64)
    example = np.repeat(np.arange(len(merged)), counts)
    first = np.cumsum(counts) - counts
    number = np.arange(len(pieces)) - first[example]
    # Each sentence takes its pieces and two marks; each example an EOSEN before and an EOS behind its sentences.
    widths = pieces.lengths + 2
    starts = np.cumsum(widths) - widths + 2 * example + 1
    totals = np.bincount(example, weights=widths, minlength=len(merged)).astype(np.int64) + 2
    offsets = np.concatenate([[0], np.cumsum(totals)])
    flat = np.full(offsets[-1], end, dtype=np.int64)
    flat[offsets[:-1]] = eosen
    flat[starts] = sentence_ids[number]
    flat[starts + widths - 1] = eosen
    shift = np.repeat(starts + 1 - pieces.offsets[:-1], pieces.lengths)
    flat[np.arange(len(pieces.flat)) + shift] = pieces.flat
    types = np.ones(offsets[-1], dtype=np.int64)
    inside = np.repeat(starts, widths) + np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths, widths)
    types[inside] = np.repeat(number + 1, widths)
    types[offsets[1:] - 1] = counts
    return _cut(Ragged(flat, offsets), Ragged(types, offsets), length, eosen, end)


def _cut(ids: Ragged, types: Ragged, length: int, eosen: int, end: int) -> tuple[Ragged, Ragged]:
    import numpy as np

    long = ids.lengths > length
    kept = np.minimum(ids.lengths, length)
    offsets = np.concatenate([[0], np.cumsum(kept)])
    source = np.repeat(ids.offsets[:-1] - offsets[:-1], kept) + np.arange(offsets[-1])
    flat, kinds = ids.flat[source], types.flat[source]
    last = offsets[1:][long] - 1
    flat[last], flat[last - 1] = end, eosen
    kinds[last] = kinds[last - 1]
    return Ragged(flat, offsets), Ragged(kinds, offsets)
