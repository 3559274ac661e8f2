"""The downloads of a run, by their receipts, under the licences of the registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.json_files import read_json

if TYPE_CHECKING:
    import pandas

COLUMNS = ("archive", "version", "licence", "files", "bytes", "sha256")


def data_table(receipts: Sequence[Path], licences: Mapping[str, str]) -> pandas.DataFrame:
    """A row for each archive. Of several files there are the number and the bytes together.

    Where the registry knows no digest, it is that of the first download, to which later ones are held.
    """
    import pandas

    return pandas.DataFrame([_row(read_json(path), licences) for path in receipts], columns=list(COLUMNS))


def _row(receipt: dict[str, Any], licences: Mapping[str, str]) -> list[Any]:
    name, files = receipt["archive"], receipt["files"]
    sizes = [file.get("bytes") or file.get("received", {}).get("bytes", 0) for file in files]
    first = files[0]
    digest = first.get("sha256") or f"{first.get('received', {}).get('sha256', '')} (when first fetched)"
    return [
        name,
        receipt["version"],
        licences.get(name, ""),
        first["file"] if len(files) == 1 else f"{len(files)} files",
        sum(sizes),
        digest if len(files) == 1 else "",
    ]
