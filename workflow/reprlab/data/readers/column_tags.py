"""Tagged sentences in columns, one token a line: CoNLL's files, and the tab-separated ones of biomedical names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from reprlab.data.sources import Sources
from reprlab.data.tag_schemes import as_iob2, iob2
from reprlab.data.text_files import blank_cells, text_rows
from reprlab.registry.dataset_entries import Split, SplitSettings
from reprlab.runtime.errors import ReprlabError

_DOCUMENT = "-DOCSTART-"


class Settings(BaseModel):
    """Which files, and which column."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tagged: dict[Split, list[str]] = Field(min_length=1)
    """Files or members of each split."""
    column: int = Field(ge=1)
    """Place of the tag, from 0; the token is first."""
    columns: int = Field(ge=2)
    """Columns of a line."""
    tabs: bool = False
    """Columns stand between tabs and may hold spaces; otherwise between spaces and tabs."""
    typed: bool = True
    """Keep the type of a tag; otherwise `B-DNA` is read as `B`."""
    iob2: bool = False
    """Read tags of IOB1 as IOB2: the I that opens a chunk becomes a B. Tags of IOB2 stay as they are."""

    @model_validator(mode="after")
    def _column_is_there(self) -> Self:
        if self.column >= self.columns:
            raise ValueError(f"column ({self.column}) must be below columns ({self.columns})")
        return self


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example for each sentence, with the splits of the files; the group is the document, where it is marked.

    Chunks in another scheme (IOBES, BILOU, BMES) are read as IOB2.

    Raises:
        ReprlabError: a line has another number of columns, or the tags of chunks are of no scheme that is known.
    """
    archive = sources.archive
    for split, names in settings.tagged.items():
        for name in names:
            path = archive.file(name) if archive.has_file(name) else archive.member(name)
            yield from _sentences(path, f"{split}-{Path(name).stem}", split, settings)


def _sentences(path: Path, name: str, split: str, settings: Settings) -> Iterator[dict[str, Any]]:
    found = list(_tagged(path, name, settings))
    # The scheme is one of the file: a sentence may show no end of a chunk.
    schemed = as_iob2([tags for *_, tags in found], str(path))
    for number, ((group, tokens, _), tags) in enumerate(zip(found, schemed, strict=True)):
        own = iob2(tags) if settings.iob2 else tags
        yield {
            "id": f"{name}-{number}",
            "group": group or f"{name}-{number}",
            "split": split,
            "tokens": tokens,
            "tags": own if settings.typed else [tag.partition("-")[0] for tag in own],
        }


def _tagged(path: Path, name: str, settings: Settings) -> Iterator[tuple[str, list[str], list[str]]]:
    """Group (empty where no document is marked), tokens and tags of each sentence, as they are in the file."""
    tokens: list[str] = []
    tags: list[str] = []
    document = 0
    for place, line in chain(text_rows(path), [(0, "")]):
        cells = line.split("\t") if settings.tabs else blank_cells(line)
        if not line.strip():
            if tokens:
                yield f"{name}-d{document}" if document else "", tokens, tags
                tokens, tags = [], []
        elif len(cells) != settings.columns:
            raise ReprlabError(f"{path}: line {place} has {len(cells)} columns, expected {settings.columns}")
        elif cells[0] == _DOCUMENT:
            document += 1
        else:
            tokens.append(cells[0])
            tags.append(cells[settings.column])
