"""Estimates, rules and the flags of standing, on cases that are known by hand or from another library."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from reprlab.runtime.code_digest import imported_modules
from reprlab.statistics import (
    ABOVE_ZERO,
    BELOW_ZERO,
    Estimate,
    Rule,
    Score,
    contrast,
    correlation,
    correlation_over_halves,
    count_exactly,
    difference_of_groups,
    difference_over_pairs,
    every_unit,
    judge,
    largest_of,
    mean_correlation,
    mean_over_crossed,
    mean_over_units,
    over_halves,
    over_seeds,
    proportion,
    rank_correlation,
    ratio_difference,
    ratio_of_deviations,
    ratio_over_units,
    share_of_signs,
    slope,
    standing,
    within,
)
from reprlab.statistics.estimates import no_interval, t_interval, t_quantile
from reprlab.statistics.power import decided_effect, smallest_supported
from scipy import stats

DRAWN = np.random.Generator(np.random.Philox(key=3)).normal(size=(4, 9))


def bounds(estimate: Estimate) -> tuple[float, float]:
    return estimate.low, estimate.high


def expected_t(units: np.ndarray) -> tuple[float, float]:
    return stats.t.interval(0.95, len(units) - 1, units.mean(), stats.sem(units))


def test_a_mean_has_students_interval_and_names_its_unit():
    found = mean_over_units([*DRAWN[0], math.nan], "seed")
    assert bounds(found) == pytest.approx(expected_t(DRAWN[0]))
    assert (found.n, found.unit) == (9, "seed")


def test_nested_values_count_as_their_outer_units():
    found = mean_over_units(DRAWN.ravel(), "pair", groups=np.repeat(["a", "b", "c", "d"], 9))
    assert bounds(found) == pytest.approx(expected_t(DRAWN.mean(1)))
    assert found.n == 4
    assert found == mean_over_units([*DRAWN.ravel(), math.nan], "pair", groups=[*np.repeat(list("abcd"), 9), "e"])


def test_crossed_values_reach_as_far_as_both_kinds_of_unit():
    model, data = np.repeat(range(4), 9), np.tile(range(9), 4)
    found = mean_over_crossed(DRAWN.ravel(), {"model": model, "data set": data})
    reaches = [np.diff(expected_t(DRAWN.mean(axis)))[0] / 2 for axis in (1, 0)]
    assert found.high - found.value == pytest.approx(math.hypot(*reaches))
    assert (found.n, found.unit) == (4, "model and data set")


def test_one_model_on_many_data_sets_is_judged_over_data_sets_and_says_so():
    found = mean_over_crossed(DRAWN[0], {"model": [0] * 9, "data set": range(9)})
    assert bounds(found) == pytest.approx(expected_t(DRAWN[0]))
    assert (found.n, found.unit, found.note) == (9, "data set", "one model")


def test_models_that_are_all_alike_leave_the_data_sets_to_judge():
    model, data = [0, 0, 0, 1, 1, 1], [0, 1, 2] * 2
    found = mean_over_crossed([1, 2, 3, 1, 2, 3], {"model": model, "data set": data})
    assert found.value == 2
    assert bounds(found) == pytest.approx(expected_t(np.array([1.0, 2.0, 3.0])))
    alike = mean_over_crossed([1.0] * 6, {"model": model, "data set": data})
    assert judge(alike, ABOVE_ZERO).verdict == "inconclusive" and "equal" in alike.note
    assert math.isnan(mean_over_crossed([], {"model": [], "data set": []}).low)


@pytest.mark.parametrize("values", [[], [1.0], [2.0] * 5, [0.0] * 50])
def test_what_gives_no_interval_says_why_and_decides_nothing(values):
    for rule in (ABOVE_ZERO, BELOW_ZERO, Rule(-1, 1), Rule(low=-9)):
        verdict = judge(mean_over_units(values, "seed"), rule)
        assert verdict.verdict == "inconclusive"
        assert "seed" in verdict.note


def test_six_equal_units_are_a_direction():
    assert judge(mean_over_units([2.0] * 6, "seed"), ABOVE_ZERO).verdict == "supported"


def test_differences_are_paired():
    found = difference_over_pairs(DRAWN[0] + 5, DRAWN[0], "data set")
    assert bounds(found) == pytest.approx((5, 5))
    with pytest.raises(ValueError, match="2 and 3 values"):
        difference_over_pairs([1, 2], [1, 2, 3], "seed")


def test_answers_to_the_same_examples_are_judged_by_those_that_differ():
    right = np.zeros(100)
    five, ten = right.copy(), right.copy()
    five[:5], ten[:10] = 1, 1
    assert judge(difference_over_pairs(five, right, "example"), ABOVE_ZERO).verdict == "inconclusive"
    assert judge(difference_over_pairs(ten, right, "example"), ABOVE_ZERO).verdict == "supported"
    assert "equal in 100 units" in difference_over_pairs(five, five, "example").note


def test_groups_have_at_least_welchs_and_the_pooled_interval():
    found = difference_of_groups(DRAWN[0], DRAWN[1][:4] * 3, "seed")
    for equal in (True, False):
        reference = stats.ttest_ind(DRAWN[0], DRAWN[1][:4] * 3, equal_var=equal).confidence_interval()
        assert found.low <= reference.low + 1e-12
        assert found.high >= reference.high - 1e-12
    assert found.n == 4
    # What has no interval has its value and its number of units all the same.
    for first, second, value, n in (([3], [1], 2, 1), ([5, 5, 5], [1, 1], 4, 2)):
        found = difference_of_groups(first, second, "seed")
        assert (found.value, found.n) == (value, n) and math.isnan(found.low) and f"{len(first)} and" in found.note
    # What rounding leaves of equal numbers is no spread: squares of 1e-24 together.
    gaps = [difference_of_groups([0.0, gap], [0.0, 0.0], "seed").low for gap in (1.4e-12, 1.5e-12)]
    assert math.isnan(gaps[0]) and gaps[1] < 0


def test_a_share_without_a_mistake_has_width():
    assert bounds(proportion(20, 20, "example")) == pytest.approx((0.025 ** (1 / 20), 1))
    reference = stats.binomtest(7, 20).proportion_ci(method="exact")
    assert bounds(proportion(7, 20, "example")) == pytest.approx(tuple(reference))


def test_six_signs_are_the_fewest_that_show_a_direction_and_ties_count_against_it():
    verdicts = [
        judge(share_of_signs(signs, "seed"), Rule(low=0.5)).verdict for signs in ([1] * 5, [1] * 6, [1] * 6 + [0])
    ]
    assert verdicts == ["inconclusive", "supported", "inconclusive"]


def test_ratios_are_those_of_sums_over_batches():
    counts = np.arange(5, 14)
    sums = counts * (3 + DRAWN[0] / 10)
    found = ratio_over_units(sums, counts, "batch")
    assert found.value == pytest.approx(sums.sum() / counts.sum())
    error = stats.sem((sums - found.value * counts) / counts.mean())
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, 8) * error)
    shifted = ratio_difference((sums + 2 * counts, counts), (sums, counts), "batch", paired=True)
    assert bounds(shifted) == pytest.approx((2, 2))
    apart = ratio_difference((sums + 2 * counts, counts), (sums, counts), "batch", paired=False)
    assert apart.high - 2 == pytest.approx(math.sqrt(2) * (found.high - found.value))


def test_a_pair_is_left_out_where_a_side_counts_nothing_and_has_nothing():
    """Words that are inserted where nothing was said are errors of nothing, and stay."""
    first, second = ([3.0, 5.0, 4.0, 6.0], [10, 10, 10, 10]), ([1.0, 2.0, 2.0, 2.0], [10, 10, 10, 10])
    known = ratio_difference(first, second, "batch", paired=True)
    for side in (0, 1):
        pair = [([*one[0], 9.0], [*one[1], 10]) for one in (first, second)]
        pair[side] = ([*pair[side][0][:-1], 0.0], [*pair[side][1][:-1], 0])
        found = ratio_difference(*pair, "batch", paired=True)
        assert (found.value, found.n, *bounds(found)) == pytest.approx((known.value, 4, *bounds(known)))
    inserted = ratio_difference(([*first[0], 4.0], [*first[1], 0]), ([*second[0], 2.0], [*second[1], 10]), "batch",
                                paired=True)  # fmt: skip
    assert inserted.n == 5 and inserted.value == pytest.approx(22 / 40 - 9 / 50)


def test_no_hit_among_few_counted_is_no_proof_of_none():
    verdicts = [judge(ratio_over_units([0] * 4, [counts] * 4, "batch"), Rule(high=0.05)) for counts in (10, 50)]
    assert [(one.verdict, one.n_units) for one in verdicts] == [("inconclusive", 4), ("supported", 4)]
    assert ratio_over_units([50] * 4, [50] * 4, "batch").low == pytest.approx(0.025 ** (1 / 200))


def _scores(kind, values):
    return stats.rankdata(values) if kind is rank_correlation else values


@pytest.mark.parametrize("n", [5, 6, 7, 9, 20])
@pytest.mark.parametrize("kind", [rank_correlation, correlation])
def test_correlations_exclude_zero_where_the_test_of_no_correlation_does(kind, n):
    rng = np.random.Generator(np.random.Philox(key=n))
    test = stats.spearmanr if kind is rank_correlation else stats.pearsonr
    agreed = 0
    for _ in range(30):
        first = rng.normal(size=n)
        second = first + rng.normal(size=n)
        found, reference = kind(first, second, "data set"), test(first, second)
        assert found.value == pytest.approx(reference.statistic)
        assert found.low <= found.value <= found.high
        p = reference.pvalue
        if n <= 8:
            # How often all orders of the second side do as well, in place of the test's approximation.
            orders = np.array(list(itertools.permutations(_scores(kind, second))))
            values = (orders - orders.mean(1, keepdims=True)) @ _scores(kind, first)
            p = 2 * np.mean(values >= values[0] - 1e-9)
        shown = judge(found, ABOVE_ZERO).verdict == "supported"
        agreed += shown == (p < 0.05 and found.value > 0)
        # Rank correlations are widened where they are strong: never narrower than the test.
        assert not (shown and p > 0.0501)
    assert agreed >= (30 if kind is correlation else 24)


@pytest.mark.parametrize("kind", [rank_correlation, correlation, slope])
def test_four_points_are_too_few_for_a_correlation(kind):
    verdict = judge(kind([1, 2, 3, 4], [1, 2, 3, 4.1], "checkpoint"), ABOVE_ZERO)
    assert (verdict.verdict, verdict.n_units) == ("inconclusive", 4)
    assert "4 (checkpoint), 5 are needed" in verdict.note


@pytest.mark.parametrize("n", [5, 6, 7, 20])
@pytest.mark.parametrize("kind", [rank_correlation, correlation])
def test_the_interval_of_a_correlation_turns_with_its_values(kind, n):
    """Each end reaches as far as the correlation of its own sign has to: neither is the value itself."""
    rng = np.random.Generator(np.random.Philox(key=n))
    for _ in range(5):
        first, second = rng.normal(size=n), rng.normal(size=n)
        found, turned = kind(first, second, "point"), kind(first, -second, "point")
        assert (turned.value, *bounds(turned)) == pytest.approx((-found.value, -found.high, -found.low))
        assert found.low < found.value < found.high or abs(found.value) > 0.99


def test_one_correlation_a_model_is_averaged_on_fishers_scale():
    values = np.array([0.2, 0.5, 0.9])
    found = mean_correlation([*values, math.nan], "model")
    assert bounds(found) == pytest.approx(np.tanh(expected_t(np.arctanh(values))))


def test_a_slope_is_that_of_a_regression():
    reference = stats.linregress(DRAWN[0], DRAWN[1])
    found = slope(DRAWN[0], DRAWN[1], "data set")
    assert found.value == pytest.approx(reference.slope)
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, 7) * reference.stderr)


def test_halves_give_a_t_interval_from_their_spread_and_not_their_bias():
    halves = [4.0, 5.0, 6.0, 9.0]
    reach = stats.t.ppf(0.975, 3) * np.std(halves, ddof=1)
    assert bounds(over_halves(10.0, halves, "prompt")) == pytest.approx((10 - reach, 10 + reach))
    assert bounds(over_halves(10.0, [*(h + 3 for h in halves), math.nan], "prompt")) == pytest.approx(
        (10 - reach, 10 + reach)
    )
    found = correlation_over_halves(1.0, [0.1, 0.5, 0.9], "prompt")
    assert -1 <= found.low <= 1 == found.high
    for interval in (over_halves, correlation_over_halves):
        assert math.isnan(interval(0.5, [0.4, math.nan], "prompt").low)
        assert math.isnan(interval(0.5, [0.4, math.nan], "prompt").high)


def test_a_contrast_adds_reaches_as_roots_of_squares_on_the_right_side():
    lopsided = Estimate(10, 9, 14, 7, "example")
    found = contrast([Estimate(20, 17, 22, 9, "example"), lopsided], (1, -1))
    assert (found.value, found.n) == (10, 7)
    assert bounds(found) == pytest.approx((10 - math.hypot(3, 4), 10 + math.hypot(2, 1)))
    assert math.isnan(contrast([lopsided, mean_over_units([1.0], "seed")], (1, -1)).low)


def test_the_largest_of_several_pays_for_the_choice():
    place, best = largest_of(
        [Estimate(1, 0.5, 1.5, 9), Estimate(2, 1, 3, 9), Estimate(0, -1, 1, 9), Estimate(1, 0, 2, 9)]
    )
    assert place == 1
    assert best.high - 2 == pytest.approx(stats.norm.ppf(1 - 0.0125 / 2) / stats.norm.ppf(0.975))


@pytest.mark.parametrize(
    ("low", "high", "above", "near"),
    [
        (0.1, 0.5, "supported", "supported"),
        (-0.5, -0.1, "not supported", "supported"),
        (0.0, 0.5, "inconclusive", "supported"),
        (-0.5, 0.0, "inconclusive", "supported"),
        (-0.1, 2.0, "inconclusive", "inconclusive"),
        (1.5, 2.0, "supported", "not supported"),
        (1.0, 2.0, "supported", "inconclusive"),
        (math.nan, math.nan, "inconclusive", "inconclusive"),
    ],
)
def test_an_interval_that_touches_a_bound_is_inconclusive(low, high, above, near):
    estimate = Estimate(0.2, low, high, 5, "seed")
    assert judge(estimate, ABOVE_ZERO).verdict == above
    assert judge(estimate, Rule(-1, 1)).verdict == near


def test_what_is_counted_or_computed_has_no_interval_of_a_sample():
    assert judge(count_exactly(6, "task", 9), Rule(5.5, 6.5)).verdict == "supported"
    assert judge(every_unit([0.0, 0.0], "run"), Rule(-0.05, 0.05)).verdict == "supported"
    assert judge(every_unit([0.0, 0.3], "run"), Rule(-0.05, 0.05)).verdict == "inconclusive"


def test_one_seed_is_judged_over_examples():
    assert standing([Score(60, 53, 67)], 52).above_trivial == "above"
    assert standing([Score(60, 51, 69)], 52).above_trivial == "not above"
    found = standing([Score(60, 53, 67)], 52, [Score(58, 51, 65)])
    assert (found.above_trivial, found.above_untrained, found.unit) == ("above", "not above", "example")
    assert (found.over_trivial, found.over_untrained) == (8, 2)
    assert standing([Score(70, 64, 76)], 52, [Score(56, 50, 62)]).above_untrained == "above"


def test_seeds_that_agree_by_their_examples_only_are_not_above():
    # Three seeds with nearly one prediction for all: their spread is not a measure of the 100 examples.
    assert standing([Score(52.1, 42, 62), Score(52.2, 42, 62), Score(52.0, 42, 62)], 50).above_trivial == "not above"
    assert standing([Score(62.1, 52, 72), Score(62.2, 52, 72), Score(62.0, 52, 72)], 50).above_trivial == "above"


def test_seeds_that_are_all_above_unequally_are_above_and_one_of_three_is_counted():
    unequal = [Score(60, 55, 65), Score(70, 65, 75), Score(90, 86, 94)]
    assert standing(unequal, 50).above_trivial == "above"
    found = standing([Score(50, 45, 55), Score(50, 45, 55), Score(90, 85, 93)], 50)
    assert (found.above_trivial, found.unit, found.n) == ("above with 1 of 3 seeds", "seed", 3)
    beside = standing(unequal, 50, [Score(70, 65, 75), Score(75, 70, 80), Score(80, 75, 85)])
    assert (beside.above_trivial, beside.above_untrained) == ("above", "not above")


def test_the_best_of_several_learning_rates_pays_for_the_choice():
    assert standing([Score(60, 52.1, 68)], 52).above_trivial == "above"
    assert standing([Score(60, 52.1, 68)], 52, tried=3).above_trivial == "not above"
    assert standing([Score(60.0), Score(61.0), Score(62.0)], 58.2).above_trivial == "above"
    assert standing([Score(60.0), Score(61.0), Score(62.0)], 58.2, tried=3).above_trivial == "not above"


def test_scores_without_intervals_are_judged_over_seeds_alone():
    assert standing([Score(60.0), Score(61.0), Score(62.0)], 50).above_trivial == "above"
    assert standing([Score(60.0)], 50).above_trivial == "not above"


def test_an_edit_of_a_rule_trains_and_scores_nothing_again():
    for stage in ("pretrain_lm", "finetune_model", "finetune_completions", "score_completions", "evaluate_lm"):
        modules = imported_modules(f"reprlab.stages.{stage}")
        assert not [name for name in modules if name.startswith("reprlab.statistics")]
    assert "reprlab.statistics.rules" in imported_modules("reprlab.stages.test_claims")


def test_what_touches_a_bound_is_not_beyond_it():
    between = Rule(low=0.0, high=1.0)
    for low, high, verdict in (
        (0.1, 0.9, "supported"), (0.1, 1.0, "inconclusive"), (0.0, 0.9, "inconclusive"), (1.0, 1.5, "inconclusive"),
        (1.1, 1.5, "not supported"), (-0.5, 0.0, "inconclusive"), (-0.5, -0.1, "not supported"),
    ):  # fmt: skip
        assert between.judge(Estimate((low + high) / 2, low, high, 9, "example")) == verdict
    level = [Score(50.0, 50.0, 50.0), Score(40.0, 40.0, 40.0)]
    assert standing(level, 50.0).above_trivial == "not above"
    assert standing(level, 49.0).above_trivial == "above with 1 of 2 seeds"


def test_what_has_no_interval_has_its_value_its_units_and_a_reason():
    for values, said in (([0.0] * 3, "both sides are equal in 3"), ([5.0] * 3, "all units are equal in 3")):
        found = mean_over_units(values, "seed")
        assert (found.value, found.n) == (values[0], 3) and math.isnan(found.low) and said in found.note
    assert mean_over_units(DRAWN[0], "seed").method == "t over 9 units (seed), 95%"
    # Equal but for rounding, which grows with the numbers.
    assert math.isnan(mean_over_units([1000.0, 1000.0 + 5e-10], "seed").low)
    assert not math.isnan(mean_over_units([1000.0, 1000.0 + 5e-9], "seed").low)
    left = contrast([Estimate(20, 17, 22, 9, "example"), mean_over_units([4.0], "seed")], (1, -1))
    assert (left.value, left.n) == (16, 1) and math.isnan(left.low)
    crossed = mean_over_crossed([5.0] * 6, {"row": [0, 0, 0, 1, 1, 1], "column": [0, 1, 2, 0, 1, 2]})
    assert (crossed.value, crossed.n) == (5, 2) and math.isnan(crossed.low)


def test_deviations_are_compared_by_f_over_their_units():
    first, second = DRAWN[0], 2 * DRAWN[1]
    found = ratio_of_deviations([first], [second], "seed")
    ratio = first.std(ddof=1) / second.std(ddof=1)
    ends = [ratio / math.sqrt(stats.f.ppf(share, 8, 8)) for share in (0.975, 0.025)]
    assert (found.value, *bounds(found)) == pytest.approx((ratio, *ends))
    assert (found.n, found.unit) == (9, "seed") and found.method.startswith("F over 9 and 9 units (seed), 95%")
    # Of as many sets the geometric mean, which is surer than one.
    both = ratio_of_deviations([first, DRAWN[2]], [second, 2 * DRAWN[3]], "seed")
    assert both.value == pytest.approx(math.sqrt(ratio * DRAWN[2].std(ddof=1) / (2 * DRAWN[3]).std(ddof=1)))
    assert "2 sets joined" in both.method and "joined" not in found.method
    assert math.log(both.high / both.low) == pytest.approx(math.log(found.high / found.low) / math.sqrt(2))
    assert judge(ratio_of_deviations([[1.0, 1.0]], [[1.0, 2.0]], "seed"), Rule(high=1)).verdict == "inconclusive"


def test_two_seeds_alone_decide_nothing_and_four_may():
    for n, verdict in ((2, "inconclusive"), (3, "inconclusive"), (4, "supported")):
        found = judge(mean_over_units(10 + 0.01 * np.arange(n), "seed"), ABOVE_ZERO)
        assert found.verdict == verdict and (verdict == "supported" or "4" in found.note)
    values = {"set": list("aabbcc"), "seed": [0, 1] * 3}
    sets = mean_over_crossed([5, -5, 6, -4, 7, -3], values)
    assert (sets.n, sets.unit) == (3, "set") and "these 2 seeds" in sets.note


def test_few_runs_are_judged_over_their_items_and_none_contradicts():
    runs = [Estimate(2.0, 1.0, 4.0, 30, "query"), Estimate(4.0, 1.0, 5.0, 30, "query")]
    found = over_seeds(runs)
    assert (found.value, *bounds(found), found.n) == (3.0, 1.0, 4.5, 30)
    assert found.unit == "query within 2 seeds" and "by seed: 2, 4" in found.note
    assert bounds(within([runs[0], Estimate(-1.0, -1.5, -0.5, 30, "query")]))[0] == -1.0
    assert over_seeds(runs * 2).unit == "seed" and over_seeds(runs[:1]).unit == "query"
    assert over_seeds([runs[0], Estimate(1.0, math.nan, math.nan, 30)]).unit == "seed"


def test_the_smallest_effect_is_supported_in_four_runs_of_five():
    rng = np.random.default_rng(7)
    for units in (4, 8, 40):
        effect = smallest_supported(units) / math.sqrt(units)
        draws = rng.normal(effect, 1.0, (40_000, units))
        error = draws.std(axis=1, ddof=1) / math.sqrt(units)
        assert (draws.mean(axis=1) > t_quantile(units - 1) * error).mean() == pytest.approx(0.8, abs=0.01)


def test_the_effect_of_a_planned_run_follows_from_the_spread_of_a_former_one():
    four = t_interval(0.0, np.array([-1.0, 1.0, -1.0, 1.0]), "data set")
    error = np.array([-1.0, 1.0, -1.0, 1.0]).std(ddof=1) / 2
    assert decided_effect(four) == pytest.approx(smallest_supported(4) * error)
    assert decided_effect(four, 16) == pytest.approx(smallest_supported(16) * error / 2)
    assert math.isnan(decided_effect(replace(four, unit="seed"), 3))
    assert math.isnan(decided_effect(every_unit([1.0, 2.0, 3.0], "cell")))
    assert math.isnan(decided_effect(count_exactly(3, "task", 9)))
    assert math.isnan(decided_effect(no_interval(1.0, 5, "seed", "")))
