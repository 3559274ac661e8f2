"""Whitening (Huang et al. 2021): known answers, where it is fitted, and its rows of an evaluation."""

import numpy as np
import pytest
from pydantic import ValidationError
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.settings import Evaluation, Whitening
from reprlab.sentences.task_scores import cosines, spearman
from reprlab.sentences.texts import EncodedTexts
from reprlab.sentences.whitening import Whitened, fit_on_triples, fit_whitening, scored_on_itself
from reprlab.training.finetuning_encoding import Ragged
from sklearn.covariance import ledoit_wolf
from sklearn.decomposition import PCA


def drawn(n=200, d=6, seed=0):
    """Vectors of unlike variances, which hang together, far from the origin."""
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, d)) * np.geomspace(1, 30, d)) @ rng.normal(size=(d, d)) + 5


def covariance(vectors):
    return np.cov(vectors.T.astype(np.float64), bias=True)


@pytest.mark.parametrize("kept", [None, 6, 9, 3, 1])
def test_the_covariance_of_what_it_is_fitted_on_is_the_identity(kept):
    vectors = drawn().astype(np.float32)
    white = fit_whitening(vectors, kept)
    found = white(vectors)
    k = min(kept or 6, 6)
    assert found.shape == (200, k) and found.dtype == np.float32 and white.size == 6 + 6 * k
    np.testing.assert_allclose(found.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(np.atleast_2d(covariance(found)), np.eye(k), atol=1e-5)


def test_the_directions_of_the_largest_variance_are_kept():
    """As a PCA that whitens, whose covariance is divided by n - 1, and whose directions have signs of their own."""
    vectors, other = drawn(), drawn(seed=1)
    pca = PCA(3, whiten=True, svd_solver="full").fit(vectors)
    expected = pca.transform(other) * np.sqrt(200 / 199)
    np.testing.assert_allclose(abs(fit_whitening(vectors, 3)(other)), abs(expected), rtol=1e-4)
    axes = np.array([[3.0, 0], [-3, 0], [0, 1], [0, -1]])
    np.testing.assert_allclose(abs(fit_whitening(axes, 1)(axes)), [[2**0.5], [2**0.5], [0], [0]], atol=1e-6)


def test_scores_do_not_depend_on_an_invertible_linear_map_of_the_vectors():
    vectors, other = drawn(), drawn(seed=1)
    turned = np.random.default_rng(2).normal(size=(6, 6))
    gold = np.random.default_rng(3).random(100)
    found, plain = [], []
    for change in (np.eye(6), turned, 1e-3 * turned @ turned):
        white = fit_whitening(vectors @ change + change[0], None)
        one, two = (white((part @ change + change[0]).astype(np.float32)) for part in (other[:100], other[100:]))
        found.append(cosines(one, two))
        plain.append(spearman(cosines(other[:100] @ change, other[100:] @ change), gold))
    np.testing.assert_allclose(found, [found[0]] * 3, atol=2e-3)
    assert spearman(found[1], gold) == pytest.approx(spearman(found[0], gold), abs=1e-3)
    assert len({round(one, 4) for one in plain}) == 3, "those of the vectors themselves do"


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_fewer_texts_than_dimensions_shrink_and_nothing_breaks(n):
    vectors = drawn()[:n]
    white = fit_whitening(vectors, None)
    assert np.isfinite(white(drawn(seed=1))).all()
    if n == 2:
        # Two texts are told apart in one direction, to which nothing is added.
        assert np.linalg.matrix_rank(white.matrix) == 1
    if n > 2:
        shrunk, share = ledoit_wolf(vectors - vectors.mean(0), assume_centered=True)
        assert 0 < share <= 1
        np.testing.assert_allclose(covariance_of(white), np.linalg.inv(shrunk), rtol=1e-6)
        assert (white(vectors) != 0).any()


def covariance_of(white):
    return white.matrix @ white.matrix.T


def test_what_does_not_vary_becomes_nothing():
    vectors = drawn()
    vectors[:, 2] = 7
    found = fit_whitening(vectors, None)(vectors)
    np.testing.assert_allclose(covariance(found), np.diag([1, 1, 1, 1, 1, 0]), atol=1e-5)
    for n in (3, 50):
        equal = np.full((n, 6), 3.0)
        assert (fit_whitening(equal, None)(equal + 1) == 0).all()


SETTINGS = {"fit_on": "train", "texts": 9, "dimensions": 2, "seed": 0}


def test_it_is_fitted_on_texts_drawn_from_the_triples(monkeypatch, tmp_path):
    texts = EncodedTexts(Ragged.of([[number] for number in range(30)]), np.zeros(30, dtype=np.int64), 0)
    opened = []
    monkeypatch.setattr(
        "reprlab.sentences.whitening.open_triples",
        lambda folder: opened.append(folder) or type("Triples", (), {"texts": texts}),
    )
    read = []

    def embed(given):
        read.append(given.ids.flat.tolist())
        return drawn(30)[given.ids.flat]

    def fitted(**own):
        return fit_on_triples(Whitening.model_validate({**SETTINGS, **own}), tmp_path, embed)

    first = fitted()
    assert isinstance(first, Whitened) and opened == [tmp_path] and first.matrix.shape == (6, 2)
    assert len(set(read[0])) == 9 and read[0] == sorted(read[0])
    np.testing.assert_array_equal(first.mean, drawn(30)[read[0]].mean(0))
    fitted(seed=1)
    fitted(texts=99)
    assert read[1] != read[0] and len(set(read[1])) == 9 and read[2] == list(range(30))
    assert fitted(fit_on="test") is None and fit_on_triples(None, None, embed) is None and len(read) == 3
    with pytest.raises(ReprlabError, match=r"train needs the tokenised triples \(--fitting\)"):
        fit_on_triples(Whitening.model_validate(SETTINGS), None, embed)


def test_fitted_on_the_task_it_sees_each_text_once_and_scores_what_is_whitened():
    vectors = dict(zip([f"t{number}" for number in range(60)], drawn(60), strict=True))
    vectors |= {f"p: {text}": -vector for text, vector in vectors.items()}
    asked = []

    def encode(texts, instruction):
        asked.extend(new := [instruction + text for text in texts])
        return np.stack([vectors[text] for text in new])

    names = [f"t{number}" for number in range(60)]

    def score(encode):
        one, two = encode([*names[:30], "t0"], "")[:30], encode(names[30:], "p: ")
        encode(names[:2], "")
        return {"value": cosines(one, two).sum()}

    found = scored_on_itself(score, encode, 4)
    assert sorted(asked) == sorted([*names[:30], *(f"p: {name}" for name in names[30:])]), "each is encoded once"
    given = np.stack([*(vectors[name] for name in names[:30]), *(vectors[f"p: {name}"] for name in names[30:])])
    white = fit_whitening(given, 4)
    assert found["value"] == pytest.approx(cosines(white(given[:30]), white(given[30:])).sum())
    assert found["value"] != pytest.approx(score(encode)["value"], abs=0.1)


def test_normalised_vectors_are_not_whitened():
    tasks = [{"name": "sts", "category": "sts"}]
    own = {"tasks": tasks, "seeds": [0], "whitening": SETTINGS}
    with pytest.raises(ValidationError, match="whitening: of vectors as they are"):
        Evaluation.model_validate({**own, "encoder": {"method": "none", "pooling": "mean", "normalised": True}})
    assert Evaluation.model_validate({**own, "encoder": {"method": "none", "pooling": "mean"}}).whitening.texts == 9
