"""Files of packages as documents: source code, manuals, whatever is text as it is."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.sources import Sources, read_text
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError


class Settings(BaseModel):
    """Which files."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    folders: dict[str, str] = Field(min_length=1)
    """Folder in each archive, by the archive's name."""
    ending: str
    """How the names of the files end (`.lua`)."""
    encoding: str = "utf-8"
    """Encoding of the files."""
    least_characters: int = Field(default=1, ge=1)
    """Shorter files are left out: empty ones, and those that only import."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One document for each file, with line ends and indentation as they are; `source` is the archive.

    Raises:
        ReprlabError: an archive has no such file.
    """
    for name, archive in sources.archives.items():
        folder = settings.folders.get(name, "")
        found = archive.members(f"{folder}/*{settings.ending}")
        if not found:
            raise ReprlabError(f"{name}: no file under {folder!r} ends in {settings.ending}; correct `folders`")
        for path in found:
            text = read_text(path, settings.encoding)
            if len(text.strip()) >= settings.least_characters:
                yield {"id": f"{name}-{path.as_posix().partition(f'{folder}/')[2]}", "text": text, "source": name}
