"""What a reader is given, and the small reading steps that readers share."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.tables import read_parquet
from reprlab.data.archives import Archive
from reprlab.data.text_files import read_text, tab_rows
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.log import get_logger

if TYPE_CHECKING:
    import pyarrow

__all__ = [
    "FaultyRows", "Sources", "expected_format", "json_items", "open_sources", "parse_json", "read_json_member",
    "read_text", "segmented_sentences", "tab_rows",
]  # fmt: skip
_AGAIN = "delete it and run again"


@dataclass
class FaultyRows:
    """Rows of a published set that are not examples: the number that its entry gives, and the number met so far."""

    known: int = 0
    met: int = 0

    def leave_out(self, reason: str) -> None:
        """Count a row that is left out, and say why.

        Raises:
            ReprlabError: there are more than the entry says.
        """
        self.met += 1
        if self.met > self.known:
            told = f"; if the published set is so, set faulty_rows in its entry ({self.known} now)"
            raise ReprlabError(reason + told)
        get_logger().info("left out: %s", reason)


@dataclass(frozen=True)
class Sources:
    """The fetched archives of an entry by name, and the segmented sentences of its corpora."""

    archives: dict[str, Archive] = field(default_factory=dict)
    documents: list[Path] = field(default_factory=list)
    faulty: FaultyRows = field(default_factory=FaultyRows)

    @contextmanager
    def row(self) -> Iterator[None]:
        """Read one row; where it is refused, it is one of the faulty rows, of which the entry says how many there are.

        Raises:
            ReprlabError: there are more than that.
        """
        try:
            yield
        except ReprlabError as error:
            self.faulty.leave_out(str(error))

    @property
    def archive(self) -> Archive:
        """The only archive.

        Raises:
            ReprlabError: there is not exactly one.
        """
        if len(self.archives) != 1:
            raise ReprlabError(f"this reader reads one archive, the entry lists {len(self.archives)}")
        return next(iter(self.archives.values()))

    def file(self, name: str) -> Path:
        """The downloaded file `name`, of whichever archive has it.

        Raises:
            ReprlabError: none has.
        """
        return self.archive_of(name).file(name)

    def archive_of(self, name: str) -> Archive:
        """The archive that has the file `name`.

        Raises:
            ReprlabError: none has.
        """
        for archive in self.archives.values():
            if archive.has_file(name):
                return archive
        raise ReprlabError(f"{name}: is a file of none of {', '.join(self.archives)}; correct the data registry")


def open_sources(
    names: list[str], receipts: list[Path], documents: list[Path], cache: Path, registry: Path | None = None
) -> Sources:
    """Open the archives `names` through their receipts (in any order), and with the registry that they come from.

    Raises:
        ReprlabError: the receipt of an archive is missing.
    """
    opened = {archive.name: archive for archive in (Archive.open(cache, receipt, registry) for receipt in receipts)}
    missing = [name for name in names if name not in opened]
    if missing:
        raise ReprlabError(f"{missing[0]}: no receipt of this archive was given (--receipts)")
    return Sources({name: opened[name] for name in names}, documents)


def segmented_sentences(path: Path, columns: list[str]) -> pyarrow.Table:
    """Some columns of a table of segmented sentences, `sentences` among them.

    Raises:
        ReprlabError: the file is damaged, or a value in it is missing or of another kind.
    """
    import pyarrow

    table = read_parquet(path, columns)
    kinds = {
        "passage": pyarrow.types.is_integer,
        "sentences": lambda kind: kind == pyarrow.list_(pyarrow.string()),
    }
    for column in table.schema:
        if not kinds.get(column.name, pyarrow.types.is_string)(column.type):
            raise ReprlabError(f"{path}: its column {column.name} is of the type {column.type}; {_AGAIN}")
    lists = table["sentences"].combine_chunks()
    if any(column.null_count for column in table.columns) or lists.flatten().null_count:
        raise ReprlabError(f"{path}: a value is missing; {_AGAIN}")
    return table


@contextmanager
def expected_format(place: str, what: str) -> Iterator[None]:
    """Turn what goes wrong when data has another shape (a key is missing, a list is a number) into the user's line.

    Args:
        place: file, and line or item.
        what: what it should be.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise ReprlabError(f"{place}: not {what} ({reason}); the data or its reader is wrong") from None


def parse_json(text: str, place: str) -> Any:
    """A JSON value whose strings can be written as UTF-8.

    Raises:
        ReprlabError: it is not JSON, is nested too deeply, or holds half of a surrogate pair.
    """
    try:
        value = json.loads(text)
        # Only an escape can bring in a surrogate; most texts have none and are not looked through.
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise ReprlabError(f"{place}: JSON nested too deeply") from None
    except UnicodeEncodeError:
        raise ReprlabError(f"{place}: a text holds half of a surrogate pair, which is not a character") from None
    except ValueError as error:
        raise ReprlabError(f"{place}: not valid JSON ({error})") from None
    return value


def read_json_member(path: Path) -> dict[str, Any]:
    """A JSON object.

    Raises:
        ReprlabError: it is not one.
    """
    value = parse_json(read_text(path), str(path))
    if not isinstance(value, dict):
        raise ReprlabError(f"{path}: expected a JSON object")
    return value


def json_items(path: Path, key: str = "examples") -> list[Any]:
    """The list under `key` of a JSON object.

    Raises:
        ReprlabError: there is none.
    """
    items = read_json_member(path).get(key)
    if not isinstance(items, list):
        raise ReprlabError(f"{path}: expected a list under {key!r}")
    return items
