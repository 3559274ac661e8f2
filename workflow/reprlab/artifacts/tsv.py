"""TSV files that hold any text, written and read without pandas.

One row is one line in every tool: backslash, tab, newline, carriage return and NUL are written `\\\\`, `\\t`, `\\n`,
`\\r` and `\\0`. A text that a spreadsheet would run as a formula (it begins with `=`, `+`, `-` or `@`, no number) has
an apostrophe before it. A cell with a quotation mark is quoted as in CSV. Reading undoes all of it.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import write_text

_WRITTEN = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\\0"}
_READ = {written: text for text, written in _WRITTEN.items()}
_TO_ESCAPE = re.compile(r"[\\\t\n\r\0]")
_ESCAPED = re.compile(r"\\[\\tnr0]")
# Spreadsheets take the full-width forms, too. Where a text has such an apostrophe already, it gets one more.
_FORMULA = re.compile("'*[-=+@\uff0d\uff1d\uff0b\uff20]")
_GUARDED = re.compile("'+[-=+@\uff0d\uff1d\uff0b\uff20]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def escape(text: str) -> str:
    """A text as it is in a cell, before CSV's quoting."""
    if len(text) > 1 and _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        text = "'" + text
    return _TO_ESCAPE.sub(lambda match: _WRITTEN[match[0]], text)


def unescape(cell: str) -> str:
    """The text that `escape` was given."""
    text = _ESCAPED.sub(lambda match: _READ[match[0]], cell)
    return text[1:] if len(text) > 2 and _GUARDED.match(text) else text


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows that share their keys as a TSV, floats in shortest exact form, NaN as an empty cell."""
    columns = list(rows[0]) if rows else ["step"]
    write_lines(path, [columns, *([_cell(row[name]) for name in columns] for row in rows)])


def write_lines(path: Path, lines: Iterable[Sequence[str]]) -> None:
    """Write a header and its rows, all as text."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter="\t", lineterminator="\n")
    writer.writerows([escape(cell) for cell in line] for line in lines)
    write_text(path, buffer.getvalue())


def read_lines(path: Path) -> list[list[str]]:
    """Header and rows of a TSV, all as text.

    Raises:
        ReprlabError: the file is missing, not UTF-8, or a row has another number of cells than the header.
    """
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            lines = [[unescape(cell) for cell in line] for line in csv.reader(handle, delimiter="\t")]
    except FileNotFoundError:
        raise ReprlabError(f"{path}: no such file") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ReprlabError(f"{path}: not a readable TSV ({error})") from None
    odd = next((number for number, line in enumerate(lines, start=1) if len(line) != len(lines[0])), None)
    if odd is not None:
        raise ReprlabError(f"{path}: row {odd} has another number of cells than the header; delete it and run again")
    return lines


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if value != value else repr(value)
    return str(value)
