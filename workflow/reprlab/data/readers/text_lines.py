"""Plain text with one document a line."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.sources import Sources
from reprlab.data.text_files import text_rows
from reprlab.registry.dataset_entries import SplitSettings


class Settings(BaseModel):
    """Which files."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    members: list[str] = Field(min_length=1)
    """Files in the archive."""
    encoding: str = "utf-8"
    """Encoding of the files."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One document for each line that is not empty; `source` is the file."""
    for member in settings.members:
        stem = PurePosixPath(member).stem
        for number, line in text_rows(sources.archive.member(member), settings.encoding):
            if line.strip():
                yield {"id": f"{stem}-{number}", "text": " ".join(line.split()), "source": stem}
