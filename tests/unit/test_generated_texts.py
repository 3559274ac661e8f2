"""BLEU, ROUGE-L and BERTScore of texts against known answers and the libraries that define them."""

import numpy as np
import pytest
import torch
from finetune_fixtures import make_bert, make_tokenizer
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import corpus_bleu
from reprlab.evaluation.generated_texts import bert_score, bleu, bleu_counts, rouge_l, score_rows
from reprlab.models.build import load_model, save_model

TEXT, OTHER = "the cat sat on the mat and looked at the moon", "the cat sat on a mat and looked at a moon"
WORDS = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=12).map(" ".join)


def test_the_known_sentence():
    sums = bleu_counts([TEXT], [OTHER]).sum(0)
    assert float(bleu(sums, 1)) == pytest.approx(81.82, abs=0.005) and float(bleu(sums, 4)) == pytest.approx(
        48.33, abs=0.005
    )
    assert 100 * rouge_l([TEXT], [OTHER])[0] == pytest.approx([81.82] * 3, abs=0.005)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5))
@pytest.mark.filterwarnings("ignore")
def test_bleu_is_that_of_nltk(pairs):
    gold, written = zip(*pairs, strict=True)
    sums = bleu_counts(gold, written).sum(0)
    for orders in (1, 4):
        if all(sums[2 * order] for order in range(orders)):
            weights = (1 / orders,) * orders
            known = corpus_bleu([[one.split()] for one in gold], [one.split() for one in written], weights)
            assert float(bleu(sums, orders)) == pytest.approx(100 * known)
        else:
            assert float(bleu(sums, orders)) == 0


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder")
    return make_bert(folder / "model", make_tokenizer(folder / "tokenizer"))


def test_empty_texts_count_nothing_and_equal_texts_are_fully_alike(encoder):
    found = bert_score(["a b c", "a b c", "a b c"], ["", "a b c", "very first"], encoder, 64)
    assert found[0].tolist() == [0, 0, 0] and found[1] == pytest.approx([1, 1, 1], abs=1e-5)
    assert (found[2] < 1).all() and (found[2] > 0).all()
    assert not rouge_l([TEXT], [""]).any() and float(bleu(bleu_counts([TEXT], [""]).sum(0), 1)) == 0


def test_precision_and_recall_change_places_with_the_texts(encoder):
    one, two = bert_score(["a b c"], ["a d"], encoder, 64)[0], bert_score(["a d"], ["a b c"], encoder, 64)[0]
    assert one[[0, 1, 2]] == pytest.approx(two[[1, 0, 2]], abs=1e-6)


def test_words_in_another_order_have_a_short_common_subsequence():
    """Of ROUGE-1 both would be 1."""
    assert rouge_l(["a b c d"], ["d c b a"])[0] == pytest.approx([1 / 4] * 3)
    assert rouge_l(["a b c d"], ["a d"])[0] == pytest.approx([1, 1 / 2, 2 / 3]), "precision, recall, F1"
    assert not rouge_l(["the dog runs"], ["dogs running"]).any(), "of words as they are written"


def test_texts_at_right_angles_are_not_alike(monkeypatch):
    """Matched greedily: of two written tokens one is the first of three in the reference."""
    one, two, three = np.eye(3)
    states = [np.stack([one, two, three]), np.stack([one]), np.stack([one, -two]), np.stack([three])]
    monkeypatch.setattr("reprlab.evaluation.generated_texts._states", lambda *_: states)
    found = bert_score(["", ""], ["", ""], None, 64)
    assert found.tolist() == [pytest.approx([1 / 2, 1 / 3, 2 / 5]), [0, 0, 0]]


def test_precision_is_of_what_is_written_and_recall_of_the_reference(encoder, tmp_path):
    """An encoder that knows words and no places: a text of two of the four words is all right, and not all of it."""
    model = load_model(encoder)
    with torch.no_grad():
        model.embeddings.position_embeddings.weight.zero_()
        for layer in model.encoder.layer:
            for part in (layer.attention.output.dense, layer.output.dense):
                part.weight.zero_()
                part.bias.zero_()
    save_model(model, tmp_path / "model")
    make_tokenizer(tmp_path / "model")
    precision, recall, f1 = bert_score(["a b c d"], ["a d"], tmp_path / "model", 64)[0]
    assert precision == pytest.approx(1, abs=1e-6) and recall < 0.98
    assert f1 == pytest.approx(2 * recall / (1 + recall), abs=1e-6)
    assert bert_score(["a b c d"], ["a d d d"], tmp_path / "model", 64)[0] == pytest.approx([1, recall, f1], abs=1e-6)
    rows = score_rows(["a b c d"] * 2, ["a d"] * 2, tmp_path / "model", 64, resamples=5, seed=0)
    named = {row["metric"]: row["value"] for row in rows}
    assert named["bert_p"] == pytest.approx(100) and named["bert_r"] == pytest.approx(100 * recall)
    assert (named["rouge_p"], named["rouge_r"]) == pytest.approx((100, 50))


def test_rows_have_every_measure_with_its_interval(encoder):
    rows = score_rows([TEXT, OTHER, "a b c d"], [OTHER, TEXT, "a b c e"], encoder, 64, resamples=50, seed=0)
    assert [row["metric"] for row in rows] == [
        "bleu1", "bleu4", "rouge_p", "rouge_r", "rouge_f1", "bert_p", "bert_r", "bert_f1",
    ]  # fmt: skip
    assert all(row["n"] == 3 and np.isfinite(row["value"]) for row in rows)
