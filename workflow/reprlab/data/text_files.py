"""Text files of others, decoded in one place: a byte-order mark is not text, and a row ends at a line feed alone.

The content of a file is kept as it is: carriage returns count as the characters that they are (offsets of annotations),
and only the one before a line feed belongs to the end of a row. Other characters at which `str.splitlines`, or a reader
with "universal newlines", would cut are part of the text.
"""

import codecs
import csv
import gzip
import io
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from reprlab.runtime.errors import ReprlabError

_BLANKS = re.compile(r"[ \t]+")
_LONE_RETURN = re.compile(r"\r(?!\n)")
_HELD = "\0"


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """The text of a file; one that begins with UTF-8's byte-order mark is UTF-8, whatever was expected.

    Raises:
        ReprlabError: the bytes are not of this encoding.
    """
    content = path.read_bytes()
    encoding = "utf-8" if content.startswith(codecs.BOM_UTF8) else encoding
    try:
        return content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ReprlabError(f"{path}: byte {error.start} is not {encoding}; the data or the reader is wrong") from None


def text_rows(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """(number, text) of each row of a file, without its end; behind the last line feed there is an empty one.

    Raises:
        ReprlabError: the bytes are not of this encoding.
    """
    for number, row in enumerate(read_text(path, encoding).split("\n"), start=1):
        yield number, row.removesuffix("\r")


def streamed_rows(path: Path, *, zipped: bool) -> Iterator[tuple[int, str]]:
    """`text_rows` of a file in UTF-8 that need not fit into memory, gzipped or not; no empty row behind the last.

    Raises:
        OSError, EOFError, zlib.error, UnicodeDecodeError: the bytes are broken; the caller knows whose they are.
    """
    with (gzip.open if zipped else open)(path, "rb") as rows:
        for number, row in enumerate(rows, start=1):
            text = row.removeprefix(codecs.BOM_UTF8 if number == 1 else b"").decode("utf-8")
            yield number, text.removesuffix("\n").removesuffix("\r")


def blank_cells(row: str) -> list[str]:
    """The cells of a row between spaces and tabs; a no-break space is part of its cell."""
    return [cell for cell in _BLANKS.split(row) if cell]


def tab_rows(path: Path, columns: int, encoding: str = "utf-8", called: str = "") -> Iterator[tuple[int, list[str]]]:
    """(number, cells) of each row of a tab-separated file that is not empty; `called`: the columns, for a message.

    Raises:
        ReprlabError: a row has another number of cells.
    """
    for number, row in text_rows(path, encoding):
        cells = row.split("\t")
        if cells == [""]:
            continue
        if len(cells) != columns:
            expected = f"{columns}: {called}" if called else columns
            many = f"{len(cells)} cell{'s' * (len(cells) != 1)}"
            raise ReprlabError(f"{path}: line {number} has {many}, expected {expected}{_other_format(row)}")
        yield number, cells


def _other_format(row: str) -> str:
    """What a row without tabs looks like, where that is clear."""
    if "\t" in row:
        return ""
    if row.lstrip().startswith(("{", "[")):
        return "; it looks like JSON: write its fields as columns with tabs between them"
    return "; it looks like comma-separated text: write tabs between its cells" if "," in row else ""


def tab_table(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """(number, cells by column) of each row of a tab-separated file with a header, `columns` among it; see `tab_rows`.

    A quotation mark is a character like any other: a row is a line.

    Raises:
        ReprlabError: the header lacks a column or has one twice, or a row has another number of cells.
    """
    header = next((row.split("\t") for _, row in text_rows(path) if row), [])
    if lacking := [name for name in columns if name not in header]:
        other = _other_format("\t".join(header)) or "; write them with tabs between"
        raise ReprlabError(f"{path}: has no column {lacking[0]} of {', '.join(columns)}{other}")
    if twice := [name for name in header if header.count(name) > 1]:
        raise ReprlabError(f"{path}: has two columns {twice[0]!r}; rename one")
    for place, (number, cells) in enumerate(tab_rows(path, len(header), called=", ".join(header))):
        if place:
            yield number, dict(zip(header, cells, strict=True))


def one_of(value: str, allowed: Collection[str], place: str) -> str:
    """The value.

    Raises:
        ReprlabError: it is none of those that are allowed.
    """
    if value not in allowed:
        raise ReprlabError(f"{place} {value!r} is none of {', '.join(repr(one) for one in allowed)}")
    return value


def csv_rows(path: Path, delimiter: str = ",") -> Iterator[list[str]]:
    """The rows of a CSV file in UTF-8, whose quoted cells may hold line feeds; a lone carriage return ends none.

    Raises:
        csv.Error: quotes are not closed, or are inside a cell.
        ReprlabError: the bytes are not UTF-8.
    """
    # The parser would end a row at each carriage return: those that are text are held back.
    text = _LONE_RETURN.sub(_HELD, read_text(path))
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True):
        yield [cell.replace(_HELD, "\r") for cell in row]
