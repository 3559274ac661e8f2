"""Exact neighbours: against every pair in float64, where float32 products fail, and in small blocks."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.geometry import neighbours
from reprlab.geometry.neighbours import nearest_distances
from reprlab.runtime.errors import ReprlabError


def every_pair(points, k):
    exact = points.double()
    squared = torch.stack([(exact - row).square().sum(1) for row in exact])
    squared.fill_diagonal_(torch.inf)
    return squared.sort(1).values[:, :k].sqrt()


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    count=st.integers(3, 70),
    width=st.integers(1, 20),
    block=st.integers(1, 80),
    scale=st.sampled_from([1e-30, 1e-3, 1.0, 1e6, 1e25]),
    dtype=st.sampled_from([torch.float32, torch.float64, torch.bfloat16]),
)
def test_equal_to_every_pair(seed, count, width, block, scale, dtype):
    rng = np.random.default_rng(seed)
    # Coarse values give ties and twins.
    points = (torch.tensor(rng.integers(-9, 9, (count, width)) * 1.0) * scale).to(dtype)
    k = int(rng.integers(1, count))
    expected = every_pair(points, k)
    found = nearest_distances(points, k, block=block)
    assert found.dtype == torch.float64
    assert torch.allclose(found, expected, rtol=1e-12, atol=1e-12 * scale)
    assert bool((found[:, 1:] >= found[:, :-1]).all())


def test_where_float32_products_lose_everything(monkeypatch):
    """Two coordinates in the thousands and distances of 0.01, as in hidden states with massive activations."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((400, 64)) * 1e-3
    points[:, :2] += rng.choice([-3000.0, 3000.0], (400, 2))
    points = torch.tensor(points, dtype=torch.float32)
    squared = points.square().sum(1)
    products = (squared[:, None] + squared - 2 * points @ points.T).fill_diagonal_(torch.inf)
    expected = every_pair(points, 2)
    naive = products.clamp(min=0).sort(1).values[:, :2].sqrt()
    assert float((naive / expected - 1).abs().median()) > 0.5
    searched, search = [], neighbours._nominate

    def counted(exact, rows, kept):
        searched.append(len(rows))
        return search(exact, rows, kept)

    monkeypatch.setattr(neighbours, "_nominate", counted)
    left, every = [], neighbours._measure_every_pair
    monkeypatch.setattr(
        neighbours, "_measure_every_pair", lambda exact, rows, squared: (left.extend(rows), every(exact, rows, squared))
    )
    assert torch.allclose(nearest_distances(points, 2), expected, rtol=1e-12)
    assert sum(searched) == 400 and not left, "float64 products settle what those of float32 do not"


def test_near_twins_are_told_apart():
    """Beyond float64 products too: points 1e-9 apart, 1e4 from the centre."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((20, 8)) * 1e4
    points = torch.tensor(np.repeat(centres, 12, axis=0))
    points[:, 0] += torch.tensor(rng.random(240) * 1e-8)
    assert torch.equal(nearest_distances(points, 3) > 0, every_pair(points, 3) > 0)
    assert torch.allclose(nearest_distances(points, 3), every_pair(points, 3), rtol=1e-2, atol=1e-11)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_products_of_tiny_numbers_are_no_less_wrong_than_they_are_taken_for(dtype):
    """Each of D products that falls below the smallest normal number may lose all of itself."""
    limits, width = torch.finfo(dtype), 40
    relative, absolute = neighbours._slack(torch.zeros(1, width, dtype=dtype))
    assert absolute >= width * limits.tiny and relative >= width * limits.eps


def test_float32_alone_settles_ordinary_clouds(monkeypatch):
    monkeypatch.setattr(neighbours, "_nominate", lambda *_: pytest.fail("a second search"))
    points = torch.tensor(np.random.default_rng(0).standard_normal((600, 300)), dtype=torch.float32)
    assert torch.allclose(nearest_distances(points, 2, block=128), every_pair(points, 2), rtol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_points_stay_as_they_were(dtype):
    points = torch.tensor(np.random.default_rng(0).standard_normal((9, 3)) + 5, dtype=dtype)
    before = points.clone()
    nearest_distances(points, 2)
    assert torch.equal(points, before)


def test_refusals():
    with pytest.raises(ReprlabError, match="at least 4 points"):
        nearest_distances(torch.zeros(3, 2), 3)
    with pytest.raises(ReprlabError, match="not finite numbers"):
        nearest_distances(torch.tensor([[1.0], [float("inf")], [2.0]]), 1)
