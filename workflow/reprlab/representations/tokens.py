"""Texts of causal language models as token ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reprlab.text.encoding import piece_ids, surrounding_ids


def encode_texts(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Token ids of each text, with the start token that the tokenizer adds and without an end token: texts go on."""
    before, _ = surrounding_ids(tokenizer)
    return [[*before, *ids] for ids in piece_ids(tokenizer, texts)]
