"""Collections as TREC and MS MARCO give them: documents, queries and judgements in text files, gzipped or not."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.artifacts.tables import parquet_errors
from reprlab.data.judgements import judged_once
from reprlab.data.published_tables import published_parquet
from reprlab.data.sources import Sources
from reprlab.data.text_files import blank_cells, streamed_rows
from reprlab.registry.dataset_entries import Split, SplitSettings
from reprlab.runtime.errors import ReprlabError

_ROWS = 10_000
_JUDGED, _CELLS = 4, 2
_COLUMNS = ["_id", "title", "text"]


class Settings(BaseModel):
    """Which files; each is in one of the archives of the entry."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    documents: list[str] = Field(min_length=1)
    """Rows of id, address, title and body with tabs between them, or Parquet files with `_id`, `title` and `text`."""
    queries: dict[Split, str] = Field(min_length=1)
    """File of each split: id and words, with a tab between them."""
    judgements: dict[Split, str] = Field(min_length=1)
    """File of each split: query, a column that is not read, document and grade, with blanks between them."""
    passages: int = Field(ge=1)
    """Documents of the published collection: a part of it would give other numbers under its name."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example a judgement, then one without a query for each document that nobody judged.

    The documents are read twice, so that no more than the judged ones are held. Queries that nobody judged are left
    out, as trec_eval does. Address and title: the title stands before the body, the address is not read (specification
    of ssm-rerankers, 2.2).

    Raises:
        ReprlabError: the collection is not whole, or a judgement is of a query or document that is not there.
    """
    judged = {split: list(_judgements(sources, file)) for split, file in settings.judgements.items()}
    wanted = {document for rows in judged.values() for _, document, _ in rows}
    texts, count = {}, 0
    for document, text in _documents(sources, settings.documents):
        count += 1
        if document in wanted:
            texts[document] = text
    if count != settings.passages:
        first = sources.file(settings.documents[0])
        raise ReprlabError(
            f"{first}: the collection has {count} documents, {settings.passages} are published; list all its files"
        )
    for split, rows in judged.items():
        asked = dict(_queries(sources, settings.queries[split]))
        for query, document, grade in judged_once(rows, str(sources.file(settings.judgements[split])), sources.faulty):
            if query not in asked or document not in texts:
                lost = f"{sources.file(settings.judgements[split])}: judges document {document} for query {query}"
                place = settings.queries[split] if query not in asked else settings.documents[0]
                kind = "query" if query not in asked else "document"
                sources.faulty.leave_out(f"{lost}, and the {kind} is not in {sources.file(place)}")
                continue
            yield _example(split, query, asked[query], document, texts[document], grade)
    for document, text in _documents(sources, settings.documents):
        if document not in wanted and text:
            yield _example("test", "", "", document, text, 0)


def _documents(sources: Sources, files: Iterable[str]) -> Iterator[tuple[str, str]]:
    for file in files:
        if file.endswith(".parquet"):
            yield from _of_parquet(sources, file)
        else:
            for cells in _cells(sources, file, _JUDGED):
                yield cells[0], f"{cells[2]} {cells[3]}".strip()


def _of_parquet(sources: Sources, file: str) -> Iterator[tuple[str, str]]:
    import pyarrow.parquet

    path = published_parquet(sources.archive_of(file), file, _COLUMNS)
    with parquet_errors(path), pyarrow.parquet.ParquetFile(path) as opened:
        for batch in opened.iter_batches(_ROWS, columns=_COLUMNS):
            for row in batch.to_pylist():
                yield str(row["_id"]), f"{row['title'] or ''} {row['text']}".strip()


def _queries(sources: Sources, file: str) -> Iterator[tuple[str, str]]:
    for cells in _cells(sources, file, _CELLS):
        yield cells[0], cells[1]


def _judgements(sources: Sources, file: str) -> Iterator[tuple[str, str, int]]:
    for cells in _cells(sources, file, _JUDGED, between=None):
        if not cells[3].removeprefix("-").isdigit():
            raise ReprlabError(f"{sources.file(file)}: the grade {cells[3]!r} of query {cells[0]} is not a number")
        yield cells[0], cells[2], int(cells[3])


def _cells(sources: Sources, file: str, columns: int, between: str | None = "\t") -> Iterator[list[str]]:
    path = sources.file(file)
    try:
        for number, line in streamed_rows(path, zipped=file.endswith(".gz")):
            cells = line.split(between) if between else blank_cells(line)
            if len(cells) != columns:
                raise ReprlabError(f"{path}: line {number} has {len(cells)} columns, expected {columns}")
            yield cells
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise ReprlabError(f"{path}: cannot be read as text ({error}); download it again") from None


def _example(split: str, query: str, asked: str, passage: str, text: str, grade: int) -> dict[str, Any]:
    name = f"{split}-{query}-{passage}"
    about = {"id": name, "group": name, "split": split, "query_id": query, "query": asked}
    return {**about, "passage_id": passage, "passage": text, "relevance": max(grade, 0)}
