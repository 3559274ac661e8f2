"""Tagged sentences from Parquet files of the hub: a list of words and a list of tags, often as numbers."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.published_tables import published_table
from reprlab.data.sources import Sources, expected_format
from reprlab.registry.dataset_entries import SplitFile, SplitSettings


class Settings(BaseModel):
    """Files and columns."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    files: list[SplitFile] = Field(min_length=1)
    """The files."""
    tokens: str = "tokens"
    """Column of the words."""
    tags: str = "ner_tags"
    """Column of the tags."""
    names: list[str] = []
    """Tags by their numbers; empty: they are words already."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example for each sentence that has a word, in the published splits; rows of several files of a split are
    counted on.

    Raises:
        ReprlabError: a column is missing, tags have other names, or a number is of no tag.
    """
    before: Counter[str] = Counter()
    for file in settings.files:
        path = sources.archive.file(file.file)
        columns, labels = [settings.tokens, settings.tags], {settings.tags: settings.names}
        rows = published_table(sources.archive, file.file, columns, labels).to_pylist()
        start = before[file.split]
        before[file.split] += len(rows)
        for number, row in enumerate(rows):
            name, tags = f"{file.split}-{start + number}", row[settings.tags]
            if not row[settings.tokens]:
                continue
            with sources.row(), expected_format(f"{path}: row {number}", "words with a known tag each"):
                if settings.names:
                    tags = [settings.names[tag] for tag in tags if tag >= 0]
                if len(tags) != len(row[settings.tokens]):
                    raise ValueError(f"{len(row[settings.tokens])} words and {len(tags)} tags")
                yield {"id": name, "group": name, "split": file.split, "tokens": row[settings.tokens], "tags": tags}
