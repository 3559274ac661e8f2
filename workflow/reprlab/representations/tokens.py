"""Texts of causal language models as token ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def encode_texts(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Token ids of each text, with the start token that the tokenizer adds and without an end token: texts go on."""
    encoded = tokenizer(list(texts))["input_ids"]
    closes = tokenizer("")["input_ids"][-1:] == [tokenizer.eos_token_id]
    # A start token may be the end token too (GPT-2's); alone, in an empty text, it stands for both.
    if closes and tokenizer.eos_token_id != tokenizer.bos_token_id:
        return [ids[:-1] for ids in encoded]
    return list(encoded)
