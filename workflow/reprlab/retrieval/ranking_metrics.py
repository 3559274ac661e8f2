"""Ranking metrics by trec_eval itself (pytrec_eval), one value for each judged query."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from reprlab.retrieval.trec import Judgements, Run, ordered
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import numpy as np

_FORM = re.compile(r"(mrr|ndcg|recall)_at_([1-9][0-9]*)")
_MEASURES = {"mrr": "recip_rank", "ndcg": "ndcg_cut_{}", "recall": "recall_{}"}


def ranking_scores(run: Run, judgements: Judgements, metrics: Sequence[str]) -> dict[str, np.ndarray]:
    """Each metric of every judged query, in the order of the judgements: [queries] in 0 to 1.

    A judged query without hits counts 0. nDCG has linear gains, discount log2(rank + 1) and the ideal over all judged
    documents; equal scores are ordered by descending id.

    Args:
        metrics: `mrr_at_k`, `ndcg_at_k`, `recall_at_k`.

    Raises:
        ReprlabError: a metric is not one of these.
    """
    import numpy as np
    import pytrec_eval

    found = {}
    for metric in metrics:
        name, depth = _parts(metric)
        kept = {query: _best(run.get(query, {}), depth) for query in judgements}
        judge = pytrec_eval.RelevanceEvaluator(judgements, {_MEASURES[name].format(depth).replace("_cut_", "_cut.")})
        scores = judge.evaluate({query: documents for query, documents in kept.items() if documents})
        measure = _MEASURES[name].format(depth)
        found[metric] = np.array([scores.get(query, {}).get(measure, 0.0) for query in judgements])
    return found


def random_order_scores(run: Run, judgements: Judgements, metrics: Sequence[str]) -> dict[str, np.ndarray]:
    """The mean of `ranking_scores` over all orders of a query's hits: a reranker that has learnt nothing.

    Raises:
        ReprlabError: a metric is not one of those.
    """
    import numpy as np

    expected = {"mrr": _reciprocal_rank, "ndcg": _discounted_gain, "recall": _recall}
    wanted = {metric: _parts(metric) for metric in metrics}
    found = {metric: np.zeros(len(judgements)) for metric in metrics}
    for place, (query, grades) in enumerate(judgements.items()):
        judged = np.array([max(grade, 0) for grade in grades.values()], dtype=np.float64)
        hits = np.array([max(grades.get(document, 0), 0) for document in run.get(query, {})], dtype=np.float64)
        if hits.any():
            for metric, (name, depth) in wanted.items():
                found[metric][place] = expected[name](hits, judged, depth)
    return found


def _reciprocal_rank(hits: np.ndarray, judged: np.ndarray, depth: int) -> float:
    import numpy as np

    count, relevant = len(hits), int(np.count_nonzero(hits))
    ranks = np.arange(1, min(depth, count - relevant + 1) + 1)
    # None of those before is relevant, and this one is.
    before = np.cumprod([1.0, *((count - relevant - ranks[:-1] + 1) / (count - ranks[:-1] + 1))])
    return float((before * relevant / (count - ranks + 1) / ranks).sum())


def _discounted_gain(hits: np.ndarray, judged: np.ndarray, depth: int) -> float:
    import numpy as np

    discounts = 1 / np.log2(np.arange(2, depth + 2))
    ideal = np.sort(judged)[::-1][:depth]
    return float(hits.mean() * discounts[: len(hits)].sum() / (ideal * discounts[: len(ideal)]).sum())


def _recall(hits: np.ndarray, judged: np.ndarray, depth: int) -> float:
    import numpy as np

    return np.count_nonzero(hits) * min(depth / len(hits), 1.0) / np.count_nonzero(judged)


def _parts(metric: str) -> tuple[str, int]:
    if not (parts := _FORM.fullmatch(metric)):
        raise ReprlabError(f"metric {metric!r}: write mrr_at_K, ndcg_at_K or recall_at_K")
    return parts[1], int(parts[2])


def _best(scores: Mapping[str, float], depth: int) -> dict[str, float]:
    # trec_eval has no cut for the reciprocal rank; the first `depth` documents alone are the cut of every metric.
    return {name: float(scores[name]) for name in ordered(scores)[:depth]}
