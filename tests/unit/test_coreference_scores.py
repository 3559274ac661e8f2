"""Scores of coreference: known answers, and equality with an independent scorer on generated clusterings."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import coreference_scores as oracle
from reprlab.coreference.scores import METRICS, conll_f1, partition, score_counts, score_intervals, scores_of

GOLD, FOUND = [["A", "B", "C"], ["D", "E"]], [["A", "B"], ["C", "D", "E"]]
# Few mentions, so that clusters overlap, repeat mentions, are empty or of one mention, and lack a twin.
CLUSTERS = st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=5)


def test_the_specification_example() -> None:
    """Section 5: MUC 2/3 both ways, B-cubed 0.7333, CEAF 0.8."""
    scores = scores_of(score_counts(FOUND, GOLD))
    for metric, value in zip(METRICS, (200 / 3, 100 * (4 / 2 + (1 + 4) / 3) / 5, 80), strict=True):
        assert [scores[f"{metric}_{name}"] for name in ("precision", "recall")] == pytest.approx([value, value])
    assert scores["conll_f1"] == pytest.approx((200 / 3 + 73.3333333 + 80) / 3)


def test_perfect_is_1_and_nothing_is_0() -> None:
    assert conll_f1([(GOLD, GOLD)]) == pytest.approx(100)
    for pair in (([], GOLD), (GOLD, []), ([], []), ([["A"]], GOLD)):
        assert conll_f1([pair]) == 0


@settings(deadline=None, max_examples=600)
@given(CLUSTERS, CLUSTERS, st.booleans())
def test_counts_equal_those_of_the_independent_scorer(predicted: list, gold: list, drop: bool) -> None:
    expected = oracle.counts(predicted, gold, drop)
    found = score_counts(predicted, gold, drop_singletons=drop)
    np.testing.assert_allclose(found, np.array(expected, dtype=float), atol=1e-9)
    assert scores_of(found)["conll_f1"] == pytest.approx(oracle.conll_f1(expected))


def test_500_drawn_documents_give_the_f1_of_the_independent_scorer() -> None:
    """Summed over documents before they are divided: singletons, twinless and repeated mentions are all among them."""
    rng, documents, summed = np.random.default_rng(0), [], np.zeros((3, 4))
    for _ in range(500):
        sides = []
        for _ in range(2):
            mentions = rng.integers(0, 14, size=rng.integers(0, 13)).tolist()
            sides.append([mentions[number::4] for number in range(rng.integers(1, 5))])
        documents.append(tuple(sides))
        summed = summed + np.array(oracle.counts(*sides), dtype=float)
    sizes = [len(cluster) for predicted, _ in documents for cluster in predicted]
    assert 0 in sizes and 1 in sizes and any(len(set(c)) < len(c) for p, _ in documents for c in p)
    from fractions import Fraction

    exact = [[Fraction(value) for value in row] for row in summed.tolist()]
    assert conll_f1(documents) == pytest.approx(oracle.conll_f1(exact))


@settings(deadline=None)
@given(CLUSTERS)
def test_a_partition_has_each_mention_once(clusters: list) -> None:
    found = partition(clusters)
    mentions = [mention for cluster in found for mention in cluster]
    assert len(mentions) == len(set(mentions)) and set(mentions) == {one for cluster in clusters for one in cluster}
    assert set(map(frozenset, oracle.joined(clusters))) == set(found)


@settings(deadline=None)
@given(CLUSTERS, CLUSTERS)
def test_exchanging_the_sides_exchanges_precision_and_recall(one: list, other: list) -> None:
    first = score_counts(one, other, drop_singletons=False)
    second = score_counts(other, one, drop_singletons=False)
    np.testing.assert_allclose(first[:, [0, 1]], second[:, [2, 3]])


def test_intervals_hold_the_value_and_are_exact_for_equal_documents() -> None:
    counts = np.stack([score_counts(FOUND, GOLD)] * 4)
    value, low, high = score_intervals(counts, resamples=50, seed=0)["conll_f1"]
    assert low == pytest.approx(value) == pytest.approx(high) and value == pytest.approx(conll_f1([(FOUND, GOLD)]))
    mixed = np.stack([score_counts(FOUND, GOLD), score_counts(GOLD, GOLD), score_counts([], GOLD)])
    value, low, high = score_intervals(mixed, resamples=200, seed=0)["conll_f1"]
    assert low < value < high
