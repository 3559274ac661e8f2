"""What a reader is given, and the small reading steps that readers share."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reprlab.data.archives import Archive
from reprlab.runtime.errors import ReprlabError


@dataclass(frozen=True)
class Sources:
    """The fetched archives of an entry by name, and the segmented sentences of its corpora."""

    archives: dict[str, Archive] = field(default_factory=dict)
    documents: list[Path] = field(default_factory=list)

    @property
    def archive(self) -> Archive:
        """The only archive.

        Raises:
            ReprlabError: there is not exactly one.
        """
        if len(self.archives) != 1:
            raise ReprlabError(f"this reader reads one archive, the entry lists {len(self.archives)}")
        return next(iter(self.archives.values()))


def open_sources(names: list[str], receipts: list[Path], documents: list[Path], cache: Path) -> Sources:
    """Open the archives `names` through their receipts (in any order).

    Raises:
        ReprlabError: the receipt of an archive is missing.
    """
    opened = {archive.name: archive for archive in (Archive.open(cache, receipt) for receipt in receipts)}
    missing = [name for name in names if name not in opened]
    if missing:
        raise ReprlabError(f"{missing[0]}: no receipt of this archive was given (--receipts)")
    return Sources({name: opened[name] for name in names}, documents)


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """The text of a file.

    Raises:
        ReprlabError: the bytes are not of this encoding.
    """
    try:
        return path.read_text(encoding=encoding)
    except UnicodeDecodeError as error:
        raise ReprlabError(f"{path}: byte {error.start} is not {encoding}; the data or the reader is wrong") from None


def read_json_member(path: Path) -> dict[str, Any]:
    """A JSON object.

    Raises:
        ReprlabError: it is not one.
    """
    try:
        value = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise ReprlabError(f"{path}: not valid JSON ({error})") from None
    if not isinstance(value, dict):
        raise ReprlabError(f"{path}: expected a JSON object")
    return value


def tab_rows(path: Path, columns: int, encoding: str = "utf-8") -> Iterator[tuple[int, list[str]]]:
    """(line number, cells) of each line of a tab-separated file that is not empty.

    Raises:
        ReprlabError: a line has another number of cells.
    """
    # Only "\\n" ends a line: the texts hold other characters that str.splitlines would cut at.
    for number, line in enumerate(read_text(path, encoding).split("\n"), start=1):
        cells = line.rstrip("\r").split("\t")
        if cells == [""]:
            continue
        if len(cells) != columns:
            raise ReprlabError(f"{path}: line {number} has {len(cells)} cells, expected {columns}")
        yield number, cells
