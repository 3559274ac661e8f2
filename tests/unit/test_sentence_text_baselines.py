"""Vectors of texts that no model made: known answers, invariants."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reprlab.baselines.vectors import character_ngrams, random_vectors
from reprlab.sentences.task_scores import cosines
from sklearn.feature_extraction.text import TfidfVectorizer

TEXTS = ["the cat sat on the mat", "a cat sat on a mat", "stock prices fell sharply", "prices of stocks fell", ""]


def test_cosines_are_those_of_scikit_learn_up_to_the_noise_of_the_sketch():
    vectors = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True, lowercase=True).fit(TEXTS)
    exact = (vectors.transform(TEXTS) @ vectors.transform(TEXTS).T).toarray()
    errors = []
    for seed in range(8):
        ours = character_ngrams(TEXTS, seed)(TEXTS, "")
        errors.append(ours @ ours.T - exact)
    errors = np.array(errors)
    # Five standard deviations of a sketch of this width; without a bias over seeds.
    assert np.abs(errors).max() < 5 * np.sqrt(2 / 4096)
    assert np.abs(errors.mean(0)).max() < 5 * np.sqrt(2 / 4096 / 8)


@pytest.mark.parametrize("made", [lambda texts: character_ngrams(texts, 1), lambda _: random_vectors(8, 1)])
@given(st.lists(st.text(max_size=30), min_size=1, max_size=5))
def test_a_vector_is_of_its_text_alone(made, texts):
    encode = made([*TEXTS])
    together = encode(texts, "")
    assert together.dtype == np.float32 and np.isfinite(together).all()
    np.testing.assert_array_equal(together[-1], encode(texts[-1:], "an instruction")[0])


def test_shared_words_are_found_and_random_vectors_find_none():
    lexical, random = character_ngrams(TEXTS, 0)(TEXTS, ""), random_vectors(64, 0)(TEXTS, "")
    assert cosines(lexical[:1], lexical[1:2])[0] > 0.5 > 0.2 > cosines(lexical[:1], lexical[2:3])[0]
    assert abs(cosines(random[:1], random[1:2])[0]) < 0.5
