"""The novels of the R package janeaustenr, out of R's database of lazily loaded data."""

import io
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.sources import Sources
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError

# In a serialised character vector each string is this mark, a big-endian length and UTF-8 bytes.
_STRING = b"\x00\x04\x00\x09"
_LONGEST_RECORD = 256 * 2**20
_BLOCK = 2**16
_CHAPTER = re.compile(r"^(?:chapter|volume)\s+(?:[0-9]+|[ivxlc]+)\b\.?\s*$", re.IGNORECASE)


class Settings(BaseModel):
    """Where the database is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    member: str
    """The .rdb file in the archive."""
    min_document_words: int = Field(default=100, ge=1)
    """What comes before the first chapter is shorter than this and left out."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One document for each chapter; `source` is the novel.

    Raises:
        ReprlabError: the database is not as described.
    """
    path = sources.archive.member(settings.member)
    for novel in novels(path):
        title = next((line.strip().title() for line in novel if line.strip()), "")
        for number, chapter in enumerate(_chapters(novel)):
            text = "\n\n".join(_paragraphs(chapter))
            if len(text.split()) >= settings.min_document_words:
                yield {"id": f"{title.lower().replace(' ', '-')}-{number}", "text": text, "source": title}


def novels(path: Path) -> Iterator[list[str]]:
    """The lines of each record: a 4-byte length of the unpacked record, then one zlib stream."""
    try:
        with path.open("rb") as database:
            while head := database.read(4):
                yield list(_strings(_record(database, struct.unpack(">I", head)[0])))
    except (zlib.error, struct.error, ValueError) as error:
        raise ReprlabError(f"{path}: not a database of R data ({error})") from None


def _record(database: IO[bytes], length: int) -> bytes:
    """Unpack one record, never more than the length that it declares; the file is left behind its end."""
    if length > _LONGEST_RECORD:
        raise ValueError(f"a record of {length} bytes is longer than any novel")
    unpacker = zlib.decompressobj()
    parts, left = [], length + 1
    while not unpacker.eof and left > 0:
        block = unpacker.unconsumed_tail or database.read(_BLOCK)
        if not block:
            raise ValueError("the last record is cut off")
        parts.append(unpacker.decompress(block, left))
        left -= len(parts[-1])
    if left != 1 or not unpacker.eof:
        raise ValueError("a record is not as long as it says")
    database.seek(-len(unpacker.unused_data), io.SEEK_CUR)
    return b"".join(parts)


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
