import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.features import correlation
from reprlab.features.correlation import NONE, Correlations, correlate
from reprlab.features.flow import (
    MATCHES,
    edge_counts,
    kept_parents,
    matched_children,
    merged_sources,
    universal_features,
)
from reprlab.features.settings import CorrelationSettings
from reprlab.features.sparse import SparseFeatures
from reprlab.runtime.errors import ReprlabError


def features(values, sample="s"):
    return SparseFeatures(scipy.sparse.csr_array(np.asarray(values, dtype=np.float32)), sample)


def sparse_values(seed, positions=400, count=12, share=0.2):
    random = np.random.default_rng(seed)
    return random.random((positions, count)) * (random.random((positions, count)) < share)


def asked(**changes):
    return CorrelationSettings(**{"least_positions": 3, "floor": 0.5, "block": 5, **changes})


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 40), st.sampled_from([0.1, 0.2, 0.9]))
def test_blocks_of_sparse_and_full_products_equal_numpy(seed, block, share):
    one, two = (sparse_values(seed + part, share=share).astype(np.float32) for part in (0, 50_000))
    two[:, 0] = one[:, 3]
    dense = np.corrcoef(one.T.astype(float), two.T.astype(float))[:12, 12:]
    found = correlate(features(one), features(two), asked(block=block, floor=-1))
    ours = np.full((12, 12), np.nan)
    ours[found.parents, found.children] = found.r
    assert np.allclose(ours, dense, atol=1e-6)
    assert np.array_equal(found.best_child, dense.argmax(1)) and np.allclose(
        found.best_child_r, dense.max(1), atol=1e-6
    )
    assert np.array_equal(found.best_parent, dense.argmax(0)) and np.allclose(
        found.best_parent_r, dense.max(0), atol=1e-6
    )
    # Symmetric: the other way round the same numbers.
    other = correlate(features(two), features(one), asked(block=block, floor=-1))
    assert np.array_equal(other.best_child, found.best_parent)


def test_scaled_copies_correlate_fully_and_permuted_ones_hardly():
    one = sparse_values(1)
    found = correlate(features(one), features(2.5 * one), asked())
    assert np.allclose(found.best_child_r, 1) and np.array_equal(found.best_child, np.arange(12))
    shifted = correlate(features(one), features(0.5 * one + 3), asked())
    assert np.allclose(shifted.best_child_r, 1, atol=1e-6)
    by_chance = correlate(features(one), features(one), asked(shuffle_seed=0))
    assert by_chance.best_child_r.max() < 0.3


def test_rare_and_constant_features_have_no_pair():
    values = sparse_values(2)
    values[:, 0] = 0
    values[:, 1] = 0
    values[:3, 1] = 5
    values[:, 2] = 0.1
    found = correlate(features(values), features(values), asked(floor=-1))
    assert list(found.parent_alive[:4]) == [False, False, True, True]
    assert (found.best_child[:3] == NONE).all() and np.isnan(found.best_child_r[:3]).all()
    assert np.isfinite(found.r).all() and not np.isin(found.parents, [0, 1, 2]).any()
    assert list(found.parent_positions[:2]) == [0, 3]


def test_other_samples_are_refused():
    with pytest.raises(ReprlabError, match="cannot be compared"):
        correlate(features(sparse_values(0)), features(sparse_values(0), "other"), asked())


def test_positions_can_be_left_out():
    one, two = sparse_values(3), sparse_values(4)
    one[:40, 0] = two[:40, 0] = 50
    counted = np.arange(400) >= 40
    everything = correlate(features(one), features(two), asked())
    rest = correlate(features(one), features(two), asked(floor=-1), counted)
    assert everything.best_child_r[0] > 0.9 > 0.3 > rest.best_child_r[0]
    assert rest.parent_positions[0] == np.count_nonzero(one[40:, 0])


def chance(seed, one=15, two=13):
    first = sparse_values(seed, count=one)
    second = sparse_values(seed + 1, count=two)
    second[:, :6] = first[:, :6] + 0.4 * second[:, :6]
    return correlate(features(first), features(second), asked(floor=0.1))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000))
def test_flow_identities(seed):
    found, before = chance(seed), {}
    for threshold in (0.1, 0.3, 0.5, 0.7, 0.8, 0.95):
        for match in MATCHES:
            counts = edge_counts(found, threshold, match)
            assert counts["persisting"] + counts["disappeared"] == counts["parent_alive"]
            assert counts["matched"] + counts["emerged"] == counts["child_alive"]
            assert counts["persisting"] <= before.get(match, np.inf)
            before[match] = counts["persisting"]
        assert (
            edge_counts(found, threshold, "mutual")["persisting"] <= edge_counts(found, threshold, "many")["persisting"]
        )
        assert (
            edge_counts(found, threshold, "mutual")["matched"] == edge_counts(found, threshold, "mutual")["persisting"]
        )


def test_a_permuted_dictionary_persists_entirely_by_the_known_permutation():
    values = sparse_values(5, count=20)
    order = np.random.default_rng(0).permutation(20)
    found = correlate(features(values), features(values[:, order]), asked())
    assert np.array_equal(order[found.best_child], np.arange(20))
    for match in MATCHES:
        assert edge_counts(found, 0.999, match)["share_parent"] == 100


def test_shared_planted_features_persist_and_no_others():
    """Spec 5.10: of K = 20 features exactly 8 are shared."""
    one, two = sparse_values(6, 2000, 20), sparse_values(7, 2000, 20)
    two[:, 12:] = 3 * one[:, :8]
    counts = edge_counts(correlate(features(one), features(two), asked()), 0.8, "many")
    assert counts["share_parent"] == counts["share_child"] == 40


def test_many_to_one_is_counted_apart_from_one_to_one():
    one = sparse_values(8, count=3)
    one[:, 1] = one[:, 0]
    found = correlate(features(one), features(one[:, [0, 2]]), asked())
    assert list(kept_parents(found, 0.8, "many")) == [True, True, True]
    assert kept_parents(found, 0.8, "mutual").sum() == 2 and matched_children(found, 0.8, "mutual").all()


def lineage():
    base = sparse_values(9, 3000, 6)
    other = sparse_values(10, 3000, 6)
    lua, stories = other.copy(), sparse_values(11, 3000, 6)
    lua[:, 0], lua[:, 1] = base[:, 0], base[:, 1]
    stories[:, 4], stories[:, 5] = base[:, 0], base[:, 2]
    merged = sparse_values(12, 3000, 5)
    merged[:, 3] = base[:, 0]
    merged[:, 2] = base[:, 1]
    merged[:, 1] = stories[:, 3]
    models = {name: features(values) for name, values in {"base": base, "lua": lua, "stories": stories}.items()}
    last = features(merged)
    children = {name: correlate(models["base"], models[name], asked()) for name in ("lua", "stories")}
    return children, {name: correlate(models[name], last, asked()) for name in ("lua", "stories")}


@pytest.mark.parametrize("match", MATCHES)
def test_universal_features_come_through_both_children(match):
    children, merged = lineage()
    assert universal_features(children, merged, 0.8, match).tolist() == [[0, 3]]
    assert merged_sources(list(merged.values()), 0.8, match) == {"first": 1, "second": 1, "both": 1, "emerged": 2}
    # A feature persists from the threshold on, and not only above it.
    least = min(float(one.best_child_r.max()) for one in (*children.values(), *merged.values()))
    assert least == pytest.approx(1) and universal_features(children, merged, least, match).tolist() == [[0, 3]]


def test_correlations_are_restored_from_arrays():
    found = chance(3)
    again = Correlations.of_arrays(found.arrays())
    assert edge_counts(again, 0.5, "many") == edge_counts(found, 0.5, "many") and again.least_positions == 3


def test_full_features_are_multiplied_in_parts(monkeypatch):
    monkeypatch.setattr(correlation, "_ROWS", 64)
    one, two = np.random.default_rng(0).normal(size=(2, 400, 6))
    found = correlate(features(one), features(two), asked(block=4, floor=-1))
    expected = np.corrcoef(one.T, two.T)[:6, 6:]
    assert np.allclose(found.best_child_r, expected.max(axis=1), atol=1e-6)
