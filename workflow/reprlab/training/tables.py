"""Rows of a run as a TSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reprlab.runtime.files import write_text


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows that share their keys as a TSV, floats in shortest exact form, NaN as an empty cell.

    Written without pandas, which a training process need not import.
    """
    columns = list(rows[0]) if rows else ["step"]
    lines = ["\t".join(columns), *("\t".join(_cell(row[name]) for name in columns) for row in rows)]
    write_text(path, "\n".join(lines) + "\n")


def _cell(value: Any) -> str:
    return (
        "" if isinstance(value, float) and value != value else repr(value) if isinstance(value, float) else str(value)
    )
