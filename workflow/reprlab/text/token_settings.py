"""Settings of the token files that `tokenize_corpus` writes and `TokenStore` reads."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class TokenStorageSettings(BaseModel):
    """Passages into token ids."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["t5", "depth", "causal"]
    """t5: `x .. EOS`, sentence by sentence; depth: `EOSEN SENT_a x .. EOSEN SENT_b .. EOSEN EOS`; causal: `x .. EOS`,
    the sentences joined by spaces."""
    max_length: int = Field(default=512, ge=8)
    """Tokens of a row; what lies beyond is dropped."""
    max_sentences: int = Field(default=20, ge=1)
    """depth: sentences of a passage that are kept, at most the number of sentence tokens."""
    start_token: bool = False
    """causal: `BOS x ..`, as the tokenizers of Llama and Mistral have it, in place of `x .. EOS`."""
    seed: int = Field(default=0, ge=0)
    """depth: seed of the sentence tokens, which are drawn for each passage."""


class TokenizerRecipe(BaseModel):
    """How the tokenizer is made, whatever model it belongs to."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Literal["model", "trained", "trained_bytes"] = "trained"
    """model: the published tokenizer of `model`; trained: SentencePiece Unigram on the train split; trained_bytes:
    byte-level BPE on it, for decoders."""
    pieces: int = Field(default=4096, ge=64)
    """Pieces of the vocabulary, without sentinels and sentence tokens."""
    sentinels: int = Field(default=100, ge=1)
    """Sentinel tokens <extra_id_0> and following."""
    sentence_tokens: int = Field(default=20, ge=1)
    """Sentence tokens <sent_0> and following."""
    max_sentences: int = Field(default=200_000, ge=1)
    """Sentences of training text, the first ones of the train split."""
