"""The novels of the R package janeaustenr, out of R's database of lazily loaded data."""

import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.config.dataset_entries import SplitSettings
from reprlab.data.sources import Sources
from reprlab.runtime.errors import ReprlabError

# In a serialised character vector each string is this mark, a big-endian length and UTF-8 bytes.
_STRING = b"\x00\x04\x00\x09"
_CHAPTER = re.compile(r"^(?:chapter|volume)\s+(?:[0-9]+|[ivxlc]+)\b\.?\s*$", re.IGNORECASE)


class Settings(BaseModel):
    """Where the database is."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    member: str
    """The .rdb file in the archive."""
    min_document_words: int = Field(default=100, ge=1)
    """What stands before the first chapter is shorter than this and left out."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One document for each chapter; `source` is the novel.

    Raises:
        ReprlabError: the database is not as described.
    """
    path = sources.archive.member(settings.member)
    for novel in novels(path):
        title = next(line for line in novel if line.strip()).strip().title()
        for number, chapter in enumerate(_chapters(novel)):
            text = "\n\n".join(_paragraphs(chapter))
            if len(text.split()) >= settings.min_document_words:
                yield {"id": f"{title.lower().replace(' ', '-')}-{number}", "text": text, "source": title}


def novels(path: Path) -> Iterator[list[str]]:
    """The lines of each record: a 4-byte length of the unpacked record, then one zlib stream."""
    data = path.read_bytes()
    try:
        while data:
            unpacker = zlib.decompressobj()
            record = unpacker.decompress(data[4:])
            if len(record) != struct.unpack(">I", data[:4])[0]:
                raise ValueError("a record is not as long as it says")
            data = unpacker.unused_data
            yield list(_strings(record))
    except (zlib.error, struct.error, ValueError) as error:
        raise ReprlabError(f"{path}: not a database of R data ({error})") from None


def _strings(record: bytes) -> Iterator[str]:
    start = record.find(_STRING)
    while start >= 0:
        start += len(_STRING)
        (length,) = struct.unpack(">i", record[start : start + 4])
        yield record[start + 4 : start + 4 + max(length, 0)].decode("utf-8")
        start = record.find(_STRING, start + 4 + max(length, 0))


def _chapters(lines: list[str]) -> Iterator[list[str]]:
    chapter: list[str] = []
    for line in lines:
        if _CHAPTER.match(line.strip()):
            yield chapter
            chapter = []
        else:
            chapter.append(line)
    yield chapter


def _paragraphs(lines: list[str]) -> list[str]:
    blocks = "\n".join(line.rstrip() for line in lines).split("\n\n")
    return [text for text in (" ".join(block.split()) for block in blocks) if text]
