"""From a reader's documents to the rows of documents.parquet."""

from collections.abc import Iterator
from typing import Any

from reprlab.config.datasets import CorpusEntry, reader_settings
from reprlab.data.schema import check_row
from reprlab.data.sources import Sources
from reprlab.data.splits import require_splits, split_of, without_duplicates
from reprlab.plugins import load_plugin
from reprlab.runtime.errors import ReprlabError


def documents_of(entry: CorpusEntry, sources: Sources) -> Iterator[dict[str, Any]]:
    """The checked documents of a corpus, as a stream: duplicates dropped first, then split by document.

    A reader yields {id, text, source} and, where the data has splits of its own, split; those are kept as published.

    Raises:
        ReprlabError: a document is empty, an id appears twice, or a split has no document.
    """
    reader = load_plugin("data.readers", entry.reader)
    rows = reader.read(sources, reader_settings(entry), entry.splits)
    names: set[str] = set()
    present: set[str] = set()
    own_split = True
    for number, row in enumerate(without_duplicates(rows, lambda row: str(row.get("text", "")))):
        where = f"{entry.name}: document {number} ({row.get('id')})"
        if "split" not in row:
            own_split = False
            row["split"] = split_of(row["id"], entry.splits)
        check_row(row, "documents", [], where)
        if not row["text"].strip():
            raise ReprlabError(f"{where}: is empty; the reader must drop it")
        if row["id"] in names:
            raise ReprlabError(f"{where}: this id was used before")
        names.add(row["id"])
        present.add(row["split"])
        yield row
    if not own_split or not names:
        require_splits(present, entry.splits, entry.name)
