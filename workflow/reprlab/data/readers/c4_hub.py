"""C4 from the JSON lines of the hub (paper scale): one object {text, timestamp, url} a line."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.archives import Archive
from reprlab.data.json_lines import json_lines
from reprlab.data.published_tables import require_fields
from reprlab.data.sources import Sources, expected_format
from reprlab.registry.dataset_entries import ArchiveFile, SplitSettings


class Settings(BaseModel):
    """How much of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    train_shards: int | None = Field(default=None, ge=1)
    """Train shards that are read, in order; none means all."""
    train_documents: int | None = Field(default=None, ge=1)
    """Documents of the train shards that are read, in order; none means all."""
    validation_documents: int | None = Field(default=20_000, ge=1)
    """Documents of the validation shards that are read (the first 20,000 in the published runs)."""
    shard_documents: int = Field(default=300_000, ge=1)
    """Documents that a train shard has at least (356,317 in C4): tells how many shards hold those wanted."""


def part(files: list[ArchiveFile], settings: Settings) -> list[ArchiveFile]:
    """What is fetched: the shards that are read, and of the last one, as of the validation shard, its first rows."""
    train = [file for file in files if not _is_validation(file)][: settings.train_shards]
    validation = [_first(file, settings.validation_documents) for file in files if _is_validation(file)]
    if settings.train_documents is None:
        return [*train, *validation]
    whole, rest = divmod(settings.train_documents, settings.shard_documents)
    last = [_first(file, rest) for file in train[whole : whole + 1] if rest]
    return [*train[:whole], *last, *validation]


def _is_validation(file: ArchiveFile) -> bool:
    return "validation" in file.file


def _first(file: ArchiveFile, rows: int | None) -> ArchiveFile:
    return file if rows is None else file.model_copy(update={"rows": rows})


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One document a line, as a stream, in the published splits; `source` is the address.

    Raises:
        ReprlabError: a shard is broken or a line is not such an object.
    """
    limits = {"train": settings.train_documents, "validation": settings.validation_documents}
    taken = {"train": 0, "validation": 0}
    archive = sources.archive
    shards = 0
    for file in archive.files:
        split = "validation" if _is_validation(file) else "train"
        limit = limits[split]
        shards += split == "train"
        beyond = split == "train" and settings.train_shards is not None and shards > settings.train_shards
        if beyond or (limit is not None and taken[split] >= limit):
            continue
        for name, text, address in _documents(archive, file.file):
            yield {"id": f"{split}-{name}", "text": text, "source": address, "split": split}
            taken[split] += 1
            if taken[split] == limit:
                break


def _documents(archive: Archive, file: str) -> Iterator[tuple[str, str, str]]:
    shard = archive.file(file)
    prefix = shard.name.partition(".")[2].partition("-of-")[0]
    for place, (number, document) in enumerate(json_lines(shard)):
        if not place and isinstance(document, dict):
            require_fields(archive, file, list(document), ["text", "url"])
        with expected_format(f"{shard}: line {number}", "a document of C4"):
            text, address = document["text"], document["url"]
            if not isinstance(text, str) or not isinstance(address, str):
                raise TypeError("text and url must be strings")
        if text.strip():
            yield f"{prefix}-{number}", text, address
