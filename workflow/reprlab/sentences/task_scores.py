"""The main score of each MTEB category from vectors of texts (Muennighoff et al. 2023, section 3.2).

Each function gives one number for each unit that could be drawn anew (query, pair, draw of training examples), so that
an interval can be had, or the statistic and its resamples where it has no such parts. All in 0 to 1, or -1 to 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reprlab.retrieval.trec import Judgements


def unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors [n, d] of length 1; one of length 0 stays."""

    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """[n] cosines of rows [n, d]."""
    return (unit(first) * unit(second)).sum(1)


def spearman(scores: np.ndarray, gold: np.ndarray) -> float:
    """Rank correlation over all pairs together (SentEval's `all`: subsets are not averaged).

    0 where all scores are equal: they order nothing.
    """
    from scipy.stats import spearmanr

    return float(spearmanr(scores, gold).statistic) if np.ptp(scores) and np.ptp(gold) else 0.0


def average_precision(scores: np.ndarray, same: np.ndarray) -> float:
    """Average precision of pairs [n] whose texts mean the same (1) or not (0), ordered by score."""
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(same, scores))


def resampled(statistic: Callable[..., float], *columns: np.ndarray, resamples: int, seed: int) -> np.ndarray:
    """[resamples] values of a statistic over rows drawn with replacement; NaN where it is not defined on a draw."""
    import warnings

    rng = np.random.Generator(np.random.Philox(key=seed))
    found = np.empty(resamples)
    with warnings.catch_warnings():
        # A draw may hold one class or one score alone: scipy and sklearn warn, and give NaN or 0.
        warnings.simplefilter("ignore")
        for number in range(resamples):
            rows = rng.integers(0, len(columns[0]), len(columns[0]))
            found[number] = statistic(*(column[rows] for column in columns))
    return found


def ndcg(
    queries: np.ndarray,
    names: Sequence[str],
    passages: np.ndarray,
    ids: Sequence[str],
    judged: Judgements,
    depth: int,
    *,
    drop_own: bool = False,
) -> np.ndarray:
    """[queries] nDCG@depth by exact search over all passages.

    Args:
        queries: [queries, d], named by `names`; passages: [passages, d], named by `ids`.
        drop_own: whether the passage that has a query's own id is not a hit, as mteb has it for ArguAna.
    """
    from reprlab.retrieval.collections import without_own
    from reprlab.retrieval.ranking_metrics import ranking_scores
    from reprlab.retrieval.search import search

    found, scores = search(unit(queries), unit(passages), depth + drop_own)
    run = {
        name: {ids[place]: float(score) for place, score in zip(places, row, strict=True)}
        for name, places, row in zip(names, found.tolist(), scores.tolist(), strict=True)
    }
    if drop_own:
        run = {name: without_own(hits, name, depth) for name, hits in run.items()}
    return ranking_scores(run, {name: judged[name] for name in names}, [f"ndcg_at_{depth}"])[f"ndcg_at_{depth}"]


def average_precisions(
    queries: np.ndarray, candidates: np.ndarray, starts: np.ndarray, relevant: np.ndarray
) -> np.ndarray:
    """[queries] average precision of each query's candidates; of one relevant one it is 1 / its rank, last among ties.

    Args:
        queries: [queries, d]. candidates: [candidates, d], those of query i from `starts[i]` to `starts[i + 1]`.
        relevant: [candidates], 0 or 1; at least one of each query is.
    """

    owner = np.repeat(np.arange(len(queries)), np.diff(starts))
    scores = cosines(queries[owner], candidates)
    return np.array([average_precision(scores[a:b], relevant[a:b]) for a, b in itertools.pairwise(starts.tolist())])


def v_measure(vectors: np.ndarray, labels: Sequence[str], seed: int, batch_size: int = 500) -> float:
    """V-measure of as many clusters as there are labels, found by mini-batch k-means as mteb does."""
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.metrics import v_measure_score

    count = len(set(labels))
    found = MiniBatchKMeans(count, batch_size=batch_size, n_init="auto", random_state=seed).fit_predict(vectors)
    return float(v_measure_score(labels, found))


def few_shot_accuracies(
    training: tuple[np.ndarray, Sequence[str]],
    test: tuple[np.ndarray, Sequence[str]],
    *,
    per_label: int,
    draws: int,
    seed: int,
) -> np.ndarray:
    """[draws] accuracies of logistic regression (at most 100 iterations) on balanced draws of the training examples.

    A label with fewer examples gives all it has.
    """
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    vectors, labels = training[0], np.asarray(training[1])
    rng = np.random.Generator(np.random.Philox(key=seed))
    found = np.empty(draws)
    with warnings.catch_warnings():
        # mteb stops after 100 iterations, converged or not.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for number in range(draws):
            order = rng.permutation(len(labels))
            chosen = np.concatenate([order[labels[order] == label][:per_label] for label in np.unique(labels)])
            model = LogisticRegression(max_iter=100).fit(vectors[chosen], labels[chosen])
            found[number] = model.score(test[0], np.asarray(test[1]))
    return found
