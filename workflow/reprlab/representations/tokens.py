"""Texts of causal language models as token ids."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reprlab.runtime.errors import ReprlabError, first_line


def open_tokenizer(folder: Path) -> Any:
    """The tokenizer of a folder.

    Raises:
        ReprlabError: the folder holds none.
    """
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        raise ReprlabError(f"{folder}: no tokenizer can be opened there ({first_line(error)})") from None


def encode_texts(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Token ids of each text, with the start token that the tokenizer adds and without an end token: texts go on."""
    encoded = tokenizer(list(texts))["input_ids"]
    closes = tokenizer("")["input_ids"][-1:] == [tokenizer.eos_token_id]
    # A start token may be the end token too (GPT-2's); alone, in an empty text, it stands for both.
    if closes and tokenizer.eos_token_id != tokenizer.bos_token_id:
        return [ids[:-1] for ids in encoded]
    return list(encoded)
