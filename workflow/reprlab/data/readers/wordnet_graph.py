"""WordNet as assertions: the words of each synset, and those of the synsets that it points to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.sources import Sources
from reprlab.data.wordnet_glosses import read_synsets
from reprlab.registry.dataset_entries import SplitSettings


class Settings(BaseModel):
    """Which files."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    data: list[str] = Field(min_length=1)
    """Members with the synsets; pointers to synsets of other files are left out."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One text for each synset, in the form of `ConceptGraph.of_assertions`, all in the train split.

    Raises:
        ReprlabError: a file is not WordNet's.
    """
    synsets = [one for member in settings.data for one in read_synsets(sources.archive.member(member))]
    words = {(one.part, one.name): "\t".join(dict.fromkeys(word.lower() for word in one.words)) for one in synsets}
    for one in synsets:
        near = [words[place] for place in dict.fromkeys(one.near) if place in words]
        name = f"{one.part}{one.name}"
        yield {"id": name, "text": "\n".join([words[one.part, one.name], *near]), "source": one.topic, "split": "train"}
