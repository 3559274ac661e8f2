"""Collections: queries, passages and judgements out of examples of the kind `ranking`, and rows of ranking metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reprlab.data.splits import drawn_places
from reprlab.retrieval.ranking_metrics import ranking_scores
from reprlab.retrieval.trec import Judgements, Run, ordered
from reprlab.runtime.errors import ReprlabError


@dataclass(frozen=True)
class Collection:
    """All passages by id, and queries and judgements by split."""

    passages: dict[str, str]
    queries: dict[str, dict[str, str]]
    judgements: dict[str, Judgements]

    def limited(self, split: str, limit: int | None, seed: int) -> dict[str, str]:
        """Queries of a split, or `limit` of them drawn with `seed`, in their order."""
        queries = self.queries.get(split, {})
        names = list(queries)
        return {names[place]: queries[names[place]] for place in drawn_places(len(names), limit, seed)}


def read_collection(path: Path) -> Collection:
    """Read examples of the kind `ranking`; those without a query are passages that nobody judged.

    Raises:
        ReprlabError: the file is unreadable, or an id stands for two texts.
    """
    import pyarrow.parquet

    columns = ["split", "query_id", "query", "passage_id", "passage", "relevance"]
    try:
        table = pyarrow.parquet.read_table(path, columns=columns)
    except (OSError, ValueError) as error:
        raise ReprlabError(f"{path}: no examples of the kind ranking ({error}); delete it and run again") from None
    found = Collection({}, {}, {})
    for split, query, text, passage, passage_text, grade in zip(
        *(table[name].to_pylist() for name in columns), strict=True
    ):
        if found.passages.setdefault(passage, passage_text) != passage_text:
            raise ReprlabError(f"{path}: passage {passage} has two texts; the reader must give distinct ids")
        if not query:
            continue  # a passage that nobody judged
        if found.queries.setdefault(split, {}).setdefault(query, text) != text:
            raise ReprlabError(f"{path}: query {query} has two texts; the reader must give distinct ids")
        found.judgements.setdefault(split, {}).setdefault(query, {})[passage] = grade
    return found


def random_order(run: Run, seed: int) -> Run:
    """The documents of a run in an order drawn with `seed`: what a reranker that has learnt nothing does."""
    import numpy as np

    rng = np.random.Generator(np.random.Philox(key=seed))
    return {
        query: dict(zip(ordered(scores), rng.permutation(len(scores)).astype(float).tolist(), strict=True))
        for query, scores in run.items()
    }


def metric_rows(run: Run, judgements: Judgements, metrics: Sequence[str], **about: Any) -> Iterator[dict[str, Any]]:
    """A row for each metric: mean over the judged queries in percent with its bootstrap interval over queries."""
    from reprlab.evaluation.bootstrap import mean_interval

    for metric, scores in ranking_scores(run, judgements, metrics).items():
        value, low, high = mean_interval((100 * scores).tolist())
        yield {**about, "metric": metric, "value": value, "low": low, "high": high, "n": len(scores)}
