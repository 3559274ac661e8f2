"""Definitions of WordNet as short documents, for small language models."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict

from reprlab.data.sources import Sources
from reprlab.data.splits import split_of
from reprlab.data.wordnet_glosses import read_synsets
from reprlab.registry.dataset_entries import SplitSettings


class Settings(BaseModel):
    """Which file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    data: str
    """Member with the synsets (`data.noun`)."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One document a synset; with equal shares and seed, its split is that of `wordnet_glosses`.

    Raises:
        ReprlabError: the file is not WordNet's.
    """
    for one in read_synsets(sources.archive.member(settings.data)):
        text = f"{', '.join(one.words)}: {'; '.join((one.definition, *one.examples))}."
        yield {"id": one.name, "text": text, "source": one.topic, "split": split_of(one.above or one.name, splits)}
