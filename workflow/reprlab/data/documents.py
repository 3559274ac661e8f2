"""From a reader's documents to the rows of documents.parquet."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from reprlab.data.schema import check_row
from reprlab.data.sources import FaultyRows, Sources
from reprlab.data.splits import SeenTexts, require_splits, split_of
from reprlab.plugins import load_plugin
from reprlab.registry.dataset_entries import CorpusEntry, reader_settings
from reprlab.runtime.errors import ReprlabError


def first_of_each_split(rows: Iterable[dict[str, Any]], limit: int) -> Iterator[dict[str, Any]]:
    """The first `limit` documents of each split, in their order."""
    seen: Counter[str] = Counter()
    for row in rows:
        seen[row["split"]] += 1
        if seen[row["split"]] <= limit:
            yield row


def documents_of(entry: CorpusEntry, sources: Sources) -> Iterator[dict[str, Any]]:
    """The checked documents of a corpus, as a stream: duplicates dropped first, then split by document.

    A reader yields {id, text, source} and, where the data has splits of its own, split; those are kept as published.

    Raises:
        ReprlabError: a document is empty, an id appears twice, or a split has no document.
    """
    reader = load_plugin("data.readers", entry.reader)
    rows = reader.read(replace(sources, faulty=FaultyRows(entry.faulty_rows)), reader_settings(entry), entry.splits)
    published, present = 0, set()
    names: set[str] = set()
    seen = SeenTexts()
    for number, row in enumerate(rows):
        where = f"{entry.name}: document {number} ({row.get('id')})"
        if "split" in row:
            # Kept as published; nothing is remembered of it, since such a corpus need not fit in memory.
            published += 1
        elif not seen.is_new(str(row.get("text", ""))):
            continue
        else:
            row["split"] = split_of(row["id"], entry.splits)
            present.add(row["split"])
            if row["id"] in names:
                raise ReprlabError(f"{where}: this id was used before")
            names.add(row["id"])
        check_row(row, "documents", [], where)
        if not row["text"].strip():
            raise ReprlabError(f"{where}: is empty; the reader must drop it")
        yield row
    if not published:
        require_splits(present, entry.splits, entry.name)
