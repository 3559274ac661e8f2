"""Runs and judgements as trec_eval sees them: what was found for each query, and what is relevant."""

from __future__ import annotations

from collections.abc import Mapping

Run = Mapping[str, Mapping[str, float]]
"""Query id: document id: score."""
Judgements = dict[str, dict[str, int]]
"""Query id: document id: grade."""


def ordered(scores: Mapping[str, float]) -> list[str]:
    """Documents best first as trec_eval orders them: by score in single precision, equal ones by descending id."""
    import numpy as np

    names = sorted(scores, reverse=True)
    values = np.fromiter((scores[name] for name in names), dtype=np.float32, count=len(names))
    return [names[place] for place in np.argsort(-values, kind="stable").tolist()]


def without_ties(run: Run) -> dict[str, dict[str, float]]:
    """The run with distinct scores in single precision, documents best first.

    Of equal scores the later one in `run` becomes the next smaller float32, so that trec_eval keeps their order.
    """
    import numpy as np

    found: dict[str, dict[str, float]] = {}
    for query, scores in run.items():
        names, values = list(scores), np.array(list(scores.values()), dtype=np.float32)
        order = np.argsort(-values, kind="stable")
        values = values[order]
        # What is lowered may meet the next one, which is lowered then.
        while (tied := np.flatnonzero((values[1:] == values[:-1]) & np.isfinite(values[1:]))).size:
            values[tied + 1] = np.nextafter(values[tied], np.float32(-np.inf))
        found[query] = dict(zip((names[place] for place in order.tolist()), values.tolist(), strict=True))
    return found
