"""Settings and rules for cutting documents into passages of sentences."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.text.sentences import SplitterName


class SegmentationSettings(BaseModel):
    """Documents into sentences and passages."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    splitter: SplitterName = "punkt_package"
    """Where Punkt's model comes from; none: a document stays as it is, white space included (source code)."""
    passages: Literal["document", "window", "words"] = "document"
    """document: one passage per document, whose overlong rest tokenisation drops; window: consecutive passages of whole
    sentences; words: consecutive runs of `passage_words` words, wherever sentences end."""
    max_sentences: int = Field(default=20, ge=1)
    """window: most sentences of a passage. DEPTH drops later sentences of a document itself; T5 reads on."""
    passage_words: int = Field(default=380, ge=1)
    """window: a passage ends before the sentence that would exceed so many words; it has at least one sentence. words:
    its length, but for the last one of a document."""
    training_characters: int = Field(default=2_000_000, ge=1)
    """punkt_trained: characters of the train split that Punkt learns from."""


def cut_passages(sentences: list[str], settings: SegmentationSettings) -> list[list[str]]:
    """Passages of one document; a document without sentences has none."""
    if not sentences:
        return []
    if settings.passages == "document":
        return [sentences]
    if settings.passages == "words":
        text = [word for sentence in sentences for word in sentence.split()]
        size = settings.passage_words
        return [[" ".join(text[start : start + size])] for start in range(0, len(text), size)]
    passages: list[list[str]] = [[]]
    words = 0
    for sentence in sentences:
        length = len(sentence.split())
        full = len(passages[-1]) == settings.max_sentences or words + length > settings.passage_words
        if passages[-1] and full:
            passages.append([])
            words = 0
        passages[-1].append(sentence)
        words += length
    return passages
