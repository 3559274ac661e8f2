"""Collections in BEIR's form from Parquet files of the hub: a corpus, queries, and judgements of each split."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.judgements import judged_once
from reprlab.data.published_tables import published_table
from reprlab.data.sources import Sources
from reprlab.registry.dataset_entries import Split, SplitSettings
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.log import get_logger


class Settings(BaseModel):
    """Which files; the first archive of the entry holds corpus and queries, the second one the judgements."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    corpus: list[str] = Field(min_length=1)
    """Files of the corpus, with `_id`, `title` and `text`."""
    queries: str
    """File of the queries, with `_id` and `text`."""
    judgements: dict[Split, str] = Field(min_length=1)
    """File of each split, with `query-id`, `corpus-id` and `score`."""
    passages: int = Field(ge=1)
    """Passages of the published corpus: a part of it would give other numbers under its name."""
    lacking: int | None = Field(default=None, ge=0)
    """Judgements of passages that the published corpus is known to lack; null: any number."""
    drop_own: bool = False
    """Whether queries are passages of the corpus, under the same id: a first stage then leaves a query's own one out.
    Elsewhere equal ids are a coincidence of numbers."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example a judgement, then one without a query for each passage that nobody judged.

    A judgement of a passage that the published corpus lacks (ArguAna has one) keeps its query, which then finds that
    passage nowhere: BEIR's scores are means over all judged queries. Its example has no text; the log counts them.

    Raises:
        ReprlabError: the corpus is not whole, a judgement is of a query that is not there, or another number of them
            than the entry says is of passages that are not.
    """
    collection, judged = sources.archives.values()
    passages = {
        str(row["_id"]): f"{row['title'] or ''} {row['text']}".strip()
        for file in settings.corpus
        for row in published_table(collection, file, ["_id", "title", "text"]).to_pylist()
    }
    if len(passages) != settings.passages:
        raise ReprlabError(
            f"{settings.corpus[0]}: the corpus has {len(passages)} passages, {settings.passages} are published; list "
            "all its files"
        )
    queries = published_table(collection, settings.queries, ["_id", "text"])
    asked = dict(zip(map(str, queries["_id"].to_pylist()), queries["text"].to_pylist(), strict=True))
    met, lacking = set(), 0
    for split, file in settings.judgements.items():
        path = judged.file(file)
        rows = published_table(judged, file, ["query-id", "corpus-id", "score"]).to_pylist()
        given = ((str(row["query-id"]), str(row["corpus-id"]), int(row["score"])) for row in rows)
        for query, passage, grade in judged_once(given, str(path), sources.faulty):
            if query not in asked:
                sources.faulty.leave_out(f"{path}: judges passage {passage} for query {query}, which is not there")
                continue
            lacking += passage not in passages
            # Judged or not, a passage that is there and has no text comes without a query too: it can be found.
            met |= {passage} if passages.get(passage) else set()
            yield _example(split, query, asked[query], passage, passages.get(passage, ""), grade)
    if settings.lacking not in (None, lacking):
        raise ReprlabError(
            f"{settings.corpus[0]}: the corpus lacks the passages of {lacking} judgements, {settings.lacking} are "
            "known to be missing; fetch the published files, or set lacking in the options of the entry"
        )
    if lacking:
        get_logger().info(
            "%s: %d judgements are of passages that the corpus lacks; their queries count", settings.corpus[0], lacking
        )
    for passage, text in passages.items():
        if passage not in met:
            yield _example("test", "", "", passage, text, 0)


def _example(split: str, query: str, asked: str, passage: str, text: str, grade: int) -> dict[str, Any]:
    name = f"{split}-{query}-{passage}"
    about = {"id": name, "group": name, "split": split, "query_id": query, "query": asked}
    return {**about, "passage_id": passage, "passage": text, "relevance": grade}
