"""Named entities in the columns of CoNLL-2012, as tags of words."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.readers.conll_coreference import parts
from reprlab.data.sources import Sources
from reprlab.registry.dataset_entries import Split, SplitSettings
from reprlab.runtime.errors import ReprlabError

_COLUMN, _COLUMNS = 10, 12


class Settings(BaseModel):
    """Which files."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    files: dict[Split, str] = Field(min_length=1)
    """File of each split."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example a sentence, in BIO tags; the group is the document.

    Raises:
        ReprlabError: a file is not of the format.
    """
    for split, name in settings.files.items():
        for row in sentences(sources.archive.file(name)):
            yield {**row, "split": split}


def sentences(path: Path) -> Iterator[dict[str, Any]]:
    """The sentences of one file.

    Raises:
        ReprlabError: names the line that is not of the format.
    """
    for part, lines in parts(path, _COLUMNS):
        tokens: list[str] = []
        tags: list[str] = []
        opened, number = "", 0
        for place, cells in [*lines, (0, [])]:
            if cells:
                tag, opened = _tag(cells[_COLUMN], opened, f"{path}: line {place}")
                tokens.append(cells[3])
                tags.append(tag)
            elif tokens:
                group = part.rpartition("_")[0]
                yield {"id": f"{part}-{number}", "group": group, "tokens": tokens, "tags": tags}
                tokens, tags, number = [], [], number + 1


def _tag(cell: str, opened: str, where: str) -> tuple[str, str]:
    """The tag of a word, and the entity that is open behind it. Of a cell such as `(ORG*`, `*`, `*)`, `(ORG)`."""
    if cell.startswith("("):
        kind = cell.strip("()*")
        if opened or not kind:
            raise ReprlabError(f"{where}: {cell!r} opens an entity in another one, or none")
        return f"B-{kind}", "" if cell.endswith(")") else kind
    return (f"I-{opened}" if opened else "O"), "" if cell.endswith(")") else opened
