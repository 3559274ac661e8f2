"""T5's span sampler (spec 2.2, 5.4)."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.objectives.corruption import span_starts
from reprlab.objectives.span_mask import (
    depth_span_mask,
    noise_counts,
    random_compositions,
    random_span_mask,
    t5_span_mask,
)


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=seed))


@pytest.mark.parametrize(("length", "masked", "spans"), [(8, 2, 1), (20, 6, 2), (100, 30, 10), (512, 154, 51)])
def test_published_counts(length: int, masked: int, spans: int) -> None:
    mask = random_span_mask(np.full(200, length), length, generator(), density=0.3, mean_span=3.0, roll=False)
    assert set(mask.sum(axis=1)) == {masked}
    assert set(span_starts(mask).sum(axis=1)) == {spans}


def test_rounding_is_half_to_even() -> None:
    # 5 * 0.5 = 2.5 -> 2 and 7 * 0.5 = 3.5 -> 4; 6 tokens in spans of 4: 1.5 -> 2; 10 in spans of 4: 2.5 -> 2.
    noise, _ = noise_counts(np.array([5, 7]), 0.5, 1.0)
    assert noise.tolist() == [2, 4]
    _, spans = noise_counts(np.array([12, 20]), 0.5, 4.0)
    assert spans.tolist() == [2, 2]


@pytest.mark.parametrize("length", [2, 3])
def test_of_a_row_of_two_or_three_tokens_one_is_masked_at_any_place(length: int) -> None:
    mask = random_span_mask(np.full(300, length), 5, generator(), density=0.3, mean_span=3.0, roll=True)
    assert (mask.sum(axis=1) == 1).all() and not mask[:, length:].any()
    assert (mask[:, :length].sum(axis=0) > 300 / length - 50).all()


rows = st.lists(st.integers(0, 300), min_size=1, max_size=12)


@settings(max_examples=80, deadline=None)
@given(rows, st.integers(0, 2**32), st.floats(0.05, 0.95), st.floats(1, 8), st.booleans())
def test_every_row_has_its_counts(lengths, seed, density, mean_span, roll) -> None:
    lengths = np.array(lengths)
    width = int(lengths.max()) + 2
    mask = random_span_mask(lengths, width, generator(seed), density=density, mean_span=mean_span, roll=roll)
    noise, spans = noise_counts(lengths, density, mean_span)
    long = lengths >= 2
    assert (mask.sum(axis=1) == np.where(long, noise, 0)).all()
    assert not mask[np.arange(width) >= lengths[:, None]].any()
    starts = span_starts(mask).sum(axis=1)
    if roll:
        assert (np.abs(starts - spans)[long] <= 1).all()
    else:
        assert (starts == np.where(long, spans, 0)).all()
        assert not mask[:, 0].any()
        assert mask[np.flatnonzero(long), lengths[long] - 1].all()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 39)), min_size=1, max_size=8), st.integers(0, 2**32))
def test_compositions_are_compositions(pairs, seed) -> None:
    totals = np.array([total for total, _ in pairs])
    parts = np.array([1 + extra % total for total, extra in pairs])
    found = random_compositions(totals, parts, generator(seed))
    assert (found.sum(axis=1) == totals).all()
    assert ((found > 0).sum(axis=1) == parts).all()
    assert (np.diff((found > 0).astype(int), axis=1) <= 0).all()


@pytest.mark.parametrize(("total", "parts"), [(6, 3), (7, 2), (5, 5), (4, 1), (8, 4)])
def test_compositions_are_uniform(total: int, parts: int) -> None:
    draws = 20_000
    # Another row in the batch must not change the distribution.
    totals, sizes = np.tile([total, 9], draws), np.tile([parts, 5], draws)
    found = random_compositions(totals, sizes, generator(7))[::2, :parts]
    exact = [
        np.diff([0, *cuts, total]).tolist() for cuts in combinations(range(1, total), parts - 1)
    ]  # every composition once
    kinds, counts = np.unique(found, axis=0, return_counts=True)
    assert kinds.tolist() == sorted(exact)
    expected = draws / len(exact)
    chi_square = ((counts - expected) ** 2 / expected).sum()
    # Mean and deviation of chi-square: degrees of freedom and sqrt(2 df); five deviations.
    freedom = len(exact) - 1
    assert chi_square <= freedom + 5 * np.sqrt(2 * freedom)


def test_masks_are_uniform_over_the_sampler() -> None:
    """L = 8 without roll: 2 masked tokens in 1 span of a fixed place; rolled: each of the 8 rotations equally often."""
    mask = random_span_mask(np.full(16_000, 8), 8, generator(3), density=0.3, mean_span=3.0)
    kinds, counts = np.unique(mask, axis=0, return_counts=True)
    assert len(kinds) == 8
    assert np.abs(counts - 2_000).max() < 5 * np.sqrt(2_000)
    many = random_span_mask(np.full(4_000, 100), 100, generator(4), density=0.3, mean_span=3.0)
    assert np.abs(many.mean(axis=0) - 0.3).max() < 5 * np.sqrt(0.21 / 4_000)


def test_batch_is_a_function_of_the_seed() -> None:
    lengths = np.array([512, 100, 7, 350])
    masks = [random_span_mask(lengths, 512, generator(s), density=0.3, mean_span=3.0) for s in (1, 1, 2)]
    assert (masks[0] == masks[1]).all()
    assert (masks[0] != masks[2]).any()


def test_t5_mask_counts_padding_and_spares_it() -> None:
    ids = np.zeros((400, 40), dtype=np.int32)
    ids[:, :20] = 7
    ids[:, 19] = 1
    mask = t5_span_mask(ids, 512, generator(), density=0.3, mean_span=3.0, pad_id=0, eos_id=1)
    assert mask.shape == ids.shape
    assert not mask[:, 19:].any()
    assert abs(mask[:, :19].mean() - 0.3) < 0.02
    # Drawn over 512 positions, the number of masked tokens varies from row to row.
    assert len(set(mask.sum(axis=1))) > 3


def test_depth_mask_is_moved_by_two_and_spares_special_tokens() -> None:
    lengths, width = np.array([30, 12]), 30
    special = np.zeros((2, width), dtype=bool)
    special[:, [0, 1, 9, 10]] = True
    ids = np.full((2, width), 7, dtype=np.int32)
    drawn = random_span_mask(lengths, width, generator(5), density=0.3, mean_span=3.0)
    mask = depth_span_mask(ids, lengths, special, generator(5), density=0.3, mean_span=3.0)
    assert (mask[:, 2:] == (drawn[:, :-2] & ~special[:, 2:])).all()
    assert not mask[special].any()
