"""What masking must know of a vocabulary, whether its ids are laid out by us or published."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.runtime.errors import ReprlabError
from reprlab.text.tokenizer_folder import open_tokenizer
from reprlab.text.vocabulary import FILE, Vocabulary


@dataclass(frozen=True)
class MaskVocabulary:
    """The id that stands for a masked token, and those that are never masked and never drawn."""

    mask_id: int
    special: tuple[int, ...]
    size: int

    @classmethod
    def of(cls, vocabulary: Vocabulary | MaskVocabulary) -> MaskVocabulary:
        """That of our own layout: its first sentinel is the mask."""
        if isinstance(vocabulary, MaskVocabulary):
            return vocabulary
        special = (*range(vocabulary.unk_id + 1), *range(vocabulary.pieces, vocabulary.padded_size))
        return cls(vocabulary.first_sentinel, special, vocabulary.padded_size)

    @classmethod
    def load(cls, folder: Path) -> MaskVocabulary:
        """That of a tokenizer's folder.

        Raises:
            ReprlabError: its tokenizer has no token for a mask.
        """
        if (folder / FILE).exists():
            return cls.of(Vocabulary.load(folder))
        tokenizer = open_tokenizer(folder)
        if tokenizer.mask_token_id is None:
            raise ReprlabError(f"{folder}: its tokenizer has no mask token; name a model that was trained with one")
        return cls(int(tokenizer.mask_token_id), tuple(sorted(tokenizer.all_special_ids)), len(tokenizer))

    @cached_property
    def _is_special(self) -> np.ndarray:
        found = np.zeros(self.size, dtype=bool)
        found[list(self.special)] = True
        return found

    @cached_property
    def _ordinary(self) -> np.ndarray:
        return np.flatnonzero(~self._is_special)

    def is_special(self, ids: np.ndarray) -> Any:
        """True at special ids."""
        return self._is_special[ids]

    def draw(self, rng: np.random.Generator, shape: int | tuple[int, ...]) -> np.ndarray:
        """Ids that are not special, each by itself and uniformly."""
        return self._ordinary[rng.integers(0, len(self._ordinary), shape)]
