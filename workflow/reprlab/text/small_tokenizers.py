"""Small tokenizers that are known by construction, for checks of what is done with a tokenizer's ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def words_tokenizer(tokens: Sequence[str]) -> Any:
    """One token for each of these words, between spaces; the first is padding."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel({token: number for number, token in enumerate(tokens)}))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=tokens[0])


def bytes_tokenizer() -> Any:
    """One token for each byte from 2 on, so that every text splits at every boundary; 0 is padding, 1 the end."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {"<pad>": 0, "<end>": 1, **{byte: place + 2 for place, byte in enumerate(alphabet)}}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>", eos_token="<end>")  # noqa: S106
