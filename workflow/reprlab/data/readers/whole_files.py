"""Unpacked members of packages as documents: source code, manuals, whatever is text as it is."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.sources import Sources, read_text
from reprlab.registry.dataset_entries import SplitSettings


class Settings(BaseModel):
    """Which files."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: str = ""
    """The part of their paths that ids begin behind; empty: ids are names of files."""
    without: list[str] = []
    """Files with one of these in their path are left out: tests, tables that a program wrote."""
    encoding: str = "utf-8"
    """Encoding of the files."""
    least_characters: int = Field(default=1, ge=1)
    """Shorter files are left out: empty ones, and those that only import."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One document for each member that the registry lists of each archive, with line ends and indentation as they are;
    `source` is the archive."""
    for name, archive in sources.archives.items():
        for pattern in archive.wanted:
            for path in archive.members(pattern):
                inside = path.as_posix().rpartition(settings.folder or "/")[2]
                text = read_text(path, settings.encoding)
                wanted = not any(part in inside for part in settings.without)
                if wanted and len(text.strip()) >= settings.least_characters:
                    yield {"id": f"{name}-{inside}", "text": text, "source": name}
