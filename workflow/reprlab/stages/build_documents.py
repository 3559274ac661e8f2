"""Turn the archives of one corpus into documents: read, drop duplicates, split by document."""

from pathlib import Path

from reprlab.registry.dataset_entries import CorpusEntry
from reprlab.runtime.cli import run_stage


def build_documents(
    *,
    entry: CorpusEntry,
    receipts: list[Path],
    cache: Path,
    out: Path,
    registry: Path | None = None,
    limit: int | None = None,
) -> None:
    """Write `out`: Parquet with the columns id, text, source, split (see `reprlab.data.schema`).

    What the cache lacks is fetched again by `registry`. `limit` is the largest number of documents of a split; None
    keeps all.

    Raises:
        ReprlabError: an archive is missing or not in its format, a document is empty, a split has no document.
    """
    from reprlab.data.documents import documents_of, first_of_each_split
    from reprlab.data.schema import write_rows
    from reprlab.data.sources import open_sources

    rows = documents_of(entry, open_sources(entry.archives, receipts, [], cache, registry))
    rows = first_of_each_split(rows, limit) if limit else rows
    write_rows(out, rows, "documents", {"name": entry.name, "title": entry.title, "licence": entry.licence})


if __name__ == "__main__":
    run_stage(build_documents)
