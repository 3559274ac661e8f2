"""Intervals from random halves."""

import math
import statistics

import pytest
from reprlab.geometry.jackknife import correlation_interval, delete_half_interval

NORMAL_95 = 1.959963984540054


def test_the_reach_is_the_spread_of_the_halves_and_not_their_bias():
    halves = [4.0, 5.0, 6.0, 9.0]
    low, high = delete_half_interval(10.0, halves, 0.95)
    reach = NORMAL_95 * statistics.pstdev(halves)
    assert (low, high) == pytest.approx((10 - reach, 10 + reach))
    assert delete_half_interval(10.0, [half + 3 for half in halves], 0.95) == pytest.approx((low, high))


@pytest.mark.parametrize("interval", [delete_half_interval, correlation_interval])
def test_fewer_than_two_halves_give_none(interval):
    assert all(math.isnan(bound) for bound in interval(0.5, [0.4, math.nan], 0.95))


def test_a_mean_of_many_points_has_the_classical_error():
    import numpy as np

    rng = np.random.Generator(np.random.Philox(key=1))
    points = rng.normal(size=400)
    halves = [float(rng.permutation(points)[:200].mean()) for _ in range(2_000)]
    low, high = delete_half_interval(float(points.mean()), halves, 0.95)
    # The spread over 2,000 halves is known to 1 / sqrt(2 * 2,000) of itself: 5 of those.
    assert (high - low) / 2 == pytest.approx(NORMAL_95 * points.std() / 20, rel=5 / math.sqrt(4_000))


@pytest.mark.parametrize("value", [-0.98, 0.2, 0.984, 1.0])
def test_a_correlation_stays_between_minus_one_and_one(value):
    low, high = correlation_interval(value, [0.1, 0.5, 0.9, 1.0], 0.95)
    assert -1 <= low <= value <= high <= 1


def test_a_correlation_has_fishers_interval():
    halves = [0.3, 0.5, 0.6]
    reach = NORMAL_95 * statistics.pstdev(math.atanh(half) for half in halves)
    expected = (math.tanh(math.atanh(0.5) - reach), math.tanh(math.atanh(0.5) + reach))
    assert correlation_interval(0.5, halves, 0.95) == pytest.approx(expected)
