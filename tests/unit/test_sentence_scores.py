"""Scores of sentence encoders by category, by hand and beside the libraries."""

import numpy as np
import pytest
from reprlab.sentences.task_scores import (
    average_precision,
    average_precisions,
    cosines,
    few_shot_accuracies,
    ndcg,
    resampled,
    spearman,
    v_measure,
)


def directions(*degrees):
    angles = np.radians(np.array(degrees, dtype=float))
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_rank_correlation_is_over_all_subsets_together():
    gold = np.array([1.0, 2, 3, 1, 2, 3])
    scores = np.array([0.1, 0.2, 0.3, 0.7, 0.8, 0.9])
    assert spearman(scores[:3], gold[:3]) == pytest.approx(1) and spearman(scores[3:], gold[3:]) == pytest.approx(1)
    assert spearman(scores, gold) < 1


def test_cosines_do_not_see_length():
    np.testing.assert_allclose(cosines(5 * directions(0, 0), directions(60, 180)), [0.5, -1], atol=1e-6)
    assert cosines(np.zeros((1, 2)), directions(3))[0] == 0


def test_pairs_by_average_precision():
    assert average_precision(np.array([0.9, 0.8, 0.1]), np.array([1, 0, 1])) == pytest.approx((1 + 2 / 3) / 2)


def test_search_by_ndcg():
    found = ndcg(
        directions(0, 90), ["q1", "q2"], directions(5, 80, 40), ["a", "b", "c"], {"q1": {"c": 1}, "q2": {"b": 1}}, 10
    )
    np.testing.assert_allclose(found, [1 / np.log2(3), 1])


def test_candidates_by_the_rank_of_the_right_one():
    queries, starts = directions(0, 90), np.array([0, 3, 5])
    candidates = directions(10, 20, 5, 90, 90)
    found = average_precisions(queries, candidates, starts, np.array([1, 0, 0, 0, 1]))
    # The right one of the first query is second; the second query's two candidates tie, which counts as the worse rank.
    np.testing.assert_allclose(found, [1 / 2, 1 / 2])
    several = average_precisions(queries, candidates, starts, np.array([1, 1, 0, 1, 0]))
    np.testing.assert_allclose(several, [(1 / 2 + 2 / 3) / 2, 1 / 2])


def test_clusters_and_few_examples():
    rng = np.random.default_rng(0)
    vectors = np.concatenate([centre + 0.05 * rng.standard_normal((60, 2)) for centre in ([0, 1], [1, 0], [-1, -1])])
    labels = ["x"] * 60 + ["y"] * 60 + ["z"] * 60
    assert v_measure(vectors, labels, 0) == pytest.approx(1)
    assert v_measure(rng.standard_normal((180, 2)), labels, 0) < 0.2
    accuracies = few_shot_accuracies((vectors, labels), (vectors, labels), per_label=8, draws=3, seed=0)
    assert accuracies.shape == (3,) and accuracies.min() == 1
    again = few_shot_accuracies((vectors, labels), (vectors, labels), per_label=8, draws=3, seed=0)
    assert np.array_equal(accuracies, again)


def test_resamples_of_a_statistic():
    rng = np.random.default_rng(1)
    gold = rng.standard_normal(200)
    scores = gold + rng.standard_normal(200)
    values = resampled(spearman, scores, gold, resamples=200, seed=0)
    assert values.std() == pytest.approx(0.04, abs=0.02)
    assert abs(values.mean() - spearman(scores, gold)) < 0.02
