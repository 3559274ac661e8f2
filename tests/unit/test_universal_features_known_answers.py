"""Known answers of section 5 of the specification: merging, the autoencoder's loss, correlation, flow, quantisation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

Known = tuple[str, str, object, object]


def _merging() -> Iterator[Known]:
    """5.3, 5.4: points of the arc."""
    import torch
    from reprlab.models.merging import slerp

    one, two = torch.eye(2, dtype=torch.float64)
    sixty = torch.tensor([0.5, 0.75**0.5], dtype=torch.float64)
    cases = (
        ("orthonormal, t = 1/2", 0.5, one, two, "0.707107 0.707107"),
        ("orthonormal, t = 1/3", 1 / 3, one, two, "0.866025 0.500000"),
        ("orthonormal, t = 0.58", 0.58, one, two, "0.612907 0.790155"),
        ("60 degrees, t = 0.58", 0.58, one, sixty, "0.821149 0.570714"),
        ("e1 and 3 e2, t = 1/2", 0.5, one, 3 * two, "0.707107 2.121320"),
        ("antiparallel, t = 1/2", 0.5, one, -one, "0.000000 0.000000"),
        ("nought and e1, t = 1/2", 0.5, 0 * one, one, "0.707107 0.000000"),
        ("t = 0", 0.0, one, sixty, "1.000000 0.000000"),
        ("t = 1", 1.0, one, sixty, "0.500000 0.866025"),
    )
    for letter, (what, fraction, first, second, expected) in zip("abcdefghi", cases, strict=True):
        found = " ".join(f"{value:.6f}" for value in slerp(fraction, first, second).abs().tolist())
        yield f"5.3{letter}", f"Slerp: {what}", expected, found
    weights = torch.randn(64, 32, generator=torch.Generator().manual_seed(0))
    moved = max(float((slerp(t, weights, weights) - weights).abs().max()) for t in (0.0, 0.3, 0.58, 1.0))
    yield "5.4", "A tensor merged with itself moves by less than 1e-6", True, moved < 1e-6


def _loss() -> Iterator[Known]:
    """5.5 to 5.7: both forms of the loss, an identity dictionary, atoms, the score of reconstructions."""
    import torch
    from reprlab.features.autoencoder import SparseAutoencoder
    from reprlab.features.quality import Quality
    from reprlab.features.settings import AutoencoderShape

    width, features, length, coefficient = 4, 64, 24, 3e-3
    yield (
        "5.5a",
        "Weight of a token's L1 norm over the released coefficient",
        "1.5",
        f"{length * 1024 / 16_384:g}",
    )
    x = torch.randn(8, length, width, generator=torch.Generator().manual_seed(1))
    flat = x.flatten(0, 1)
    coder = SparseAutoencoder(width, AutoencoderShape(features=features, l1=coefficient * length * width / features))
    with torch.no_grad():
        coder.centre.copy_(flat.mean(0))
        hidden = coder.encode(flat).view(8, length, features)
        error = (coder.decode(hidden) - x).square() / (x - flat.mean(0)).norm(dim=-1, keepdim=True)
        released = error.mean() + coefficient * hidden.norm(p=1, dim=1).mean()
        ratio = float(coder.loss(flat)[0] / released)
    yield "5.5b", "Our loss over the released one is the width", width, f"{ratio:.5g}"
    same = SparseAutoencoder(width, AutoencoderShape(features=width, l1=0.5))
    with torch.no_grad():
        same.encoder.copy_(torch.eye(width))
        same.decoder.copy_(torch.eye(width))
        positive = flat.abs()
        expected = f"{0.5 * float(positive.sum(1).mean()):.5f}"
        yield (
            "5.6a",
            "Loss of an identity dictionary: l1 times the L1 norm",
            expected,
            f"{float(same.loss(positive)[0]):.5f}",
        )
    coder.loss(flat)[0].backward()
    along = float((coder.decoder.grad * coder.decoder.detach()).sum(0).abs().max())  # type: ignore[operator]
    yield "5.6b", "Gradients of atoms are orthogonal to them (1e-6)", True, along < 1e-6
    with torch.no_grad():
        coder.decoder.mul_(3)
        coder.constrain()
        norms = float((coder.decoder.norm(dim=0) - 1).abs().max())
    yield "5.6c", "Atoms have unit norm after an update (1e-5)", True, norms < 1e-5
    for letter, lost, known in (("a", 3.0, 1), ("b", 5.0, 0)):
        row = {"clean": 3.0, "zeroed": 5.0, "reconstructed": lost}
        score = Quality([row], np.zeros(1), 1).recovered()
        what = "nothing is lost" if known else "it is nought"
        yield f"5.7{letter}", f"Score of a reconstruction where {what}", known, f"{score:g}"


def _correlation() -> Iterator[Known]:
    """5.8 to 5.10: correlation, flow identities, planted features."""
    import scipy.sparse
    from reprlab.features.correlation import correlate
    from reprlab.features.flow import edge_counts
    from reprlab.features.settings import CorrelationSettings
    from reprlab.features.sparse import SparseFeatures

    random = np.random.default_rng(0)

    def drawn(columns: int) -> np.ndarray:
        return random.random((2000, columns)) * (random.random((2000, columns)) < 0.1)

    def features(values: np.ndarray) -> SparseFeatures:
        return SparseFeatures(scipy.sparse.csr_array(values), "audit")

    asked = CorrelationSettings(least_positions=10, floor=-1, block=7)
    one, two = drawn(20), drawn(20)
    two[:, :8] = 2 * one[:, 12:]
    found = correlate(features(one), features(two), asked)
    dense = np.corrcoef(one.T, two.T)[:20, 20:]
    ours = np.full((20, 20), np.nan)
    ours[found.parents, found.children] = found.r
    yield "5.8a", "Blockwise and sparse equals numpy to 1e-6", True, bool(np.abs(ours - dense).max() < 1e-6)
    chance = correlate(features(one), features(one), asked.model_copy(update={"shuffle_seed": 1}))
    yield "5.8b", "Permuted positions stay below 0.2", True, bool(chance.best_child_r.max() < 0.2)
    constant = drawn(3)
    constant[:, 0] = 0.1
    pairs = correlate(features(constant), features(constant), asked).parents
    yield "5.8c", "A constant feature has no pair", True, bool(not (pairs == 0).any())
    counts = [edge_counts(found, threshold, match) for threshold in (0.2, 0.5, 0.8) for match in ("many", "mutual")]
    sides = (("persisting", "disappeared", "parent_alive"), ("matched", "emerged", "child_alive"))
    sums = all(row[one] + row[two] == row[total] for row in counts for one, two, total in sides)
    yield "5.9a", "Persisting and disappeared are the alive, matched and emerged too", True, sums
    order = random.permutation(20)
    permuted = edge_counts(correlate(features(one), features(one[:, order]), asked), 0.8, "mutual")
    yield (
        "5.9b",
        "Share of a dictionary that persists in its own permutation, %",
        100,
        f"{permuted['share_parent']:g}",
    )
    planted = edge_counts(found, 0.8, "many")["share_parent"]
    yield (
        "5.10",
        "Share that persists of 20 features of which 8 are shared, %",
        40,
        f"{planted:g}",
    )


def _sizes() -> Iterator[Known]:
    """5.2: parameters by formula and of the module."""
    from reprlab.features.autoencoder import SparseAutoencoder, parameter_count
    from reprlab.features.settings import AutoencoderShape

    coder = SparseAutoencoder(1024, AutoencoderShape(features=16_384, l1=0))
    yield "5.2a", "Parameters of an autoencoder, by formula", 33_571_840, parameter_count(1024, 16_384)
    yield "5.2b", "The same of the module", 33_571_840, sum(parameter.numel() for parameter in coder.parameters())


def _quantisation() -> Iterator[Known]:
    """5.13: levels of activations."""
    from reprlab.features.interpretation import quantised

    ends = np.array([2.0, 12.0])
    for letter, clip, expected in (("a", True, "0 9"), ("b", False, "0 10")):
        found = " ".join(map(str, quantised(ends, 2, 12, clip=clip).tolist()))
        what = "clipped" if clip else "as released"
        yield f"5.13{letter}", f"Levels of the least and greatest activation, {what}", expected, found


@pytest.mark.parametrize("answers", [_sizes, _merging, _loss, _correlation, _quantisation])
def test_known_answers(answers):
    wrong = [(item, what, found) for item, what, expected, found in answers() if str(expected) != str(found)]
    assert wrong == []
