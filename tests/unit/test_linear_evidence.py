"""LogME: the evidence of a Bayesian linear model, by the density of its Gaussian."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.coreference.documents import Document
from reprlab.coreference.states import chained_mentions
from reprlab.statistics.linear_evidence import log_evidence
from scipy.optimize import minimize
from scipy.stats import multivariate_normal


def density(features: np.ndarray, targets: np.ndarray, a: float, b: float) -> float:
    """The log density of the targets, a target, with both precisions given."""
    covariance = np.eye(len(features)) / b + features @ features.T / a
    return float(multivariate_normal(cov=covariance, allow_singular=True).logpdf(targets)) / len(features)


@pytest.mark.parametrize("width", [2, 5, 9])
def test_five_points_have_the_largest_gaussian_evidence(width: int) -> None:
    rng = np.random.default_rng(width)
    features, targets = rng.normal(size=(5, width)), rng.normal(size=5)
    found = minimize(
        lambda one: -density(features, targets, *np.exp(one)), [0.0, 0.0], method="Nelder-Mead",
        options={"xatol": 1e-8, "fatol": 1e-10, "maxiter": 4000},
    )  # fmt: skip
    # Where the features give the targets exactly, the search by hand stops short of the limit.
    assert log_evidence(features, targets) == pytest.approx(-found.fun, abs=2e-3)
    assert log_evidence(features, targets) >= -found.fun - 1e-6


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.floats(0.1, 10))
def test_a_rotation_and_a_scale_of_the_features_change_nothing(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    features, targets = rng.normal(size=(12, 4)), rng.normal(size=(12, 2))
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    first = log_evidence(features, targets)
    assert log_evidence(scale * features @ turn, targets) == pytest.approx(first, abs=1e-5)
    order = rng.permutation(12)
    assert log_evidence(features[order], targets[order]) == pytest.approx(first, abs=1e-9)


def test_columns_are_averaged_and_features_that_tell_are_above_those_that_do_not() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(60, 5))
    told, noise = features @ [1, -1, 0, 2, 0] + 0.1 * rng.normal(size=60), rng.normal(size=60)
    both = np.stack([told, noise], 1)
    assert log_evidence(features, both) == pytest.approx(
        (log_evidence(features, told) + log_evidence(features, noise)) / 2
    )
    assert log_evidence(features, told) > log_evidence(rng.normal(size=(60, 5)), told) + 1
    assert np.isfinite(log_evidence(features, np.zeros(60)))


def test_a_mention_is_the_mean_of_its_pieces_and_belongs_to_one_chain() -> None:
    document = Document(
        "d", (("a",) * 6,), ("-",) * 6, np.zeros(6, dtype=int), np.arange(6), (((0, 1), (4, 4)), ((2, 3), (5, 5)))
    )
    states = np.arange(12.0).reshape(6, 2)
    mentions, chains = chained_mentions(document, states)
    assert mentions.tolist() == [[1.0, 2.0], [8.0, 9.0], [5.0, 6.0], [10.0, 11.0]]
    assert chains.tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]]
    alone = Document("d", (("a",),), ("-",), np.zeros(1, dtype=int), np.arange(1), ())
    assert [one.shape for one in chained_mentions(alone, np.zeros((1, 2)))] == [(0, 2), (0, 0)]
