"""The first rows of a data set's file, streamed by `datasets`: what is not wanted is not downloaded."""

import json
from pathlib import Path
from typing import Any

from reprlab.data.origins.errors import OriginError
from reprlab.registry.dataset_entries import ArchiveFile

_REASON_LENGTH = 300
# Of files on this machine; the hub's repositories tell their format.
_BUILDERS = {".parquet": "parquet", ".json": "json", ".jsonl": "json", ".csv": "csv", ".txt": "text"}


def builder_of(path: Path) -> str:
    """The name by which `datasets` reads such a file.

    Raises:
        OriginError: it reads none of its kind.
    """
    suffix = Path(path.name.removesuffix(".gz")).suffix
    if suffix not in _BUILDERS:
        raise OriginError(f"{path.name}: rows can be taken from {', '.join(_BUILDERS)} files only")
    return _BUILDERS[suffix]


def write_first_rows(file: ArchiveFile, target: Path, source: str, **options: Any) -> Path:
    """Write the first `file.rows` rows to `target` as JSON lines; the same rows give the same bytes everywhere.

    Args:
        source: the hub's name of a repository, or the kind of file.
        options: of `datasets.load_dataset`: `data_files`, and for a repository its `revision`.

    Raises:
        OriginError: the rows cannot be had.
    """
    import datasets

    datasets.disable_progress_bars()
    try:
        rows = datasets.load_dataset(source, split="train", streaming=True, cache_dir=str(target.parent), **options)
        with target.open("w", encoding="utf-8", newline="") as output:
            for row in rows.take(file.rows):
                output.write(json.dumps(row, ensure_ascii=False, sort_keys=True, default=str) + "\n")
    except Exception as error:
        # The package raises a family of classes of several libraries; each means that this origin cannot deliver.
        raise OriginError(f"{type(error).__name__}: {' '.join(str(error).split())[:_REASON_LENGTH]}") from None
    return target
