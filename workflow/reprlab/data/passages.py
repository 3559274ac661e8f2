"""Runs of whole sentences: the passages of which the boundaries of sentences are the labels, and excerpts of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class PassageSettings(BaseModel):
    """How long a passage is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    most_words: int = Field(default=100, ge=2)
    """Largest number of words of a passage."""


def whole_sentences(sentences: Iterable[str], most_words: int) -> Iterator[list[str]]:
    """Runs of sentences of at most `most_words` words, packed greedily without overlap, with single spaces.

    A sentence that is longer than that is left out, and what is on both sides of it is not joined.
    """
    packed: list[str] = []
    count = 0
    for sentence in sentences:
        words = sentence.split()
        if packed and count + len(words) > most_words:
            yield packed
            packed, count = [], 0
        if 0 < len(words) <= most_words:
            packed.append(" ".join(words))
            count += len(words)
    if packed:
        yield packed


def passage_rows(document: str, sentences: Iterable[str], settings: PassageSettings) -> Iterator[dict[str, Any]]:
    """The examples of a document, of the kind `passages`; those of one sentence, without a boundary, are left out."""
    for number, packed in enumerate(whole_sentences(sentences, settings.most_words)):
        if len(packed) > 1:
            yield {"id": f"{document}-{number}", "group": document, "sentences": packed}
