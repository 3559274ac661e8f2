"""Pairs of texts with a likeness, from examples of the kind `similarity`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.encoder import embed
from reprlab.sentences.settings import TextForm
from reprlab.sentences.task_scores import cosines, spearman
from reprlab.sentences.texts import EncodedTexts, encode_texts


@dataclass(frozen=True)
class LikenessPairs:
    """Pairs with what people (or a taxonomy) say of their likeness: the texts i and n + i."""

    texts: EncodedTexts
    gold: np.ndarray

    def cosines(self, encoder: Any, batch_size: int, dtype: str) -> np.ndarray:
        """[n] cosines of the pairs' vectors."""
        vectors = embed(encoder, self.texts, batch_size=batch_size, dtype=dtype)
        return cosines(vectors[: len(self.gold)], vectors[len(self.gold) :])

    def score(self, encoder: Any, batch_size: int, dtype: str) -> float:
        """Spearman's correlation of cosine and likeness."""
        return spearman(self.cosines(encoder, batch_size, dtype), self.gold)


def read_pairs(
    path: Path, tokenizer: Any, form: TextForm, *, split: str, limit: int | None = None, instruction: str = ""
) -> LikenessPairs:
    """The pairs of a split; the instruction is before both texts.

    Raises:
        ReprlabError: the file is unreadable, or has fewer than two pairs in the split.
    """
    import pyarrow.compute

    from reprlab.data.schema import read_rows
    from reprlab.data.splits import drawn

    table, _ = read_rows(path, "similarity")
    found = drawn(table.filter(pyarrow.compute.equal(table["split"], split)), limit)
    if len(found) < 2:
        raise ReprlabError(f"{path}: {len(found)} pairs in the split {split} have no correlation")
    texts = [*found["text_a"].to_pylist(), *found["text_b"].to_pylist()]
    return LikenessPairs(encode_texts(tokenizer, texts, form, instruction), found["score"].to_numpy())
