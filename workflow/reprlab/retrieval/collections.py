"""Collections: queries, passages and judgements out of examples of the kind `ranking`, and rows of ranking metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.data.splits import drawn_places
from reprlab.retrieval.ranking_metrics import ranking_scores
from reprlab.retrieval.trec import Judgements, Run
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    from pandas import DataFrame

QUERIES = "queries.parquet"
"""File of the metrics of each query, in the folder of the runs."""
RANDOM = "random order"
"""Name of the order that is drawn."""


@dataclass(frozen=True)
class Collection:
    """All passages by id, and queries and judgements by split; some are of passages that the collection lacks."""

    passages: dict[str, str]
    queries: dict[str, dict[str, str]]
    judgements: dict[str, Judgements]

    def judged_passages(self, split: str) -> Judgements:
        """The judgements of a split on passages that exist, which can be trained on."""
        return {
            query: {name: grade for name, grade in grades.items() if name in self.passages}
            for query, grades in self.judgements.get(split, {}).items()
        }

    def limited(self, split: str, limit: int | None, seed: int) -> dict[str, str]:
        """Queries of a split, or `limit` of them drawn with `seed`, in their order."""
        queries = self.queries.get(split, {})
        names = list(queries)
        return {names[place]: queries[names[place]] for place in drawn_places(len(names), limit, seed)}


def read_collection(path: Path) -> Collection:
    """Read examples of the kind `ranking`; those without a query are passages that nobody judged.

    A judged passage without a text is lacking: it counts among the judgements and cannot be found.

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
        there = passage_text or not query
        if there and found.passages.setdefault(passage, passage_text) != passage_text:
            raise ReprlabError(f"{path}: passage {passage} has two texts; the reader must give distinct ids")
        if not query:
            continue  # a passage that nobody judged
        if found.queries.setdefault(split, {}).setdefault(query, text) != text:
            raise ReprlabError(f"{path}: query {query} has two texts; the reader must give distinct ids")
        found.judgements.setdefault(split, {}).setdefault(query, {})[passage] = grade
    return found


def without_own(scores: Mapping[str, float], query: str, depth: int) -> dict[str, float]:
    """The `depth` best of a query's hits, in their order, without the passage that has the query's own id."""
    return dict([hit for hit in scores.items() if hit[0] != query][:depth])


def query_scores(
    run: Run, judgements: Judgements, metrics: Sequence[str], scored: Callable[..., Any] = ranking_scores
) -> DataFrame:
    """A row for each judged query, hits or none, in the order of the judgements: `query`, and metrics in percent.

    Args:
        scored: metrics of the run as it is, or of its hits in a random order.
    """
    import pandas

    scores = scored(run, judgements, metrics)
    return pandas.DataFrame({"query": list(judgements), **{name: 100 * values for name, values in scores.items()}})


def write_query_scores(folder: Path, tables: Sequence[DataFrame]) -> None:
    """Write `query_scores` of several runs, told apart by further columns."""
    import pandas
    import pyarrow

    from reprlab.artifacts.tables import write_parquet

    write_parquet(folder / QUERIES, pyarrow.Table.from_pandas(pandas.concat(tables), preserve_index=False))


def first_stage_scores(folder: Path, split: str, metrics: Sequence[str]) -> dict[str, DataFrame]:
    """Metrics of every query that a first stage was asked, by the name of the order: its own, and `RANDOM`.

    Raises:
        ReprlabError: the file is unreadable, or lacks a metric.
    """
    from reprlab.artifacts.tables import read_parquet

    table = read_parquet(folder / QUERIES, ["name", "split", "query", *metrics]).to_pandas()
    return {str(name): rows for name, rows in table[table["split"] == split].groupby("name", sort=False)}


def metric_rows(scores: DataFrame, metrics: Sequence[str], **about: Any) -> Iterator[dict[str, Any]]:
    """A row for each metric of `query_scores`: mean over queries with its bootstrap interval."""
    from reprlab.evaluation.bootstrap import mean_interval

    for metric in metrics:
        value, low, high = mean_interval(scores[metric].tolist())
        yield {**about, "metric": metric, "value": value, "low": low, "high": high, "n": len(scores)}


def contrast_rows(
    first: DataFrame, second: DataFrame, metrics: Sequence[str], **about: Any
) -> Iterator[dict[str, Any]]:
    """A row for each metric: first less second in points on the same queries, by the paired bootstrap over them."""
    import numpy as np

    from reprlab.evaluation.paired_bootstrap import paired_bootstrap

    # A difference of means is the mean of differences, which are exactly 0 where two runs agree.
    gaps = first[[*metrics]].to_numpy() - second[[*metrics]].to_numpy()

    def means(sums: np.ndarray) -> dict[str, np.ndarray]:
        return {metric: sums[..., place] / len(gaps) for place, metric in enumerate(metrics)}

    for metric, gap in paired_bootstrap(gaps, np.zeros_like(gaps), means).items():
        about_gap = {"value": gap.value, "low": gap.low, "high": gap.high, "p": gap.p, "n": len(gaps)}
        yield {**about, "metric": metric, **about_gap}
