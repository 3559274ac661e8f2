"""Intervals from random halves, at the level that is asked for."""

import math

import numpy as np
import pytest
from reprlab.geometry.jackknife import correlation_interval, delete_half_interval
from scipy import stats


def test_a_mean_of_many_points_has_the_classical_error():
    rng = np.random.Generator(np.random.Philox(key=1))
    points = rng.normal(size=400)
    halves = [float(rng.permutation(points)[:200].mean()) for _ in range(2_000)]
    low, high = delete_half_interval(float(points.mean()), halves, 0.9)
    # The spread over 2,000 halves is known to 1 / sqrt(2 * 2,000) of itself: 5 of those.
    expected = stats.norm.ppf(0.95) * points.std() / 20
    assert (high - low) / 2 == pytest.approx(expected, rel=5 / math.sqrt(4_000))


@pytest.mark.parametrize("value", [-0.98, 0.2, 0.984, 1.0])
def test_a_correlation_stays_between_minus_one_and_one(value):
    low, high = correlation_interval(value, [0.1, 0.5, 0.9, 1.0], 0.95)
    assert -1 <= low <= value <= high <= 1


def test_a_correlation_has_fishers_interval():
    halves = np.arctanh([0.3, 0.5, 0.6])
    reach = stats.t.ppf(0.975, 2) * halves.std(ddof=1)
    expected = (math.tanh(math.atanh(0.5) - reach), math.tanh(math.atanh(0.5) + reach))
    assert correlation_interval(0.5, np.tanh(halves).tolist(), 0.95) == pytest.approx(expected)
