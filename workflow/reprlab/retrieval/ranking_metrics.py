"""Ranking metrics by trec_eval itself (pytrec_eval), one value for each judged query."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
        ReprlabError: a metric is none of these.
    """
    import numpy as np
    import pytrec_eval

    found = {}
    for metric in metrics:
        if not (parts := _FORM.fullmatch(metric)):
            raise ReprlabError(f"metric {metric!r}: write mrr_at_K, ndcg_at_K or recall_at_K")
        name, depth = parts.groups()
        kept = {query: _best(run.get(query, {}), int(depth)) for query in judgements}
        judge = pytrec_eval.RelevanceEvaluator(judgements, {_MEASURES[name].format(depth).replace("_cut_", "_cut.")})
        scores = judge.evaluate({query: documents for query, documents in kept.items() if documents})
        measure = _MEASURES[name].format(depth)
        found[metric] = np.array([scores.get(query, {}).get(measure, 0.0) for query in judgements])
    return found


def _best(scores: dict[str, float], depth: int) -> dict[str, float]:
    # trec_eval has no cut for the reciprocal rank; the first `depth` documents alone are the cut of every metric.
    return {name: float(scores[name]) for name in ordered(scores)[:depth]}
