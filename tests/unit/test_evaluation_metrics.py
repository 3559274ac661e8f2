"""Metrics against known answers and the libraries; bootstrap against exact expectations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.evaluation.bootstrap import (
    bootstrap_interval,
    mean_interval,
    resample_sums,
)
from reprlab.evaluation.metrics import METRICS, get_metric, rouge_l, score
from reprlab.evaluation.scoring import score_rows
from reprlab.runtime.errors import ReprlabError
from scipy import stats
from sklearn.metrics import f1_score, matthews_corrcoef

LABELS = ["no", "yes"]


def test_known_answers():
    gold, predicted = ["yes", "yes", "no", "no"], ["yes", "no", "no", "no"]
    assert score("accuracy", gold, predicted, LABELS) == 75
    # tp 1, tn 2, fp 0, fn 1: (1*2 - 0*1) / sqrt(1*2*2*3)
    assert score("matthews", gold, predicted, LABELS) == pytest.approx(100 * 2 / np.sqrt(12))
    assert score("f1", gold, predicted, LABELS) == pytest.approx(100 * 2 / 3)
    assert score("macro_f1", gold, predicted, LABELS) == pytest.approx(100 * (2 / 3 + 4 / 5) / 2)
    assert score("pearson", [1.0, 2.0, 3.0], [2.0, 4.0, 6.0]) == pytest.approx(100)
    assert score("spearman", [1.0, 2.0, 3.0], [1.0, 9.0, 5.0]) == pytest.approx(50)
    assert score("pearson", [1.0, 2.0], [3.0, 3.0]) == score("pearson", [1.0], [3.0]) == 0
    assert score("pearson", [1.0, 2.0], [3.0, 4.0]) == -score("spearman", [1.0, 2.0], [4.0, 3.0]) == pytest.approx(100)
    assert score("tag_accuracy", [["O", "B"], ["O"]], [["O", "O"], ["O"]]) == pytest.approx(200 / 3)
    # one of two gold tags found, nothing invented
    assert score("tag_f1", [["O", "B"], ["B"]], [["O", "O"], ["B"]]) == pytest.approx(200 / 3)


def test_rouge_takes_the_best_target_and_stems():
    # "the cats ran" against "the cat runs": stems the, cat; "ran" is not "run": precision = recall = 2/3.
    assert rouge_l([["the cat runs"], ["x", "a b"]], ["the cats ran", "a b"]) == pytest.approx([2 / 3, 1.0])
    assert score("rouge_l", [["the cat runs"], ["x", "a b"]], ["the cats ran", "a b"]) == pytest.approx(250 / 3)
    assert score("exact_match", [["a", "b"], ["c"]], ["b", "d"]) == 50
    # Words in another order: of ROUGE-1 all would be right.
    assert rouge_l([["a b c d"]], ["d c b a"]) == pytest.approx([1 / 4])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40))
def test_summed_statistics_give_the_library_values(pairs):
    names = ["a", "b", "c"]
    gold, predicted = ([names[pair[side]] for pair in pairs] for side in (0, 1))
    for metric, expected in (
        ("matthews", 100 * matthews_corrcoef(gold, predicted) if len({*gold, *predicted}) > 1 else 0.0),
        ("macro_f1", 100 * f1_score(gold, predicted, labels=names, average="macro", zero_division=0.0)),
        ("accuracy", 100 * np.mean([g == p for g, p in zip(gold, predicted, strict=True)])),
    ):
        chosen = get_metric(metric)
        assert chosen.finish(chosen.statistics(gold, predicted, names).sum(0)) == pytest.approx(expected, abs=1e-9)
        assert score(metric, gold, predicted, names) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("metric", ["pearson", "spearman"])
def test_correlation_statistics_give_the_library_value(metric):
    rng = np.random.default_rng(0)
    gold = rng.normal(size=50)
    predicted = gold + rng.normal(size=50)
    chosen = get_metric(metric)
    sums = chosen.statistics(gold, predicted, ()).sum(0)
    assert chosen.finish(sums) == pytest.approx(score(metric, gold, predicted), abs=1e-9)


def test_tag_statistics_give_the_library_value():
    gold = [["O", "B", "I"], ["O"], ["B", "B"]]
    predicted = [["O", "B", "B"], ["I"], ["B", "O"]]
    for metric in ("tag_f1", "tag_accuracy"):
        chosen = get_metric(metric)
        sums = chosen.statistics(gold, predicted, ()).sum(0)
        assert chosen.finish(sums) == pytest.approx(score(metric, gold, predicted), abs=1e-9)


@pytest.mark.parametrize(
    ("predicted", "accuracy", "matthews", "f1", "macro_f1"),
    [
        # By hand: one of each label right, the others unanswered; (4*2 - 2*1 - 2*1) / sqrt((16 - 8) * (16 - 6)).
        (["no", "maybe", "yes", ""], 50, 400 / 80**0.5, 200 / 3, 200 / 3),
        # Two different texts are one class: nothing is learned of one who never answers, and nothing inverted.
        (["maybe", "", "maybe", ""], 0, 0, 0, 0),
        (["?", "?", "?", "?"], 0, 0, 0, 0),
        # The opposite of every label is an inversion.
        (["yes", "no", "no", "yes"], 0, -100, 0, 0),
        # (4*3 - 2*1 - 2*2) / sqrt((16 - 8) * (16 - 6))
        (["no", "yes", "yes", "?"], 75, 600 / 80**0.5, 100, 250 / 3),
    ],
)
def test_outside_predictions_are_wrong_and_no_inversion(predicted, accuracy, matthews, f1, macro_f1):
    gold = ["no", "yes", "yes", "no"]
    expected = {"accuracy": accuracy, "matthews": matthews, "f1": f1, "macro_f1": macro_f1}
    rows = score_rows(list(expected), gold, predicted, LABELS, [""] * 4)
    assert {row["metric"]: row["value"] for row in rows} == pytest.approx(expected)
    outside = sum(answer not in LABELS for answer in predicted) / 4
    assert all(row["outside_labels"] == outside and row["n"] == 4 for row in rows)
    for name, value in expected.items():
        metric = get_metric(name)
        sums = metric.statistics(gold, predicted, LABELS).sum(0)
        assert metric.finish(sums) == pytest.approx(value), "the bootstrap takes the same score"


def test_outside_predictions_of_one_label_are_wrong_in_the_bootstrap_too():
    gold, predicted = ["no", "yes"] * 50, ["no", "garbage"] * 50
    (row,) = score_rows(["matthews"], gold, predicted, LABELS, [""] * 100)
    assert -100 < row["low"] <= row["value"] <= row["high"] < 100


def test_subsets_get_rows_of_their_own():
    rows = score_rows(["accuracy"], ["no", "no", "yes"], ["no", "yes", "yes"], LABELS, ["m", "mm", "mm"])
    assert [(row["subset"], row["value"], row["n"]) for row in rows] == [
        ("", pytest.approx(200 / 3), 3),
        ("m", 100, 1),
        ("mm", 50, 2),
    ]


def test_bad_input_raises():
    with pytest.raises(ReprlabError, match="unknown"):
        score("bleu", ["a"], ["a"])
    with pytest.raises(ReprlabError, match="2 gold values but 1"):
        score("accuracy", ["a", "b"], ["a"])
    with pytest.raises(ReprlabError, match="row 1 has label 'maybe'"):
        score("accuracy", ["no", "maybe"], ["no", "no"], LABELS)
    with pytest.raises(ReprlabError, match="no example"):
        score("accuracy", [], [])


def test_a_share_has_the_exact_interval_and_width_without_a_mistake():
    for right in (400, 300, 0):
        predicted = ["yes"] * right + ["no"] * (400 - right)
        expected = stats.binomtest(right, 400).proportion_ci(method="exact")
        found = bootstrap_interval("accuracy", ["yes"] * 400, predicted, LABELS, resamples=10)
        assert found == pytest.approx((100 * expected.low, 100 * expected.high))
        assert found[0] < found[1]


def test_the_bootstrap_of_a_mean_matches_t_for_few_examples():
    values = np.random.default_rng(0).normal(size=12)
    _, low, high = mean_interval(values.tolist(), resamples=20_000)
    expected = stats.t.interval(0.95, 11, values.mean(), stats.sem(values))
    assert (low, high) == pytest.approx(expected, abs=0.1 * (expected[1] - expected[0]))
    assert high - low > 1.1 * 2 * 1.96 * values.std() / np.sqrt(12), "the plain percentile interval is shorter"


def test_bootstrap_matches_the_normal_and_its_seed():
    values = np.random.default_rng(2).uniform(size=400).tolist()
    mean, low, high = mean_interval(values, resamples=4000, seed=3)
    reach = 1.96 * stats.sem(values)
    assert (low, high) == pytest.approx((mean - reach, mean + reach), abs=0.1 * reach)
    assert (low, high) == mean_interval(values, resamples=4000, seed=3)[1:]
    assert (low, high) != mean_interval(values, resamples=4000, seed=4)[1:]


def test_resamples_keep_the_size_of_the_sample():
    statistics = np.random.default_rng(0).integers(0, 3, size=(57, 2)).astype(float)
    sums = resample_sums(np.column_stack([statistics, np.ones(57)]), 200, 0)
    assert np.all(sums[:, 2] == 57)
    assert sums[:, 0].mean() == pytest.approx(statistics[:, 0].sum(), rel=0.05)


def test_the_interval_of_a_mean_holds_it():
    mean, low, high = mean_interval([1.0, 2.0, 3.0])
    assert mean == 2 and 1 <= low < 2 < high <= 3


def test_every_metric_has_a_unique_name():
    assert all(name == metric.name for name, metric in METRICS.items())
