"""Tokenizers of published decoders, where passages are cut into rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from reprlab.runtime.errors import ReprlabError


class PublishedVocabulary:
    """What rows of a decoder need of a published tokenizer, which has no layout of ours."""

    def __init__(self, tokenizer: Any) -> None:
        """Raises ReprlabError where no token ends a text."""
        if tokenizer.eos_token_id is None:
            raise ReprlabError(f"{tokenizer.name_or_path}: the tokenizer has no token that ends a text; name another")
        self.eos_id = int(tokenizer.eos_token_id)
        self.unk_id = self.eos_id if tokenizer.unk_token_id is None else int(tokenizer.unk_token_id)
        self._special = np.array(sorted(tokenizer.all_special_ids), dtype=np.int32)

    def is_special(self, ids: np.ndarray) -> np.ndarray:
        """[n] bool: ids that must not come out of a text."""
        return np.isin(ids, self._special)
