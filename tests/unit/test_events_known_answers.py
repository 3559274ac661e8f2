"""Events where the answer is known: draws, orders, losses by hand, and which documents are read for what."""

from pathlib import Path

import numpy as np
import pytest
import torch
from event_samples import document, write_documents
from finetune_fixtures import make_bert, make_t5, make_tokenizer
from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.data.event_rows import NO_CHAIN
from reprlab.events import classification
from reprlab.events.classification import held_out_f1, open_classifier, predict_labels
from reprlab.events.documents import load_events
from reprlab.events.draws import draws_of
from reprlab.events.pairs import (
    inference_pairs,
    pair_weights,
    read_candidates,
    training_pairs,
    write_candidates,
)
from reprlab.events.rankings import mention_vectors, rank_at_random, rank_by_chain, rank_by_distance
from reprlab.events.settings import PairClassification, Retrieval
from reprlab.events.timing import joined_document
from reprlab.models.build import load_model
from reprlab.stages.classify_pairs import classify_pairs
from reprlab.stages.train_pair_classifier import train_pair_classifier
from reprlab.text.model_tokenizers import load_tokenizer
from reprlab.training.engine import build_optimizer
from reprlab.training.settings import EngineSettings, OptimizerSettings


def task(kind: str = "discriminative", seed: int = 0, **more) -> PairClassification:
    engine = EngineSettings(
        steps=1, batch_size=2, seed=seed, optimizer=OptimizerSettings(learning_rate=5e-3), log_every=1
    )
    return PairClassification.model_validate(
        {"events": {}, "kind": kind, "labels": ["CAUSE", "ENTAILS"], "k": 2, "engine": engine, "epochs": 3,
         "max_length": 48, "seeds": [seed], "relation_weight": 3.0, **more}
    )  # fmt: skip


def test_draws_are_those_of_seed_document_and_purpose() -> None:
    found = [draws_of(*key).random() for key in ((0, "a"), (0, "a"), (1, "a"), (0, "b"), (0, "a", "x"))]
    assert found[0] == found[1] and len(set(found)) == 4


def test_orders_by_chain_and_distance() -> None:
    one = document(size=6)
    assert one.chains == (0, NO_CHAIN, 0, NO_CHAIN, NO_CHAIN, NO_CHAIN)
    ranked = rank_by_chain([one], 0)[one.name].ranked
    assert all(set(ranked[row, :2]) == {0, 2} for row in (1, 3, 4, 5)) and ranked[0, 0] == 2 and ranked[2, 0] == 0
    near = rank_by_distance([one])[one.name]
    assert near.ranked[2].tolist() == [1, 3, 0, 4, 5] and np.isneginf(near.scores.diagonal()).all()
    joint = joined_document([one, document("e", size=6)], 8)
    assert set(joint.chains) == {NO_CHAIN} and len(joint) == 8


def test_an_event_is_never_its_own_candidate(tmp_path: Path) -> None:
    documents = [document("a", size=5), document("b", size=1), document("c", size=3)]
    rankings = rank_at_random(documents, 0)
    write_candidates(tmp_path / "c.parquet", rankings)
    found = read_candidates(tmp_path / "c.parquet", documents[::-1])
    for one in documents:
        assert np.isneginf(found[one.name].scores.diagonal()).all()
        assert np.array_equal(found[one.name].ranked, rankings[one.name].ranked)
        own = ~np.eye(len(one), dtype=bool)
        assert np.allclose(found[one.name].scores[own], rankings[one.name].scores[own])


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {}
    for kind, make in (("discriminative", make_bert), ("generative", make_t5)):
        found[kind] = tmp_path_factory.mktemp(kind)
        make(found[kind], make_tokenizer(found[kind]))
    return found


@pytest.mark.parametrize("kind", ["discriminative", "generative"])
def test_the_loss_of_a_batch_is_the_weighted_mean_of_its_documents(kind: str, folders: dict[str, Path]) -> None:
    documents = [document(f"d{size}", size=size) for size in (5, 3, 6)]
    classifier = open_classifier(folders[kind], task(kind), tokenizer=folders[kind])
    classifier.model.eval()
    pairs = [inference_pairs(one, rank_by_distance([one])[one.name], task(inference="all")) for one in documents]
    items = classifier.prepare(documents, pairs)
    with torch.no_grad():
        loss, parts = classifier.loss(classifier.model, items.batch(np.arange(len(items))[::-1].copy()))
        alone = [classifier.loss(classifier.model, items.batch(np.array([row]))) for row in range(len(items))]
    weight = sum(float(own["count"]) for _, own in alone)
    assert float(parts["count"]) == pytest.approx(weight)
    assert float(loss) == pytest.approx(sum(float(one) * float(own["count"]) for one, own in alone) / weight, rel=1e-4)
    assert float(parts["loss_sum"]) == pytest.approx(float(loss) * weight, rel=1e-5)
    if kind == "discriminative":
        labels = np.concatenate([own.labels for own in pairs])
        assert weight == (1 + 2.0 * (labels > 0)).sum()
    assert pair_weights(torch.tensor([0, 1, 2]), 3.0).tolist() == [1, 3, 3]


def test_the_head_learns_at_its_rate_and_is_drawn_by_the_seed(folders: dict[str, Path]) -> None:
    heads = []
    for seed in (0, 1):
        settings = task(seed=seed, head_learning_rate=2e-2)
        found = open_classifier(folders["discriminative"], settings, tokenizer=folders["discriminative"])
        groups = build_optimizer(found.model, settings.engine.optimizer).param_groups
        four = {id(one) for group in groups if group["factor"] == 4 for one in group["params"]}
        assert four == {id(one) for one in found.model.head.parameters()}
        heads.append(next(one for one in found.model.head.parameters() if one.dim() > 1))
    assert not torch.equal(*heads)


@pytest.mark.parametrize("kind", ["discriminative", "generative"])
def test_answers_twice_and_in_another_order_are_equal(kind: str, folders: dict[str, Path]) -> None:
    """Dropout is on until the answers are asked for."""
    documents = [document(f"d{size}", size=size) for size in (6, 3, 5, 1)]
    classifier = open_classifier(folders[kind], task(kind, dropout=0.5), tokenizer=folders[kind])
    with torch.no_grad():
        for one in classifier.model.parameters():
            if one.dim() > 1:
                one.mul_(4)
    pairs = [inference_pairs(one, rank_by_distance([one])[one.name], task(inference="all")) for one in documents]

    def asked(order: list[int], size: int) -> list[np.ndarray]:
        classifier.model.train()
        found = predict_labels(
            classifier, [documents[n] for n in order], [pairs[n] for n in order], device="cpu", batch_size=size
        )
        return [found[order.index(number)] for number in range(len(order))]

    first = asked([0, 1, 2, 3], 8)
    assert [(len(one), one.dtype) for one in first] == [(len(own.labels), np.int64) for own in pairs]
    for order, size in (([0, 1, 2, 3], 8), ([2, 3, 0, 1], 1)):
        assert all(np.array_equal(one, two) for one, two in zip(first, asked(order, size), strict=True))
    assert not classifier.model.training
    if kind == "discriminative":
        assert len(set(np.concatenate(first).tolist())) > 1


def test_mentions_are_read_at_the_precision_of_the_settings(folders: dict[str, Path]) -> None:
    encoder, tokenizer = load_model(folders["discriminative"]), load_tokenizer(folders["discriminative"])
    found = {}
    for dtype in ("float32", "bfloat16"):
        settings = Retrieval.model_validate({"events": {}, "dtype": dtype, "ks": [1], "max_length": 16})
        found[dtype] = mention_vectors([document(size=5), document("e", size=3)], settings, encoder, tokenizer, 2)
    assert [one.shape[0] for one in found["float32"]] == [5, 3]
    gaps = [np.abs(one - two).max() for one, two in zip(*found.values(), strict=True)]
    assert all(1e-5 < gap < 0.1 for gap in gaps)


def test_hard_negatives_are_those_that_are_retrieved() -> None:
    one = document(size=6)
    ranking = rank_by_distance([one])[one.name]
    found = training_pairs(one, ranking, task(k=2), np.random.default_rng(0))
    assert {tuple(pair) for pair in found.pairs[found.labels > 0].tolist()} == {(n, n + 1) for n in range(5)}
    # Of the two nearest mentions the second is a neighbour's neighbour at both ends of the document alone.
    assert {tuple(pair) for pair in found.pairs[found.labels == 0].tolist()} == {(0, 2), (3, 5)}


def test_each_split_is_read_for_what_it_is_for(folders: dict[str, Path], tmp_path: Path, monkeypatch) -> None:
    """Passes are chosen by validation documents, answers are those of test documents; other seeds, other models."""
    examples = write_documents(tmp_path / "events.parquet", {"train": 3, "validation": 2, "test": 4})
    documents = load_events(examples)[0]
    for seed in (0, 1):
        write_candidates(tmp_path / f"rankings/seed-{seed}.parquet", rank_at_random(documents, 0))
    asked: list[set[str]] = []

    def watched(classifier, some, rankings, *, device):
        asked.append({one.split for one in some})
        return held_out_f1(classifier, some, rankings, device=device)

    monkeypatch.setattr(classification, "held_out_f1", watched)
    base = folders["discriminative"]
    settings = task(patience=3, epochs=2).model_copy(update={"seeds": [0, 1]})
    train_pair_classifier(
        examples=examples, model=base, tokenizer=base, fingerprint="x", work=tmp_path / "work", out=tmp_path / "out",
        metrics=tmp_path / "t.tsv", rankings=tmp_path / "rankings", settings=settings,
    )  # fmt: skip
    assert len(asked) == 4 and all(one == {"validation"} for one in asked)
    weights = [(tmp_path / f"out/seed-{seed}/head.safetensors").read_bytes() for seed in (0, 1)]
    assert weights[0] != weights[1]
    classify_pairs(
        examples=examples, rankings=tmp_path / "rankings", models=tmp_path / "out", training=tmp_path / "t.tsv",
        out=tmp_path / "p.parquet", metrics=tmp_path / "s.tsv", counts=tmp_path / "c.parquet", settings=settings,
    )  # fmt: skip
    predictions = read_parquet(tmp_path / "p.parquet").to_pandas()
    assert {name.rstrip("0123456789") for name in predictions["document"]} == {"test"}
    assert set(predictions["document"]) == {f"test{n}" for n in range(4)}
    scores = read_tsv(tmp_path / "s.tsv")
    assert set(scores["split"]) == {"validation", "test"}
    by_split = scores[(scores["name"] == "model") & (scores["seed"] == 0)].groupby("split")["n"].first()
    assert by_split["test"] != by_split["validation"]
