"""From a reader's examples to the rows of examples.parquet."""

from dataclasses import replace
from typing import Any

from reprlab.data.schema import DEFAULTS, TEXT_COLUMNS, check_row, columns_of
from reprlab.data.sources import FaultyRows, Sources
from reprlab.data.splits import SeenTexts, limited, require_splits, split_of
from reprlab.plugins import load_plugin
from reprlab.registry.dataset_entries import SPLITS, Limits, TaskEntry, reader_settings
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.log import get_logger


def examples_of(entry: TaskEntry, sources: Sources, limits: Limits) -> list[dict[str, Any]]:
    """The checked examples of a task, at most `limits` of each split.

    A reader yields {id, group, columns of the kind} and, where the data has splits of its own, split. Splits of its own
    are kept as published; otherwise duplicates are dropped first and each group goes to one split.

    Raises:
        ReprlabError: a row is not as declared, or an id appears twice.
    """
    reader = load_plugin("data.readers", entry.reader)
    sources = replace(sources, faulty=FaultyRows(entry.faulty_rows))
    read = list(reader.read(sources, reader_settings(entry), entry.splits))
    own_split = bool(read) and all("split" in row for row in read)
    seen = SeenTexts()
    rows = [row for row in read if own_split or seen.is_new(_text_of(row, entry.kind))]
    dropped = len(read) - len(rows)
    kept, names = [], set[str]()
    for number, row in enumerate(rows):
        with sources.row():
            _complete(row, entry, f"{entry.name}: example {number} ({row.get('id')})")
            if row["id"] in names:
                raise ReprlabError(
                    f"{entry.name}: the id {row['id']!r} is used twice; the reader must give distinct ids"
                )
            names.add(row["id"])
            kept.append(row)
    rows = kept
    get_logger().info(
        "%s: %d examples, %d of them duplicates and dropped; %d faulty rows were left out",
        entry.name,
        len(read),
        dropped,
        sources.faulty.met,
    )
    if not own_split:
        require_splits({row["split"] for row in rows}, entry.splits, entry.name)
    return limited(rows, limits, entry.splits.seed)


def _complete(row: dict[str, Any], entry: TaskEntry, where: str) -> None:
    for name, value in DEFAULTS.items():
        if name in columns_of(entry.kind):
            row.setdefault(name, value)
    row.setdefault("split", split_of(row["group"], entry.splits))
    check_row(row, entry.kind, entry.labels, where)


def _text_of(row: dict[str, Any], kind: str) -> str:
    parts = []
    for column in TEXT_COLUMNS[kind]:
        value = row.get(column, "")
        parts.append(" ".join(value) if isinstance(value, list) else str(value))
    return "\n".join(parts)


def metadata_of(entry: TaskEntry, limits: Limits, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What a table says about the data: true name, role, labels, licence, note, limits and the sizes of the splits."""
    return {
        "name": entry.name,
        "title": entry.title,
        "kind": entry.kind,
        "role": entry.role,
        "labels": entry.labels,
        "licence": entry.licence,
        "note": entry.note,
        "limits": limits.model_dump(),
        "sizes": {split: sum(row["split"] == split for row in rows) for split in SPLITS},
    }
