"""Files of published data sets, held against what an entry of the registry reads of them: columns, labels, rows."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.tables import parquet_errors, read_parquet
from reprlab.data.archives import Archive
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import pyarrow

_METADATA = b"huggingface"
_NONE: Mapping[str, Sequence[str]] = MappingProxyType({})
_SHOWN = 300
_REMEDY = "correct the options of the entry in the data registry, or name a revision that has it so"


def published_table(
    archive: Archive, name: str, columns: Sequence[str], labels: Mapping[str, Sequence[str]] = _NONE
) -> pyarrow.Table:
    """The columns of a Parquet file that an entry reads; see `published_parquet`."""
    return read_parquet(published_parquet(archive, name, columns, labels), list(columns))


def published_parquet(
    archive: Archive, name: str, columns: Sequence[str], labels: Mapping[str, Sequence[str]] = _NONE
) -> Path:
    """A Parquet file that has these columns, some rows, and these labels where it says which numbers have which names.

    The names stand in the metadata that `datasets` writes (features of the kind ClassLabel), or row by row in a column
    `<label>_text`, as mteb has it. Capitals and marks in a name do not matter; the numbers as their own names (PAWS)
    say nothing.

    Args:
        archive: the archive that has it.
        name: its path there.
        columns: what is read of it.
        labels: names of the numbers 0, 1, ... in columns of labels; none where numbers have no names in the entry.

    Raises:
        ReprlabError: it has not; names repository and file, what is there, what the entry has, and the remedy.
    """
    import pyarrow.parquet

    path = archive.file(name)
    with parquet_errors(path), pyarrow.parquet.ParquetFile(path) as opened:
        schema, rows = opened.schema_arrow, opened.metadata.num_rows
    require_fields(archive, name, schema.names, columns)
    if not rows:
        raise ReprlabError(f"{archive.place(name)}: has no rows, and the entry reads a split from it; {_REMEDY}")
    for column, wanted in labels.items():
        if not wanted:
            continue
        if told := _told(schema, column):
            _compare(archive, name, column, dict(enumerate(told)), wanted, whole=True)
        text = f"{column}_text"
        kinds = dict(zip(schema.names, schema.types, strict=True))
        if pyarrow.types.is_integer(kinds[column]) and pyarrow.types.is_string(kinds.get(text, pyarrow.null())):
            for row in read_parquet(path, [column, text]).group_by([column, text]).aggregate([]).to_pylist():
                require_label(archive, name, column, row, wanted)
    return path


def require_fields(archive: Archive, name: str, found: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse a file, or a row of one, that lacks what the entry reads.

    Raises:
        ReprlabError: it lacks some.
    """
    if lacking := [one for one in wanted if one not in found]:
        raise ReprlabError(
            f"{archive.place(name)}: has {', '.join(map(str, found))[:_SHOWN] or 'nothing'} and the entry reads "
            f"{', '.join(wanted)}: {', '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} missing; {_REMEDY}"
        )


def require_label(archive: Archive, name: str, column: str, row: Mapping[str, Any], wanted: Sequence[str]) -> None:
    """Refuse a row whose `<label>_text` gives its label's number another name than the entry.

    Raises:
        ReprlabError: it does.
    """
    if isinstance(number := row.get(column), int) and f"{column}_text" in row:
        _compare(archive, name, column, {number: row[f"{column}_text"]}, wanted)


def _told(schema: pyarrow.Schema, column: str) -> list[str]:
    """The names of the labels of a column by the metadata of `datasets`; none where they do not say."""
    try:
        feature = json.loads((schema.metadata or {})[_METADATA])["info"]["features"][column]
        while "names" not in feature:
            # A list of labels, in the forms in which it has been written.
            feature = feature[0] if isinstance(feature, list) else feature["feature"]
        names = [str(one) for one in feature["names"]]
    except (LookupError, TypeError, ValueError, RecursionError):
        return []
    return [] if names == [str(number) for number in range(len(names))] else names


def _compare(
    archive: Archive, name: str, column: str, found: Mapping[Any, Any], wanted: Sequence[str], *, whole: bool = False
) -> None:
    own = dict(enumerate(wanted))
    # A number that has no name in the entry is the reader's to refuse, row by row; a list of names has to be the same.
    for number in sorted({*found, *own} if whole else {*found} & {*own}):
        here, there = found.get(number), own.get(number)
        if here is None or there is None or _plain(here) != _plain(there):
            raise ReprlabError(
                f"{archive.place(name)}: the label {number} of {column} is {_said(here)}"
                f"{f' of {len(found)}' if whole else ''} there and {_said(there)} of {len(own)} in the entry; {_REMEDY}"
            )


def _plain(name: Any) -> str:
    return re.sub(r"[\W_]+", "", str(name)).casefold()


def _said(name: Any) -> str:
    return "none" if name is None else repr(name)
