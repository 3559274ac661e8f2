"""Tagged sentences in columns, one token a line: CoNLL's files, and the tab-separated ones of biomedical names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from reprlab.data.sources import Sources, read_text
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
    """Columns stand between tabs and may hold spaces; otherwise between white space."""
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

    Raises:
        ReprlabError: a line has another number of columns.
    """
    archive = sources.archive
    for split, names in settings.tagged.items():
        for name in names:
            path = archive.file(name) if archive.has_file(name) else archive.member(name)
            yield from _sentences(path, f"{split}-{Path(name).stem}", split, settings)


def _sentences(path: Path, name: str, split: str, settings: Settings) -> Iterator[dict[str, Any]]:
    tokens: list[str] = []
    tags: list[str] = []
    document = number = 0
    for place, line in enumerate([*read_text(path).split("\n"), ""], start=1):
        cells = line.rstrip("\r").split("\t") if settings.tabs else line.split()
        if not line.strip():
            if tokens:
                group = f"{name}-d{document}" if document else f"{name}-{number}"
                yield {
                    "id": f"{name}-{number}",
                    "group": group,
                    "split": split,
                    "tokens": tokens,
                    "tags": iob2(tags) if settings.iob2 else tags,
                }
                tokens, tags, number = [], [], number + 1
        elif len(cells) != settings.columns:
            raise ReprlabError(f"{path}: line {place} has {len(cells)} columns, expected {settings.columns}")
        elif cells[0] == _DOCUMENT:
            document += 1
        else:
            tokens.append(cells[0])
            tag = cells[settings.column]
            tags.append(tag if settings.typed else tag.partition("-")[0])


def iob2(tags: list[str]) -> list[str]:
    """Tags of IOB1, where B opens a chunk only behind one of the same type, as IOB2, where it opens each chunk."""
    pairs = zip(["O", *tags], tags, strict=False)
    return ["B" + tag[1:] if tag[:1] == "I" and before[1:] != tag[1:] else tag for before, tag in pairs]
