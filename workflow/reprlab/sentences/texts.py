"""Texts as the encoder reads them: instruction and text tokenised apart, so that what is pooled is exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reprlab.sentences.settings import TextForm
from reprlab.text.encoding import LINE_END, closed_ids, format_parts, ids_behind, padding_id, part_ids, piece_ids
from reprlab.text.tokenizer_folder import start_ids
from reprlab.training.finetuning_encoding import Ragged

if TYPE_CHECKING:
    import numpy as np
    import torch


@dataclass(frozen=True)
class EncodedTexts:
    """Token ids of texts, and where in each the part begins and ends that is pooled."""

    ids: Ragged
    starts: np.ndarray
    """[n]."""
    pad: int
    behind: int = 0
    """Tokens at the end of each that are not pooled."""

    def __len__(self) -> int:
        return len(self.ids)

    def batch(self, rows: np.ndarray) -> dict[str, torch.Tensor]:
        """`input_ids`, `attention_mask` and `text_mask` [B, L], padded on the left."""
        import numpy as np
        import torch

        lengths = self.ids.lengths_of(rows)
        width = int(lengths.max(initial=1))
        # Rows come padded on the right; each is turned by its padding.
        turned = (np.arange(width) + lengths[:, None]) % width
        ids = np.take_along_axis(self.ids.pad(rows, self.pad), turned, axis=1)
        places = np.arange(width) - (width - lengths[:, None])
        pooled = (places >= self.starts[rows][:, None]) & (places < lengths[:, None] - self.behind)
        found = {"input_ids": ids, "attention_mask": places >= 0, "text_mask": pooled}
        return {name: torch.from_numpy(np.ascontiguousarray(part).astype(np.int64)) for name, part in found.items()}

    def chosen(self, rows: np.ndarray) -> EncodedTexts:
        """Some of the texts, in the order of `rows`."""
        flat, offsets = self.ids.flat, self.ids.offsets
        return EncodedTexts(
            Ragged.of([flat[offsets[row] : offsets[row + 1]].tolist() for row in rows]),
            self.starts[rows],
            self.pad,
            self.behind,
        )

    @classmethod
    def joined(cls, parts: Sequence[EncodedTexts]) -> EncodedTexts:
        """Several, one after another."""
        import numpy as np

        ids, starts = Ragged.joined([part.ids for part in parts]), np.concatenate([part.starts for part in parts])
        return cls(ids, starts, parts[0].pad, parts[0].behind)


def ends_of(tokenizer: Any, form: TextForm, instruction: str = "") -> tuple[list[int], list[int]]:
    """The ids before each text, and those behind it."""
    (head,) = part_ids(tokenizer, [[*format_parts(tokenizer, form.before), instruction]])
    (tail,) = part_ids(tokenizer, [format_parts(tokenizer, form.after)], LINE_END)
    first = start_ids(tokenizer) if form.begin else []
    return [*first, *head], tail


def encode_texts(tokenizer: Any, texts: Sequence[str], form: TextForm, instruction: str = "") -> EncodedTexts:
    """Texts in the form's order: first token, `before`, instruction, text cut to its `max_length`, `after`.

    With `echo` the text, as it was cut, stands once more behind those words, with the same ids; that copy alone is
    pooled. A text without any token stands for the last token of all that is there, or for the padding token where
    nothing is.
    """
    import numpy as np

    head, tail = ends_of(tokenizer, form, instruction)
    pad = padding_id(tokenizer)
    cut = form.max_length
    if form.whole:
        own = closed_ids(tokenizer, [instruction + text for text in texts], cut) if texts else []
        found = Ragged.of([ids or [pad] for ids in own])
        return EncodedTexts(found, np.zeros(len(found), dtype=np.int64), pad)
    if form.stripped:
        texts = [text.rstrip() if instruction else text.strip() for text in texts]
    pieces = (ids_behind if form.before + instruction else piece_ids)(tokenizer, texts)
    if form.echo is not None:
        (between,) = part_ids(tokenizer, [format_parts(tokenizer, form.echo)], LINE_END)
        firsts = [[*head, *ids[:cut], *between] for ids in pieces]
        rows = [[*first, *ids[:cut], *tail] or [pad] for first, ids in zip(firsts, pieces, strict=True)]
        return EncodedTexts(Ragged.of(rows), np.array([*map(len, firsts)], dtype=np.int64), pad, len(tail))
    rows = [[*head, *ids[:cut], *tail] or [pad] for ids in pieces]
    return EncodedTexts(Ragged.of(rows), np.full(len(rows), len(head), dtype=np.int64), pad)
