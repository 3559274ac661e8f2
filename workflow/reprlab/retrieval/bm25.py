"""First stages: BM25 by bm25s, and exact dense search, as runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from reprlab.retrieval.search import PASSAGES_AT_ONCE, rank_by_score, search_blocks
from reprlab.retrieval.trec import Run
from reprlab.runtime.log import get_logger

if TYPE_CHECKING:
    import numpy as np

# Queries whose hits are held at once as a dictionary.
_QUERIES_AT_ONCE = 1024


def bm25_runs(
    queries: Mapping[str, str], passages: Mapping[str, str], depth: int, *, k1: float = 1.5, b: float = 0.75
) -> Iterator[Run]:
    """The `depth` best passages of each query, some queries at a time; idf and saturation as in Lucene, English stop
    words left out.

    Passages that share no word with the query are not hits, so a query may have fewer, or none where no passage holds a
    word. k1 and b default to those of bm25s (Lu 2024).
    """
    import bm25s
    import numpy as np

    # In descending order, so that the stable order of equal scores is that of trec_eval.
    names = sorted(passages, reverse=True)
    # Ids, each word once: lists of words are looked up again and take a fifth to a third longer.
    words = bm25s.tokenize([passages[name] for name in names], stopwords="en", show_progress=False)
    if not any(words.ids):
        # bm25s ends in a ValueError.
        get_logger().warning("BM25: none of %d passages holds a word, so that no query has a hit", len(names))
        yield {query: {} for query in queries}
        return
    index = bm25s.BM25(method="lucene", k1=k1, b=b)
    index.index(words, show_progress=False)
    asked = bm25s.tokenize(list(queries.values()), stopwords="en", show_progress=False, return_ids=False)
    known = index.vocab_dict

    def hits(terms: list[str]) -> dict[str, float]:
        terms = [term for term in terms if term in known]
        if not terms:
            return {}
        # One query at a time: a block of scores of all passages costs its page faults and is in no cache.
        scores = index.get_scores(terms)
        holding = np.flatnonzero(scores > 0)
        found = scores[holding]
        return {names[holding[place]]: float(found[place]) for place in rank_by_score(found[None], depth)[0].tolist()}

    for start in range(0, len(asked), _QUERIES_AT_ONCE):
        some = slice(start, start + _QUERIES_AT_ONCE)
        yield {query: hits(terms) for query, terms in zip(list(queries)[some], asked[some], strict=True)}


def dense_runs(
    queries: Mapping[str, str],
    passages: Mapping[str, str],
    depth: int,
    embed: Callable[[list[str]], np.ndarray],
    device: Any = "cpu",
) -> Iterator[Run]:
    """The `depth` best passages of each query by the dot product of vectors, exactly, some queries at a time.

    Args:
        embed: [texts, d] of texts; it is given some of the passages at a time, whose vectors are not kept.
        device: where the search is made.
    """
    names = sorted(passages, reverse=True)
    starts = range(0, len(names), PASSAGES_AT_ONCE)
    vectors = (embed([passages[name] for name in names[start : start + PASSAGES_AT_ONCE]]) for start in starts)
    best, scores = search_blocks(embed(list(queries.values())), vectors, depth, device)
    for start in range(0, len(queries), _QUERIES_AT_ONCE):
        rows = slice(start, start + _QUERIES_AT_ONCE)
        yield {
            query: {names[column]: score for column, score in zip(columns, row, strict=True)}
            for query, columns, row in zip(list(queries)[rows], best[rows].tolist(), scores[rows].tolist(), strict=True)
        }
