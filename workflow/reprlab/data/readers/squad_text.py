"""Paragraphs of files in SQuAD's form as text: the split of an article is that of `squad_passages`."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict

from reprlab.data.sources import Sources, expected_format, json_items
from reprlab.data.splits import split_of
from reprlab.registry.dataset_entries import SplitSettings


class Settings(BaseModel):
    """Which file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    member: str
    """The file in the archive."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One document a paragraph; with equal shares and seed, no text of a held-out article is in the train split.

    Raises:
        ReprlabError: the file is not in SQuAD's form.
    """
    path = sources.archive.member(settings.member)
    for place, article in enumerate(json_items(path, "data")):
        with expected_format(f"{path}: article {place}", "paragraphs"):
            texts = [" ".join(paragraph["context"].split()) for paragraph in article["paragraphs"]]
        for number, text in enumerate(dict.fromkeys(texts)):
            about = {"id": f"{place}-{number}", "source": f"article {place}", "split": split_of(f"{place}", splits)}
            yield {**about, "text": text}
