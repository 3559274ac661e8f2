"""Example tables: one split of one task as columns, labels checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.data.schema import DEFAULTS, KIND_COLUMNS, read_metadata, schema_of
from reprlab.data.splits import drawn_places
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import pyarrow

TRAIN = "train"
# What every table of a kind has; further columns may be left out.
_NEEDED = {
    kind: {"id", "split", *(name for name in columns if name not in DEFAULTS and not columns[name].endswith("?"))}
    for kind, columns in KIND_COLUMNS.items()
}


@dataclass(frozen=True)
class ExampleTable:
    """Rows of one split: `columns` by name, all of the same length; `labels` as the table declares them, in order."""

    path: Path
    kind: str
    labels: tuple[str, ...]
    columns: dict[str, list[Any]]

    def __len__(self) -> int:
        return len(self.columns["id"])

    @property
    def subsets(self) -> list[str]:
        """The subset of each row ('' where the table has none), such as MNLI's matched and mismatched."""
        return [value or "" for value in self.columns.get("subset", [""] * len(self))]


def load_examples(
    path: Path, splits: list[str], limits: dict[str, int | None], *, per_task: int | None = None
) -> dict[str, ExampleTable]:
    """Read the named splits of an example table.

    `limits` caps the rows of a split, and `per_task` the training rows of each task of a mixture, by a random choice
    that is the same each time.

    Raises:
        ReprlabError: unreadable file, no description in it, a split without rows, or a label outside the declared set.
    """
    import pyarrow

    from reprlab.artifacts.tables import read_parquet

    table = read_parquet(path)
    about = _description(path, table)
    missing = _NEEDED[about["kind"]] - set(table.column_names)
    if missing:
        raise ReprlabError(f"{path}: no column {', '.join(sorted(missing))}; delete it and run again")
    for field in schema_of(about["kind"]):
        given = table.schema.field(field.name).type if field.name in table.column_names else field.type
        if given != field.type and not pyarrow.types.is_null(given):
            raise ReprlabError(
                f"{path}: its column {field.name} is {given}, expected {field.type}; delete it and run again"
            )
    columns = table.to_pydict()
    labels = tuple(str(label) for label in about.get("labels", []))
    found = {}
    for split in dict.fromkeys(splits):
        rows = [row for row, name in enumerate(columns["split"]) if name == split]
        if split == TRAIN and per_task is not None and "task" in columns:
            rows = _limited_per_task(rows, columns["task"], per_task)
        rows = _limited(rows, limits.get(split))
        if not rows:
            raise ReprlabError(
                f"{path}: no example in split {split!r}; it has {', '.join(sorted(set(map(str, columns['split']))))}"
            )
        chosen = {name: [values[row] for row in rows] for name, values in columns.items()}
        found[split] = ExampleTable(path, about["kind"], labels, chosen)
    return found


def _description(path: Path, table: pyarrow.Table) -> dict[str, Any]:
    about = read_metadata(path, table, ["kind"])
    if about["kind"] not in list(_NEEDED) or not isinstance(about.get("labels", []), list):
        raise ReprlabError(f"{path}: not a table of examples (by its metadata); delete it and run again")
    return about


def labels_of(table: ExampleTable, given: list[str]) -> tuple[str, ...]:
    """The label set: `given` (the setting), else the table's; every row's label must be in it.

    Raises:
        ReprlabError: a row with another label.
    """
    labels = tuple(given) or table.labels
    column = "tags" if table.kind == "tags" else "label"
    if not labels or column not in table.columns:
        return labels
    allowed = set(labels)
    for number, value in zip(table.columns["id"], table.columns[column], strict=True):
        strange = [tag for tag in (value if column == "tags" else [value]) if tag not in allowed]
        if strange:
            raise ReprlabError(
                f"{table.path}: example {number} has label {strange[0]!r}, expected one of {', '.join(labels)}; "
                "mend the data set or the setting labels"
            )
    return labels


def common_labels(tables: dict[str, ExampleTable], given: list[str]) -> tuple[str, ...]:
    """The label set of all splits of a task (see `labels_of`)."""
    return max((labels_of(table, given) for table in tables.values()), key=len)


def _limited_per_task(rows: list[int], tasks: list[str], limit: int) -> list[int]:
    groups: dict[str, list[int]] = {}
    for row in rows:
        groups.setdefault(tasks[row], []).append(row)
    return sorted(row for group in groups.values() for row in _limited(group, limit))


def _limited(rows: list[int], limit: int | None) -> list[int]:
    # The same choice for every model.
    return [rows[place] for place in drawn_places(len(rows), limit, len(rows))]
