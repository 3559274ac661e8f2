"""Runs, ranking metrics, BM25, pairs cut to length, groups and scores of rerankers."""

import itertools
import math

import numpy as np
import pytest
import torch
from reprlab.inference.similar_batches import similar_batches
from reprlab.models.pooling import pool
from reprlab.retrieval.bm25 import bm25_runs, dense_runs
from reprlab.retrieval.collections import contrast_rows, query_scores
from reprlab.retrieval.first_state import only_first_state
from reprlab.retrieval.ranking_metrics import random_order_scores, ranking_scores
from reprlab.retrieval.rerank_groups import GroupBatches, mine_groups
from reprlab.retrieval.rerank_inputs import pair_inputs
from reprlab.retrieval.reranker import group_loss, rerank, reranker
from reprlab.retrieval.run_files import main, read_run, run_writer, write_run
from reprlab.retrieval.trec import ordered, without_ties
from reprlab.runtime.errors import ReprlabError
from rerank_fixtures import Words, tiny
from transformers import AutoConfig, AutoModel


def test_known_answers():
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    grades = {"q": {"a": 0, "b": 3, "c": 2}}
    found = ranking_scores(run, grades, ["ndcg_at_10", "mrr_at_10", "recall_at_2"])
    gain = 3 / math.log2(3) + 2 / math.log2(4)
    assert found["ndcg_at_10"][0] == pytest.approx(gain / (3 + 2 / math.log2(3)), abs=1e-9)
    assert round(found["ndcg_at_10"][0], 4) == 0.6788
    assert found["mrr_at_10"][0] == 0.5
    assert found["recall_at_2"][0] == 0.5


def test_cut_missing_queries_and_oracle():
    run = {"q": {f"d{place:02d}": float(-place) for place in range(12)}, "other": {"x": 1.0}}
    assert ranking_scores(run, {"q": {"d10": 1}}, ["mrr_at_10"])["mrr_at_10"].tolist() == [0.0]
    assert ranking_scores(run, {"q": {"d10": 1}}, ["mrr_at_100"])["mrr_at_100"].tolist() == [1 / 11]
    grades = {"q": {"d03": 2, "d07": 1}, "none": {"d01": 1}}
    assert ranking_scores(run, grades, ["ndcg_at_10"])["ndcg_at_10"][1] == 0
    oracle = {"q": {name: float(grades["q"].get(name, 0)) for name in run["q"]}}
    assert ranking_scores(oracle, {"q": grades["q"]}, ["ndcg_at_10"])["ndcg_at_10"][0] == pytest.approx(1)
    kept = {"q": {name: -float(rank) for rank, name in enumerate(ordered(run["q"]))}}
    for metric in ("mrr_at_10", "ndcg_at_10", "recall_at_5"):
        assert (
            ranking_scores(kept, grades, [metric])[metric].tolist()
            == ranking_scores(run, grades, [metric])[metric].tolist()
        )
    with pytest.raises(ReprlabError, match="mrr_at_K"):
        ranking_scores(run, grades, ["ndcg"])


def test_a_relevant_document_that_was_not_retrieved_is_part_of_the_ideal():
    found = ranking_scores({"q": {"a": 1.0}}, {"q": {"a": 1, "missing": 3}}, ["ndcg_at_10"])
    assert found["ndcg_at_10"][0] == pytest.approx(1 / (3 + 1 / math.log2(3)), abs=1e-9)


def test_ties_are_trec_evals():
    """Equal scores by descending id, whatever the ranks say; the same whether a cut is ours or trec_eval's."""
    scores = {"b": 1.0, "a": 1.0, "c": 1.0, "d": 1.0 + 1e-9}
    assert ordered(scores) == ["d", "c", "b", "a"]
    run, grades = {"q": scores}, {"q": {"a": 1}}
    assert ranking_scores(run, grades, ["mrr_at_4"])["mrr_at_4"][0] == 0.25
    assert ranking_scores(run, grades, ["mrr_at_3"])["mrr_at_3"][0] == 0
    assert ranking_scores(run, {"q": {"d": 1}}, ["ndcg_at_1"])["ndcg_at_1"][0] == 1


def test_equal_scores_keep_the_order_in_which_they_stand(tmp_path):
    """A reranker that says nothing repeats the first stage's metrics, in memory and from its file."""
    first = {"q": {"a": 9.0, "c": 8.0, "b": 7.0, "d": 6.0}, "none": {}}
    grades = {"q": {"b": 2, "d": 1}, "none": {"a": 1}}
    for score in (0.1, 0.0, -3.0, 1e30):
        silent = without_ties({query: dict.fromkeys(found, score) for query, found in first.items()})
        write_run(tmp_path / "run.arrow", silent, "test")
        for run in (silent, read_run(tmp_path / "run.arrow")):
            assert ordered(run["q"]) == ordered(first["q"]) == ["a", "c", "b", "d"]
            for metric in ("mrr_at_10", "ndcg_at_10", "ndcg_at_2", "recall_at_3"):
                one, other = (ranking_scores(given, grades, [metric])[metric] for given in (first, run))
                assert one.tolist() == other.tolist()


def test_ties_are_broken_by_as_little_as_single_precision_has():
    """What is lowered may not pass the next score, nor move scores that are distinct."""
    below = float(np.nextafter(np.float32(1), np.float32(0)))
    found = without_ties({"q": {"low": below, "b": 1.0, "a": 1.0 + 1e-9, "z": 2.0, "last": -5.0}})["q"]
    assert ordered(found) == ["z", "b", "a", "low", "last"]
    assert (found["z"], found["b"], found["a"], found["last"]) == (2.0, 1.0, below, -5.0)
    assert found["low"] == float(np.nextafter(np.float32(below), np.float32(0)))
    drawn = np.random.default_rng(0).normal(size=500).astype(np.float32)
    distinct = {f"d{place}": float(score) for place, score in enumerate(np.unique(drawn)[::-1])}
    assert without_ties({"q": distinct}) == {"q": distinct}


@pytest.mark.parametrize("grades", [[1], [1, 1], [2, 1, -1], [1, 1, 1, 1], [0], [0, 3, 1]])
def test_a_random_order_has_the_mean_over_all_orders(grades):
    """Of four hits and one judged passage that was not found; metrics are those of trec_eval."""
    metrics = [f"{name}_at_{depth}" for name in ("mrr", "ndcg", "recall") for depth in (1, 2, 3, 10)]
    judged = {"q": {"missed": 2, **{f"d{place}": grade for place, grade in enumerate(grades)}}, "without": {"d0": 1}}
    names = [f"d{place}" for place in range(4)]
    orders = [dict(zip(names, map(float, order), strict=True)) for order in itertools.permutations(range(4))]
    each = [ranking_scores({"q": order}, judged, metrics) for order in orders]
    found = random_order_scores({"q": orders[0]}, judged, metrics)
    for metric in metrics:
        assert found[metric].tolist() == pytest.approx(np.mean([scores[metric] for scores in each], axis=0), abs=1e-9)


def test_one_relevant_hit_of_twenty_is_found_where_chance_puts_it():
    """The mean reciprocal rank is H_20 / 20."""
    found = random_order_scores({"q": {f"d{n}": 0.0 for n in range(20)}}, {"q": {"d3": 1}}, ["mrr_at_20", "mrr_at_10"])
    assert (
        round(100 * float(found["mrr_at_20"][0]), 2) == 17.99 and round(100 * float(found["mrr_at_10"][0]), 2) == 14.64
    )
    with pytest.raises(ReprlabError, match="mrr_at_K"):
        random_order_scores({}, {}, ["mrr@10"])


def test_contrasts_of_a_run_with_itself_and_of_a_constant_gain():
    """One query more without hits is one unit more with a difference of 0."""
    metrics = ["mrr_at_10", "ndcg_at_10"]
    rng = np.random.default_rng(0)
    run = {f"q{n}": {f"d{m}": float(score) for m, score in enumerate(rng.normal(size=12))} for n in range(40)}
    grades = {query: {"d3": 1, "d5": 2} for query in run}
    first = query_scores(run, grades, metrics)
    assert list(first["query"]) == list(run) and first[metrics].to_numpy().max() <= 100
    for row in contrast_rows(first, first, metrics, seed=1):
        assert (row["seed"], row["n"], row["value"], row["low"], row["high"], row["p"]) == (1, 40, 0, 0, 0, 1)
    rows = list(contrast_rows(first.assign(mrr_at_10=first["mrr_at_10"] + 3), first, metrics))
    assert [row["metric"] for row in rows] == metrics
    assert rows[0]["value"] == pytest.approx(3) and rows[0]["low"] > 2.99 and rows[0]["p"] < 0.01
    assert rows[1]["value"] == 0 and rows[1]["p"] == 1
    better = {query: {name: float(grades[query].get(name, 0)) for name in found} for query, found in run.items()}
    grades["none"] = {"d1": 1}
    oracle, first = (query_scores(given, grades, metrics) for given in (better, run))
    forward, back = list(contrast_rows(oracle, first, metrics)), list(contrast_rows(first, oracle, metrics))
    assert all(row["n"] == 41 and 0 < row["low"] < row["value"] < row["high"] for row in forward)
    assert [row["value"] for row in forward] == [-row["value"] for row in back]
    assert forward[0]["value"] == pytest.approx((oracle["mrr_at_10"] - first["mrr_at_10"]).mean())


def test_files(tmp_path, capsys):
    path = tmp_path / "run.arrow"
    run = {"q1": {"d1": 0.1, "d2": float(np.float32(1) / 3)}, "none": {}, "q2": {"ü": -2.0}}
    write_run(path, run, "test")
    again = read_run(path)
    assert list(again) == ["q1", "q2"] and len(again) == 2 and "none" not in again and again.get("none", {}) == {}
    assert list(again["q1"].items()) == [("d2", float(np.float32(1) / 3)), ("d1", float(np.float32(0.1)))]
    assert main([str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "q1 Q0 d2 1 0.333333343 test", "q1 Q0 d1 2 0.100000001 test", "q2 Q0 ü 1 -2 test",
    ]  # fmt: skip
    write_run(path, {"q 1": {"d": 1.0}}, "test")
    assert main([str(path)]) == 1 and "white space" in capsys.readouterr().err


def test_a_run_that_is_written_in_parts_is_the_whole(tmp_path):
    rng = np.random.default_rng(0)
    run = {f"q{n}": {f"d{m}": float(np.float32(rng.normal())) for m in rng.permutation(40)[:n]} for n in range(30)}
    write_run(tmp_path / "whole", run, "x")
    with run_writer(tmp_path / "parts", "x") as write:
        for query, hits in run.items():
            write({query: hits})
    found = read_run(tmp_path / "parts")
    assert found == read_run(tmp_path / "whole") == {query: hits for query, hits in run.items() if hits}
    assert all(list(hits) == ordered(run[query]) for query, hits in found.items())


@pytest.mark.parametrize("content", [b"", b"q Q0 d 1 2.0 tag\n", b"cut"])
def test_a_damaged_run_is_named(content, tmp_path):
    path = tmp_path / "run.arrow"
    write_run(path, {"q": {"d": 1.0}}, "x")
    path.write_bytes(path.read_bytes()[:-9] if content == b"cut" else content)
    with pytest.raises(ReprlabError, match=r"run\.arrow: not a readable run .*delete it"):
        read_run(path)
    with pytest.raises(ReprlabError, match=r"gone: not a readable run"):
        read_run(tmp_path / "gone")


def test_a_run_that_is_read_holds_no_hit(tmp_path):
    """Before, 1,000 queries with 1,000 hits each took 120 megabytes of Python's memory in every process."""
    import tracemalloc

    with run_writer(tmp_path / "run", "x") as write:
        for start in range(0, 100, 10):
            names = range(start, start + 10)
            write({f"q{n}": {f"d{(n * 7919 + m) % 10**6}": 1000.0 - m for m in range(1000)} for n in names})
    tracemalloc.start()
    run = read_run(tmp_path / "run")
    longest = sum(len(hits) for hits in run.values())
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert longest == 10**5 and held < 1e5 and peak < 1e6


def test_bm25_by_hand():
    """Lucene's formula with k1 = 1.5 and b = 0.75 on three passages; no shared word is not a hit."""
    passages = {"a": "cats chase mice", "b": "dogs chase cats daily", "c": "rain falls"}
    (found,) = bm25_runs({"q": "mice cats", "none": "snow", "empty": ""}, passages, 3)
    mean = (3 + 4 + 2) / 3

    def part(count, length):
        return math.log(1 + (3 - count + 0.5) / (count + 0.5)) / (1 + 1.5 * (0.25 + 0.75 * length / mean))

    assert found["q"]["a"] == pytest.approx(part(1, 3) + part(2, 3), rel=1e-5)
    assert found["q"]["b"] == pytest.approx(part(2, 4), rel=1e-5)
    assert found["none"] == found["empty"] == {}
    assert list(found["q"]) == ["a", "b"]
    (ties,) = bm25_runs({"q": "same"}, {"a": "same", "b": "same", "c": "same"}, 2)
    assert list(ties["q"]) == ["c", "b"]


def test_dense_search_is_exact():
    vectors = {"one": [1.0, 0.0], "two": [0.0, 1.0], "both": [0.6, 0.8]}
    (found,) = dense_runs(
        {"q": "one"}, {name: name for name in vectors}, 2, lambda texts: np.array([vectors[t] for t in texts])
    )
    assert found == {"q": {"one": 1.0, "both": pytest.approx(0.6)}}


@pytest.mark.parametrize("template", ["document_first", "query_first"])
def test_query_and_end_survive(template):
    words = Words()
    text = " ".join(f"w{number}" for number in range(5000))
    inputs = pair_inputs(
        words, {"q": "who is it", "long": text}, {"d": text, "s": "short"}, template, max_length=40, max_query=8
    )
    name = words.known
    query = [name["who"], name["is"], name["it"]]
    long, short = inputs.ids("q", "d"), inputs.ids("q", "s")
    assert len(long) == 40
    for ids in (long, short):
        assert any(ids[place : place + 3] == query for place in range(len(ids)))
    if template == "document_first":
        assert short == [name["document:"], name["short"], name[";"], name["query:"], *query, name[";"], 1]
        assert long[-1] == 1
    else:
        assert short == [2, name["query:"], *query, name[";"], name["document:"], name["short"], 3]
        assert long[-1] == 3
    assert len(inputs.ids("long", "d")) == 40
    starts = inputs.starts("q", "d", inputs.room("q"))
    covered = {token for first in starts for token in inputs.ids("q", "d", first)}
    assert {name[f"w{number}"] for number in range(5000)} <= covered
    # Passages farther apart than one is long would leave a gap.
    assert inputs.starts("q", "d", 10 * inputs.room("q")) == starts
    assert inputs.starts("q", "s", 5) == [0]
    least = 41 - inputs.room("q")
    asked = (words, {"q": "who is it"}, {"d": text}, template)
    assert pair_inputs(*asked, max_length=least, max_query=8).room("q") == 1
    with pytest.raises(ReprlabError, match="leave no room"):
        pair_inputs(*asked, max_length=least - 1, max_query=8)


@pytest.mark.parametrize("template", ["document_first", "query_first"])
def test_a_long_query_keeps_its_beginning(template):
    words = Words()
    inputs = pair_inputs(words, {"q": "a b c d e f g h"}, {"d": "short"}, template, max_length=40, max_query=3)
    asked = inputs.ids("q", "d")
    place = asked.index(words.known["query:"]) + 1
    assert asked[place : place + 4] == [words.known[word] for word in ("a", "b", "c", ";")]


@pytest.mark.parametrize("architecture", ["opt", "bert"])
def test_order_of_the_template_and_padding(architecture):
    """A decoder's document states do not depend on the query behind, an encoder's do. Padding changes nothing."""
    model = reranker(tiny(architecture), "last", 0.1).eval()
    ids = torch.randint(2, 60, (1, 20), generator=torch.Generator().manual_seed(0))
    other = ids.clone()
    other[:, 12:] = (other[:, 12:] + 7) % 58 + 2
    with torch.inference_mode():
        states = [model.backbone(input_ids=one).last_hidden_state[:, :12] for one in (ids, other)]
        assert torch.allclose(*states, atol=1e-6) == (architecture == "opt")
        alone = model(ids, torch.ones_like(ids))
        padding = torch.zeros(1, 9, dtype=torch.long)
        padded = model(torch.cat([ids, padding], 1), torch.cat([torch.ones_like(ids), padding], 1))
    torch.testing.assert_close(alone, padded, rtol=0, atol=1e-5)
    assert model.head.in_features == (8 if architecture == "opt" else 16)


def test_last_token_by_the_mask():
    """The end token may be the padding token: the state is found by the mask."""
    states = torch.arange(12.0).view(2, 3, 2)
    mask = torch.tensor([[1, 1, 0], [1, 1, 1]])
    assert pool(states, mask, "last").tolist() == [[2.0, 3.0], [10.0, 11.0]]


def test_group_loss():
    batch = {"input_ids": torch.arange(32), "attention_mask": torch.ones(32, 1), "groups": torch.arange(2)}
    scores = torch.zeros(32)
    assert group_loss(lambda *_: scores, batch)[0].item() == pytest.approx(math.log(16), abs=1e-6)
    scores = torch.randn(32, generator=torch.Generator().manual_seed(0))
    loss = group_loss(lambda *_: scores, batch)[0]
    torch.testing.assert_close(group_loss(lambda *_: scores + 5, batch)[0], loss)
    turned = scores.view(2, 16)[:, [0, *range(15, 0, -1)]].flatten()
    torch.testing.assert_close(group_loss(lambda *_: turned, batch)[0], loss)
    assert not torch.allclose(group_loss(lambda *_: scores.flip(0), batch)[0], loss)


def test_groups():
    run = {"q": {f"d{n}": float(n) for n in range(20)}, "few": {"d1": 1.0, "d2": 0.5}, "alone": {"d3": 1.0}}
    grades = {"q": {"d4": 1, "d5": 1, "d6": 0}, "few": {"d1": 1}, "alone": {"d3": 1}}
    groups = mine_groups(run, grades, 7, 0)
    assert [(group.query, group.documents[0]) for group in groups] == [("q", "d4"), ("q", "d5"), ("few", "d1")]
    assert all(len(set(group.documents)) == 8 for group in groups[:2])
    assert not {"d4", "d5"} & {name for group in groups[:2] for name in group.documents[1:]}
    assert groups[2].documents == ["d1", *["d2"] * 7]
    assert mine_groups(run, grades, 7, 0) == groups != mine_groups(run, grades, 7, 1)


def test_every_other_document_may_be_a_negative_and_no_relevant_one():
    """As many negatives as there are documents without relevance: all of them, for the second relevant one too."""
    run = {"q": {f"d{n}": float(n) for n in range(20)}}
    others = {f"d{n}" for n in range(20)} - {"d4", "d5", "d9"}
    for group in mine_groups(run, {"q": {"d4": 1, "d5": 1, "d6": 0, "d9": 2}}, len(others), 0):
        assert set(group.documents[1:]) == others


def test_batches_cut_alike_and_training_ranks():
    """Batches are of whole groups; a reranker learns which word matters; MaxP is the best passage."""
    words = Words()
    documents = {f"d{n}": "good" if n % 4 == 0 else f"bad{n % 3}" for n in range(16)} | {"late": "bad1 " * 30 + "good"}
    queries = {f"q{n}": "find" for n in range(4)}
    inputs = pair_inputs(words, queries, documents, "document_first", max_length=16, max_query=4)
    run = {query: {f"d{n}": 0.0 for n in range(16) if n % 4 or n == 4 * place} for place, query in enumerate(queries)}
    grades = {query: {f"d{4 * place}": 1} for place, query in enumerate(queries)}
    groups = mine_groups(run, grades, 3, 0)
    batches = GroupBatches(groups, inputs, 0)
    whole = batches(np.arange(4), 0)
    assert whole["input_ids"].shape == whole["attention_mask"].shape == (16, whole["input_ids"].shape[1])
    assert torch.equal(batches(np.array([2]), 5)["input_ids"], whole["input_ids"][8:12])
    model = reranker(tiny("opt"), "last", 0.0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(30):
        optimizer.zero_grad()
        group_loss(model, batches(np.arange(4), step))[0].backward()
        optimizer.step()
    found = rerank(model, inputs, run, 0)
    assert ranking_scores(found, grades, ["mrr_at_10"])["mrr_at_10"].tolist() == [1.0] * 4
    late = {"q0": {"late": 0.0, "d1": 0.0}}
    starts = inputs.starts("q0", "late", inputs.room("q0"))
    with torch.inference_mode():
        each = [
            model(ids, torch.ones_like(ids)).item()
            for first in starts
            for ids in [torch.tensor([inputs.ids("q0", "late", first)])]
        ]
    assert len(each) > 2
    assert rerank(model, inputs, late, 0, stride=inputs.room("q0"))["q0"]["late"] == pytest.approx(max(each), abs=1e-5)
    assert rerank(model, inputs, late, 0)["q0"]["late"] == pytest.approx(each[0], abs=1e-5)


@pytest.mark.parametrize("architecture", ["bert", "roberta", "electra"])
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_a_last_layer_for_the_first_token_gives_its_state(architecture, attention):
    """The shortened layer is exact with and without padding, and leaves the encoder as it was."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 48}
    config = AutoConfig.for_model(architecture, vocab_size=50, pad_token_id=0, **sizes)
    encoder = AutoModel.from_config(config, attn_implementation=attention).eval()
    ids = torch.randint(5, 50, (3, 9))
    for lengths in ([9, 9, 9], [9, 4, 1]):
        mask = (torch.arange(9) < torch.tensor(lengths)[:, None]).long()
        with torch.inference_mode():
            whole = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
            with only_first_state(encoder):
                first = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
            again = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        assert first.shape == (3, 1, 32) and torch.equal(again, whole)
        assert torch.allclose(first[:, 0], whole[:, 0], atol=1e-6)


def test_batches_on_a_cpu_have_as_many_tokens_as_fit_and_every_pair_once():
    lengths = np.array([5, 3000, 100, 7, 100, 2000, *[512] * 9])
    found = [rows.tolist() for rows in similar_batches(lengths, 3, "cpu")]
    assert found[:2] == [[1], [5]] and sorted(row for rows in found for row in rows) == list(range(len(lengths)))
    assert all(len(rows) == 1 or len(rows) * lengths[rows].max() <= 2048 for rows in found)
    assert [len(rows) for rows in found[2:]] == [4, 4, 4, 1] and not list(similar_batches(lengths[:0], 3, "cpu"))
    assert [len(rows) for rows in similar_batches(lengths, 6, "cuda")] == [6, 6, 3]
