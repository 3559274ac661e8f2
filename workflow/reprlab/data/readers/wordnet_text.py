"""Glosses of WordNet as running text, by topic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.sources import Sources
from reprlab.data.wordnet_glosses import read_synsets
from reprlab.registry.dataset_entries import SplitSettings


class Settings(BaseModel):
    """Which file, and which topics."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    data: str
    """Member with the synsets."""
    topics: list[str] = Field(min_length=1)
    """Lexicographer files, without what is before their dot."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One document for each gloss; `source` is the topic.

    Raises:
        ReprlabError: the file is not WordNet's.
    """
    for one in read_synsets(sources.archive.member(settings.data)):
        if one.topic in settings.topics and one.gloss:
            yield {"id": f"{one.part}{one.name}", "text": one.gloss, "source": one.topic}
