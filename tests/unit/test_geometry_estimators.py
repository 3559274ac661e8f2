"""Estimators of intrinsic dimension: exact fixtures, known clouds, reference implementations, invariances."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.geometry.curves import normalised_auc
from reprlab.geometry.estimation import estimate_dimension
from reprlab.geometry.estimators import gride, levina_bickel, two_nn, two_nn_ml
from reprlab.geometry.settings import EstimatorSettings
from reprlab.runtime.errors import ReprlabError

ORACLES = json.loads((Path(__file__).parent / "oracles/intrinsic_dimension.json").read_text(encoding="utf-8"))
RANKS = [(1, 2), (2, 4), (4, 8), (8, 16), (16, 32), (32, 64)]
BASE = EstimatorSettings(name="base", kind="two_nn")
ML = EstimatorSettings(name="ml", kind="two_nn_ml")
MLE_50 = EstimatorSettings(name="mle_50", kind="levina_bickel")


def uniform(d, n=2000):
    return torch.tensor(np.random.default_rng(0).random((n, d)))


def clouds():
    found = {f"uniform_{d}": uniform(d) for d in (2, 5, 20)}
    rng = np.random.default_rng(1)
    flat = rng.standard_normal((1200, 12)) @ rng.standard_normal((12, 40)) * np.geomspace(1, 100, 40)
    return {**found, "flat_12_of_40": torch.tensor(flat), "shifted": uniform(5) + 1000.0}


def values(points, *estimators):
    return [found.value for found in estimate_dimension(points, estimators)]


@pytest.mark.parametrize("k", [5, 10, 50])
@pytest.mark.parametrize("d", [2, 11.5])
def test_levina_bickel_on_exact_distances(k, d):
    distances = torch.tensor((np.arange(1, k + 1) / k) ** (1 / d)).repeat(7, 1)
    found, line = levina_bickel(distances, k), levina_bickel(torch.tensor(np.arange(1, k + 1) / k)[None], k)
    assert found.value == pytest.approx(d * line.value, rel=1e-9), "the bias is a factor"
    assert found.spread == pytest.approx(0, abs=1e-9)
    assert levina_bickel(distances, k, combine="harmonic").value == pytest.approx(found.value, rel=1e-9)
    unbiased = levina_bickel(distances, k, unbiased=True).value
    assert unbiased == pytest.approx(found.value * (k - 2) / (k - 1), rel=1e-9)


@pytest.mark.parametrize("name", list(ORACLES))
def test_equal_to_the_reference_implementations(name):
    """DADApy 0.3.4 and scikit-dimension 0.5.0; oracles/make_intrinsic_dimension.py made the values."""
    harmonic = EstimatorSettings(name="h", kind="levina_bickel", neighbours=20, combine="harmonic")
    unbiased = EstimatorSettings(name="u", kind="levina_bickel", unbiased=True)
    scales = [EstimatorSettings(name="g", kind="gride", ranks=ranks) for ranks in RANKS]
    base, ml, mle, harmonic_20, unbiased_50, *by_rank = values(
        clouds()[name], BASE, ML, MLE_50, harmonic, unbiased, *scales
    )
    ours = {
        "two_nn": base,
        "two_nn_ml": ml,
        "levina_bickel_50": mle,
        "levina_bickel_20_harmonic": harmonic_20,
        "levina_bickel_50_unbiased": unbiased_50,
        **{f"gride_{n1}_{n2}": value for (n1, n2), value in zip(RANKS, by_rank, strict=True)},
    }
    for library, expected in ORACLES[name].items():
        for estimator, value in expected.items():
            assert ours[estimator] == pytest.approx(value, abs=1e-6), (library, estimator)


def test_gride_over_scales():
    from reprlab.geometry.neighbours import nearest_distances

    distances = nearest_distances(uniform(5), 64)
    found = [gride(distances, *ranks) for ranks in RANKS]
    assert found[0].value == pytest.approx(two_nn_ml(distances).value, abs=1e-9)
    # N = 2000 and n1 = 1, n2 = 2: the Fisher information is N / d^2.
    assert found[0].spread == pytest.approx(found[0].value / 2000**0.5, rel=1e-9)
    assert all(later.spread < found[0].spread for later in found[1:])


@pytest.mark.parametrize("ranks", [(1, 4), (2, 4), (3, 9)])
def test_the_error_of_gride_is_the_curvature_of_its_likelihood(ranks):
    """Denti et al. 2022: the ratio mu of the distances of ranks n1 and n2 has the density
    d (mu^d - 1)^(n2 - n1 - 1) / (mu^((n2 - 1) d + 1) B(n2 - n1, n1))."""
    from reprlab.geometry.neighbours import nearest_distances

    n1, n2 = ranks
    distances = nearest_distances(uniform(3, n=300), n2)
    ratio = (distances[:, n2 - 1] / distances[:, n1 - 1]).log()

    def likelihood(d):
        # The authors' correction of the bias counts one point less.
        points = (len(ratio) - 1) / len(ratio) * math.log(d) * len(ratio)
        return points + float(((n2 - n1 - 1) * torch.expm1(d * ratio).log() - (n2 - 1) * d * ratio).sum())

    found = gride(distances, n1, n2)
    step = 1e-3 * found.value
    up, at, down = (likelihood(found.value + one) for one in (step, 0, -step))
    assert abs(up - down) < 1e-4, "the maximum"
    # The correction is of the estimate, and all points have information.
    information = -(up - 2 * at + down) / step**2 + 1 / found.value**2
    assert found.spread == pytest.approx(information**-0.5, rel=1e-4)


def test_the_cut_of_the_paper_is_the_default_and_as_many_points_as_neighbours_and_one_are_enough():
    from reprlab.geometry.neighbours import nearest_distances

    distances = nearest_distances(uniform(3, n=200), 2)
    assert two_nn(distances) == two_nn(distances, 0.1) != two_nn(distances, 0.2)
    points = uniform(3, n=51)
    assert math.isfinite(values(points, MLE_50)[0]) and math.isnan(values(points[:50], MLE_50)[0])
    assert math.isfinite(values(points[:3], BASE)[0])


def test_duplicates():
    alone = values(uniform(5), BASE)[0]
    for copied in (0, 20, 100, 200, 400):
        points = uniform(5)
        points[:copied] = points[copied : 2 * copied].clone()
        rule = EstimatorSettings(name="upstream", kind="two_nn", duplicates="upstream")
        first, second = estimate_dimension(points, [BASE, rule])
        assert first.value == pytest.approx(alone, rel=0.05) and (copied == 0 or second.value < first.value)
        assert (first.n_used, second.n_used) == (2000 - copied, 2000)
        assert first.n_zero == second.n_zero == 2 * copied


def test_no_number_without_information():
    together = estimate_dimension(torch.ones(40, 8), [BASE, ML, MLE_50])
    assert all(math.isnan(found.value) and found.n_used == 1 and found.n_zero == 40 for found in together)
    upstream = EstimatorSettings(name="upstream", kind="two_nn", duplicates="upstream")
    assert math.isnan(values(torch.ones(40, 8), upstream)[0])
    few = estimate_dimension(uniform(3, n=20), [BASE, MLE_50])
    assert math.isfinite(few[0].value) and math.isnan(few[1].value)
    with pytest.raises(ReprlabError, match="finite"):
        values(torch.tensor([[0.0, float("nan")], [1.0, 2.0], [2.0, 2.0]]), BASE)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31), st.floats(1e-6, 1e6), st.sampled_from([torch.float32, torch.float64]))
def test_isometries_scale_and_order_change_nothing(seed, factor, dtype):
    rng = np.random.default_rng(seed)
    points = torch.tensor(rng.random((150, 6)))
    rotation, _ = np.linalg.qr(rng.standard_normal((24, 24)))
    padded = torch.cat([points, torch.zeros(150, 18, dtype=torch.float64)], 1) @ torch.tensor(rotation)
    moved = (factor * padded + factor * torch.tensor(rng.standard_normal(24)))[torch.tensor(rng.permutation(150))]
    estimators = [BASE, ML, MLE_50, EstimatorSettings(name="g", kind="gride", ranks=(2, 7))]
    tolerance = 1e-9 if dtype == torch.float64 else 1e-2
    assert values(moved.to(dtype), *estimators) == pytest.approx(values(points, *estimators), rel=tolerance)


def test_area_under_a_constant_curve():
    curve = [7.0] * 32
    assert normalised_auc(curve) == pytest.approx(0.96875 * 7)
    assert normalised_auc(curve, "upstream") == pytest.approx(7)
    assert normalised_auc(curve, "upstream_heatmap") == pytest.approx(0.9375 * 7)
    # 1, 2, 4: trapezoids 1.5 and 3.
    assert normalised_auc([1, 2, 4]) == pytest.approx(1.5)
    assert normalised_auc([1, 2, 4], "upstream") == pytest.approx(2.25)
    assert normalised_auc([1, 2, 4], "upstream_heatmap") == pytest.approx(1)
    with pytest.raises(ReprlabError, match="3 layers"):
        normalised_auc([1, 2])
