"""Rankings and training groups where the answer is known, and scores that no batch, order or dropout moves."""

import numpy as np
import pytest
import torch
from finetune_fixtures import make_bert, make_tokenizer
from reprlab.artifacts.tables import read_tsv
from reprlab.models.build import load_model
from reprlab.retrieval.bi_encoder import embed, encode_texts
from reprlab.retrieval.memory_limits import unfit, write_unfit
from reprlab.retrieval.pair_training import EncodedTexts, PairBatches, PairSet, pair_loss, scoring_model, text_vectors
from reprlab.retrieval.ranking_metrics import random_order_scores, ranking_scores
from reprlab.retrieval.rerank_groups import mine_groups, only_judged
from reprlab.retrieval.rerank_inputs import pair_inputs
from reprlab.retrieval.reranker import group_loss, rerank, reranker
from reprlab.retrieval.search import most_pairs_kept, rank_by_score, search
from reprlab.retrieval.settings import BiEncoderTraining
from reprlab.text.encoding import padding_id
from reprlab.text.model_tokenizers import load_tokenizer
from reprlab.training.engine import build_optimizer
from reprlab.training.settings import EngineSettings, OptimizerSettings

TEXTS = ["the very first film", "good", "bad film . the very first", "coherent positive", "the the the film good bad"]
ENGINE = EngineSettings(steps=1, batch_size=2, optimizer=OptimizerSettings(learning_rate=1e-3), log_every=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("bert")
    make_bert(found, make_tokenizer(found))
    return found


def loud(model):
    """Weights four times as large, and dropout: what is read decides the score, and what is dropped would show."""
    with torch.no_grad():
        for one in model.parameters():
            if one.dim() > 1:
                one.mul_(4)
    for one in model.modules():
        if isinstance(one, torch.nn.Dropout):
            one.p = 0.4
    return model.train()


def test_vectors_are_those_of_each_text_alone(folder):
    encoder, tokenizer = loud(load_model(folder)), load_tokenizer(folder)
    ids, pad = encode_texts(tokenizer, TEXTS, 12), padding_id(tokenizer)
    together = embed(encoder, ids, pad, "mean", batch_size=2)
    assert np.array_equal(together, embed(encoder.train(), ids, pad, "mean", batch_size=2))
    for row, text in enumerate(TEXTS):
        alone = embed(encoder.train(), encode_texts(tokenizer, [text], 12), pad, "mean")[0]
        assert np.allclose(together[row], alone, atol=1e-4)
    assert len(np.unique(together.round(3), axis=0)) == len(TEXTS)


@pytest.mark.parametrize("stride", [0, 3])
def test_scores_of_a_reranker_are_those_of_each_pair_alone(folder, stride):
    torch.manual_seed(0)
    model, tokenizer = loud(reranker(load_model(folder), "first", 0.4)), load_tokenizer(folder)
    queries = {"q1": "good film", "q2": "bad"}
    documents = {f"d{row}": " ".join([text] * 3) for row, text in enumerate(TEXTS)}
    inputs = pair_inputs(tokenizer, queries, documents, "query_first", max_length=16, max_query=4)
    run = {"q2": {"d3": 0.0, "d0": 0.0, "d4": 0.0}, "q1": {"d4": 0.0, "d1": 0.0, "d2": 0.0}}
    pad = padding_id(tokenizer)
    found = rerank(model, inputs, run, pad, stride=stride)
    assert list(found) == list(run) and all(list(found[query]) == list(run[query]) for query in run)
    assert found == rerank(model.train(), inputs, run, pad, stride=stride)
    model.eval()
    for query, scored in found.items():
        for document, score in scored.items():
            starts = inputs.starts(query, document, stride) if stride else [0]
            room = inputs.room(query)
            assert starts[-1] == max(0, len(inputs.documents[document]) - room) or not stride
            values = []
            for start in starts:
                ids = torch.tensor([inputs.ids(query, document, start)])
                assert ids.shape[1] <= 16
                with torch.no_grad():
                    values.append(float(model(ids, torch.ones_like(ids))))
            assert score == pytest.approx(max(values), abs=1e-4)
    assert len({round(score, 3) for scored in found.values() for score in scored.values()}) > 3


def test_the_loss_of_a_group_is_that_of_its_relevant_document(folder):
    scores = torch.tensor([2.0, 1.0, 0.0, 1.0, 3.0, 0.5])
    batch = {"input_ids": torch.zeros(6, 4), "attention_mask": torch.ones(6, 4), "groups": torch.arange(2)}
    loss, parts = group_loss(lambda ids, mask: scores, batch)
    each = [-one.log_softmax(0)[0] for one in scores.view(2, 3)]
    assert float(loss) == pytest.approx(float(sum(each)) / 2, rel=1e-6)
    assert [float(parts[name]) for name in ("loss_sum", "count", "correct", "total", "tokens")] == pytest.approx(
        [float(sum(each)), 2, 1, 2, 24]
    )
    model = reranker(load_model(folder), "first", 0.0, 5.0)
    groups = build_optimizer(model, ENGINE.optimizer).param_groups
    five = {id(one) for group in groups if group["factor"] == 5 for one in group["params"]}
    assert five == {id(one) for one in model.head.parameters()}


def test_groups_are_drawn_by_seed_from_others_than_the_relevant():
    run = {"q": {f"d{n}": float(-n) for n in range(30)}, "r": {"x": 1.0}}
    judged = {"q": {"d3": 1, "d7": 2, "d9": 0}, "r": {"x": 1}}
    found = mine_groups(run, judged, 5, 0)
    assert [(one.query, one.documents[0]) for one in found] == [("q", "d3"), ("q", "d7")]
    for one in found:
        assert len(set(one.documents[1:])) == 5 and not {"d3", "d7"} & set(one.documents[1:])
    assert found == mine_groups(run, judged, 5, 0) != mine_groups(run, judged, 5, 1)
    assert found[0].documents[1:] != found[1].documents[1:]
    few = mine_groups({"q": {"d3": 1.0, "a": 0.5, "b": 0.1}}, {"q": {"d3": 1}}, 5, 0)
    assert len(few[0].documents) == 6 and set(few[0].documents[1:]) <= {"a", "b"}
    assert only_judged(run, judged) == {"q": {"d3": -3.0, "d7": -7.0}, "r": {"x": 1.0}}


def test_measures_of_a_ranking_by_hand():
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}, "none": {}}
    judged = {"q": {"b": 1, "c": 2, "far": 1}, "none": {"a": 1}}
    found = ranking_scores(run, judged, ["mrr_at_1", "mrr_at_3", "ndcg_at_2", "recall_at_2"])
    ideal = 2 + 1 / np.log2(3)
    wanted = {"mrr_at_1": 0, "mrr_at_3": 1 / 2, "ndcg_at_2": 1 / np.log2(3) / ideal, "recall_at_2": 1 / 3}
    assert {name: value.tolist() for name, value in found.items()} == {
        name: pytest.approx([value, 0]) for name, value in wanted.items()
    }
    # One of three hits is relevant: at rank 1, 2 or 3 alike.
    chance = random_order_scores({"q": {"a": 3.0, "b": 2.0, "x": 1.0}}, {"q": {"b": 1, "far": 1}}, list(wanted))
    assert chance["mrr_at_3"][0] == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    assert chance["mrr_at_1"][0] == pytest.approx(1 / 3)
    assert chance["recall_at_2"][0] == pytest.approx(2 / 3 / 2)
    assert chance["ndcg_at_2"][0] == pytest.approx((1 + 1 / np.log2(3)) / 3 / (1 + 1 / np.log2(3)))


def test_pairs_of_sets_are_scored_by_scaled_products(folder):
    tokenizer = load_tokenizer(folder)
    related = np.zeros((3, 3), dtype=bool)
    related[0, 1] = related[1, 0] = True
    sets = [PairSet(np.array([0, 2, 4]), related), PairSet(np.array([1, 3]), np.ones((2, 2), dtype=bool))]
    texts = EncodedTexts(encode_texts(tokenizer, TEXTS, 12), padding_id(tokenizer))
    settings = BiEncoderTraining(engine=ENGINE, epochs=1, head_learning_rate=7e-3, max_length=12, negatives=1)
    batches = PairBatches(sets, texts, settings)
    batch = batches(np.array([1, 0]), 0)
    assert batch["pairs"][0].tolist() == [0, 1, 1] and batch["pairs"][1].tolist() == [2, 3, 1]
    assert batch["pairs"][2:, 2].tolist() == [0] and int(batch["pairs"][2:, :2].min()) >= 2
    many = [batches(np.array([0]), step)["pairs"][1].tolist() for step in range(8)]
    assert len({tuple(pair) for pair in many}) == 2
    model = scoring_model(text_vectors(load_model(folder), "mean"), 4, 7.0).eval()
    assert {model.scale.rate_factor, model.offset.rate_factor} == {7.0}
    with torch.no_grad():
        model.scale.fill_(2.0)
        vectors = model.vectors_of(batch)
        wanted = torch.stack([vectors[one] @ vectors[two] for one, two, _ in batch["pairs"].tolist()])
        wanted = 2 * wanted / vectors.shape[1] ** 0.5 - np.log(4)
        assert torch.allclose(model(batch), wanted, atol=1e-4)
        loss, parts = pair_loss(model, batch)
        labels = batch["pairs"][:, 2].float()
        known = -(labels * wanted.sigmoid().log() + (1 - labels) * (-wanted).sigmoid().log())
        assert float(loss) == pytest.approx(float(known.mean()), rel=1e-4)
        assert float(parts["loss_sum"]) == pytest.approx(float(known.sum()), rel=1e-4)
        assert int(parts["tokens"]) == int(batch["attention_mask"].sum())


def test_the_first_of_equal_scores_and_a_ceiling_by_hand():
    wide = np.zeros((2, 1200), dtype=np.float32)
    wide[0, [700, 5, 900]] = 1
    wide[1, 3] = -1
    assert rank_by_score(wide, 5).tolist() == [[5, 700, 900, 0, 1], [0, 1, 2, 4, 5]]
    assert rank_by_score(wide, 1300).shape == (2, 1200), "more than there are"
    columns, scores = search(np.eye(2, dtype=np.float32), wide.T.copy(), 3)
    assert columns.tolist() == [[5, 700, 900], [0, 1, 2]] and scores.tolist() == [[1, 1, 1], [0, 0, 0]]
    # A star of four: its centre names one, and each of the others names the centre.
    star = np.zeros((5, 5), dtype=bool)
    star[0, 1:] = star[1:, 0] = True
    assert most_pairs_kept(star, 1) == 4
    whole = ~np.eye(4, dtype=bool)
    assert [most_pairs_kept(whole, k) for k in (1, 2)] == [4, 6]


def test_what_did_not_fit_says_so(tmp_path):
    from reprlab.artifacts.json_files import read_json

    (tmp_path / "fits").mkdir()
    write_unfit(tmp_path / "out", tmp_path / "m.tsv", [0, 3], MemoryError("no room\nat all"))
    assert "memory" in unfit(tmp_path / "out") and unfit(tmp_path / "fits") == ""
    assert "no room" in read_json(tmp_path / "out/out_of_memory.json")["error"]
    rows = read_tsv(tmp_path / "m.tsv")
    assert rows["seed"].tolist() == [0, 3] and rows["step"].tolist() == [0, 0] and rows["loss"].isna().all()
