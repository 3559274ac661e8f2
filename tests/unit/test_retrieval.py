"""Exact search, its ceiling, pooling and the training of bi-encoders."""

import itertools
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from finetune_fixtures import make_bert, make_tokenizer
from hypothesis import given
from hypothesis import strategies as st
from reprlab.models.build import load_model
from reprlab.models.pooling import pool
from reprlab.models.span_pairs import pair_head, pool_spans, span_pair_classifier
from reprlab.retrieval import pair_training
from reprlab.retrieval import search as exact_search
from reprlab.retrieval.bi_encoder import add_tokens, embed, encode_texts
from reprlab.retrieval.pair_training import (
    EncodedTexts,
    PairBatches,
    PairSet,
    sampled_pairs,
    scoring_model,
    text_vectors,
    train_bi_encoder,
)
from reprlab.retrieval.search import kept_pairs, most_pairs_kept, rank_by_score, rank_partners, search
from reprlab.retrieval.settings import BiEncoderTraining
from reprlab.runtime.errors import ReprlabError
from reprlab.text.model_tokenizers import load_tokenizer
from reprlab.training.settings import EngineSettings, OptimizerSettings

TEXTS = ["good film", "bad film", "the very good film was good", "a b", "c d e"]


def relations(seed: int, size: int, share: float) -> np.ndarray:
    drawn = np.triu(np.random.default_rng(seed).random((size, size)) < share, 1)
    return drawn | drawn.T


PARTS = ([[0, 1, 2, 3]], [[2, 0], [3, 1]])


def test_scores_are_symmetric_and_equal_ones_are_ranked_by_place() -> None:
    vectors = np.random.default_rng(0).normal(size=(9, 4)).astype(np.float32)
    ranked, scores = rank_partners(vectors)
    assert (scores == scores.T).all() and ranked.shape == (9, 8)
    assert all(place not in row for place, row in enumerate(ranked))
    nothing, _ = rank_partners(np.zeros((4, 3), dtype=np.float32))
    assert nothing.tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    assert rank_partners(np.ones((1, 3), dtype=np.float32))[0].shape == (1, 0)


def test_as_many_partners_as_there_are_keep_every_pair() -> None:
    ranked, _ = rank_partners(np.random.default_rng(1).normal(size=(6, 3)))
    assert kept_pairs(ranked, 5).sum() == kept_pairs(ranked, 50).sum() == 6 * 5
    counts = [int(np.triu(kept_pairs(ranked, k)).sum()) for k in range(1, 6)]
    assert counts == sorted(counts)


@given(st.integers(0, 10_000), st.integers(2, 12), st.integers(1, 4))
def test_no_retrieval_beats_the_ceiling(seed: int, size: int, k: int) -> None:
    related = relations(seed, size, 0.5)
    ranked, _ = rank_partners(np.random.default_rng(seed).normal(size=(size, 3)))
    ceiling = most_pairs_kept(related, k)
    assert int(np.triu(kept_pairs(ranked, k) & related).sum()) <= ceiling <= int(np.triu(related).sum())
    # Nodes of degree at most k keep all their pairs.
    assert (related.sum(1) > k).any() or ceiling == np.triu(related).sum()


def test_the_ceiling_is_reached_by_some_retrieval() -> None:
    # Four in a ring and both diagonals: six pairs, four of which four ends keep with one partner each.
    assert most_pairs_kept(~np.eye(4, dtype=bool), 1) == 4 and most_pairs_kept(~np.eye(4, dtype=bool), 2) == 6


@given(st.integers(2, 5).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, 2 ** (n * (n - 1) // 2) - 1))))
def test_the_ceiling_is_the_best_way_to_give_each_pair_to_an_end(graph: tuple[int, int]) -> None:
    size, chosen = graph
    edges = [edge for bit, edge in enumerate(itertools.combinations(range(size), 2)) if chosen >> bit & 1]
    related = np.zeros((size, size), dtype=bool)
    for first, second in edges:
        related[first, second] = related[second, first] = True
    given = [[owners.count(end) for end in range(size)] for owners in itertools.product(*edges)]
    for k in (1, 2, 3):
        assert most_pairs_kept(related, k) == max(sum(min(k, count) for count in counts) for counts in given)


@pytest.mark.parametrize("k", [1, 3, 11, 40])
@pytest.mark.parametrize("block", [1, 4, 11, 100])
def test_search_in_blocks_is_search(k: int, block: int, monkeypatch) -> None:
    """Small whole numbers, whose products are exact: most scores tie, also 0 and -0, and stand by the lower number."""
    monkeypatch.setattr(exact_search, "_SCORES", 2 * block)
    monkeypatch.setattr(exact_search, "PASSAGES_AT_ONCE", block)
    rng = np.random.default_rng(k)
    queries, passages = (rng.integers(-2, 3, (rows, 5)).astype(np.float32) for rows in (7, 11))
    queries[3] = -0.0
    found, scores = search(queries, passages, k)
    products = queries @ passages.T
    expected = np.argsort(-products, axis=1, kind="stable")[:, :k]
    assert (found == expected).all()
    assert (scores == np.take_along_axis(products, expected, axis=1)).all() and scores.dtype == np.float32


def test_search_holds_a_block_of_passages(monkeypatch) -> None:
    """Blocks come from a generator and go before the next one is asked for; scores keep their bits and signs."""
    import weakref

    monkeypatch.setattr(exact_search, "_SCORES", 64)
    rng = np.random.default_rng(0)
    whole, held = rng.normal(size=(50, 4)).astype(np.float32), []

    def blocks():
        for start in range(0, 50, 7):
            block = np.array(whole[start : start + 7])
            held.append(weakref.ref(block))
            yield block
            del block
            assert not any(one() is not None for one in held)

    queries = rng.normal(size=(9, 4)).astype(np.float32)
    found, scores = exact_search.search_blocks(queries, blocks(), 5)
    products = queries @ whole.T
    assert (found == np.argsort(-products, axis=1, kind="stable")[:, :5]).all()
    np.testing.assert_allclose(scores, -np.sort(-products, axis=1)[:, :5], rtol=1e-6)
    nothing, none = exact_search.search_blocks(queries, iter(()), 5)
    assert nothing.shape == none.shape == (9, 0) and search(queries[:0], whole, 3)[0].shape == (0, 3)


@pytest.mark.parametrize("k", [1, 7, 100, 300])
def test_the_best_of_many_are_the_first_of_all_in_order(k: int) -> None:
    """Ties, with the k-th too, and rows without candidates."""
    scores = np.random.default_rng(0).integers(0, 40, (20, 1500)).astype(np.float32)
    scores[0], scores[1] = 0, -np.inf
    scores[1, 5] = 3
    assert (rank_by_score(scores, k) == np.argsort(-scores, axis=1, kind="stable")[:, :k]).all()


def test_pooling_leaves_padding_out() -> None:
    states = torch.arange(12.0).view(2, 3, 2)
    mask = torch.tensor([[1, 1, 0], [1, 1, 1]])
    assert pool(states, mask, "first").tolist() == [[0, 1], [6, 7]]
    assert pool(states, mask, "mean").tolist() == [[1, 2], [8, 9]]


def test_spans_are_means_of_their_own_tokens() -> None:
    states = torch.arange(10.0).view(5, 2)
    found = pool_spans(states, torch.tensor([0, 2, 4]), torch.tensor([1, 0, 1]), 3)
    assert found.tolist() == [[4, 5], [4, 5], [0, 0]]


def test_the_head_has_the_size_of_the_specification() -> None:
    with torch.device("meta"):
        assert sum(p.numel() for p in pair_head(1024, 3, 0.1).parameters()) == 2_101_251


@pytest.mark.parametrize("features", ["concatenated", "compared"])
def test_the_head_reads_the_first_span_before_the_second(features) -> None:
    torch.manual_seed(0)
    model = span_pair_classifier(SimpleNamespace(config=SimpleNamespace(hidden_size=4)), 3, 0.1, features=features)
    model.eval()
    vectors = torch.randn(5, 4)
    pairs = torch.tensor([[0, 1], [1, 0], [4, 2]])
    with torch.no_grad():
        found = model.scores(vectors, pairs)
        for (first, second), scores in zip(pairs.tolist(), found, strict=True):
            head, tail = vectors[first], vectors[second]
            more = [head * tail, (head - tail).abs()] if features == "compared" else []
            torch.testing.assert_close(scores, model.head(torch.cat([head, tail, *more])))
    assert (found[0] - found[1]).abs().max() > 1e-3, "the other order is another pair"


@pytest.fixture()
def encoder_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "encoder"
    make_bert(folder, make_tokenizer(folder))
    return folder


def test_vectors_do_not_depend_on_the_batch(encoder_folder: Path) -> None:
    model, tokenizer = load_model(encoder_folder), load_tokenizer(encoder_folder)
    add_tokens(tokenizer, model, ["<m>"], seed=3)
    ids = encode_texts(tokenizer, TEXTS, 16)
    alone, together = (embed(model, ids, tokenizer.pad_token_id, "mean", batch_size=size) for size in (1, 5))
    np.testing.assert_allclose(alone, together, atol=1e-6)
    assert (
        len(model.get_input_embeddings().weight) >= len(tokenizer)
        and tokenizer("<m>")["input_ids"][0] == len(tokenizer) - 1
    )


def settings(**changes: object) -> BiEncoderTraining:
    engine = EngineSettings(steps=1, batch_size=2, optimizer=OptimizerSettings(learning_rate=1e-2), log_every=1)
    return BiEncoderTraining.model_validate(
        {"engine": engine, "epochs": 10, "head_learning_rate": 1e-2, "negatives": 1, **changes}
    )


def test_the_score_is_the_scaled_dot_product_with_the_odds_of_the_training_pairs(tmp_path, monkeypatch) -> None:
    """a (r_h . r_t) / sqrt(d) + b; a is 1 and b the log odds at first, both are learnt at the rate of the head."""
    vectors = torch.tensor([[1.0, 2.0, 0.0, 4.0], [3.0, 0.0, 7.0, 1.0], [-1.0, 1.0, 2.0, 0.5]], requires_grad=True)
    batch = {"pairs": torch.tensor([[0, 1, 1], [2, 1, 0]])}
    model = scoring_model(lambda batch: vectors, 5, 30.0)
    # Products 7 and 11.5, four numbers each, one related pair in six.
    assert model(batch).tolist() == pytest.approx([7 / 2 - math.log(5), 11.5 / 2 - math.log(5)], abs=1e-6)
    learnt = dict(model.named_parameters())
    assert set(learnt) == {"scale", "offset"} and {one.rate_factor for one in learnt.values()} == {30.0}
    model(batch).sum().backward()
    assert (learnt["scale"].grad, learnt["offset"].grad) == (pytest.approx(9.25), 2)
    with torch.no_grad():
        model.scale.fill_(0.5)
        model.offset.fill_(3.0)
    assert model(batch).tolist() == pytest.approx([7 / 4 + 3, 11.5 / 4 + 3], abs=1e-6)
    # The settings reach it: a rate of the head 20 times that of the encoder, one related pair in four.
    trained = []
    monkeypatch.setattr(pair_training, "train_passes", lambda model, *_, **__: trained.append(model))
    sets, texts = [PairSet(np.arange(2), relations(0, 2, 0.5))], EncodedTexts(encode_texts(None, [], 8), 0)
    train_bi_encoder(
        lambda batch: vectors, sets, texts,
        settings(head_learning_rate=0.2, negatives=3), work=tmp_path, save_every=1, fingerprint="x", device="cpu",
    )  # fmt: skip
    (model,) = trained
    assert model.offset.item() == pytest.approx(-math.log(3)) and model.scale.rate_factor == pytest.approx(20)


def test_sampled_pairs_keep_every_positive_and_so_many_negatives() -> None:
    related = relations(0, 10, 0.15)
    pairs = sampled_pairs(related, 2, np.random.default_rng(0))
    positives = int(np.triu(related).sum())
    assert int(pairs[:, 2].sum()) == positives and len(pairs) == 3 * positives
    assert (related[pairs[:, 0], pairs[:, 1]] == pairs[:, 2]).all() and (pairs[:, 0] < pairs[:, 1]).all()
    assert len(sampled_pairs(np.zeros((4, 4), dtype=bool), 2, np.random.default_rng(0))) == 2


def test_training_brings_related_texts_together(encoder_folder: Path, tmp_path: Path) -> None:
    model, tokenizer = load_model(encoder_folder), load_tokenizer(encoder_folder)
    ids = encode_texts(tokenizer, TEXTS, 16)
    related = np.zeros((3, 3), dtype=bool)
    related[0, 1] = related[1, 0] = True
    sets = [
        PairSet(np.array([0, 1, 3]), related),
        PairSet(np.array([2, 0, 4]), related),
        PairSet(np.array([4]), related[:1, :1]),
    ]
    run = train_bi_encoder(
        text_vectors(model, "mean"), sets, EncodedTexts(ids, 0), settings(),
        work=tmp_path / "work", save_every=100, fingerprint="x", device="cpu",
    )  # fmt: skip
    assert run.step == 10 and run.metrics[-1]["loss"] < 0.7 * run.metrics[0]["loss"]
    vectors = embed(model, ids, 0, "mean")
    scores = vectors @ vectors.T
    assert scores[0, 1] > scores[0, 3] and scores[0, 1] > scores[1, 3]


def test_cutting_a_batch_into_parts_keeps_its_pairs(encoder_folder: Path) -> None:
    ids = encode_texts(load_tokenizer(encoder_folder), TEXTS, 16)
    sets = [PairSet(np.array([n, n + 1]), relations(n, 2, 0.5)) for n in range(4)]
    batches = PairBatches(sets, EncodedTexts(ids, 0), settings())
    whole, cut = (
        sorted(label for part in parts for label in batches(np.array(part), 3)["pairs"][:, 2].tolist())
        for parts in PARTS
    )
    assert whole == cut


def test_a_scale_that_ranks_backwards_is_refused(encoder_folder: Path, tmp_path: Path) -> None:
    ids = encode_texts(load_tokenizer(encoder_folder), TEXTS, 16)
    # Everything unrelated but with high products: a large rate drives the scale below zero.
    sets = [PairSet(np.arange(3), np.zeros((3, 3), dtype=bool))]
    with pytest.raises(ReprlabError, match="scale is -"):
        train_bi_encoder(
            text_vectors(load_model(encoder_folder), "mean"), sets, EncodedTexts(ids, 0),
            settings(head_learning_rate=1.0, epochs=40), work=tmp_path, save_every=100, fingerprint="x", device="cpu",
        )  # fmt: skip
