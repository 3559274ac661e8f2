"""First stages against what they should find: BM25 by hand, and cosines of a bi-encoder's first states."""

import math
from collections import Counter
from pathlib import Path

import pytest
import torch
from finetune_fixtures import make_bert, make_tokenizer
from reprlab.data.schema import write_rows
from reprlab.models.build import load_model
from reprlab.retrieval.bm25 import bm25_runs
from reprlab.retrieval.rerank_settings import FirstStage
from reprlab.retrieval.run_files import StoredRun, read_run
from reprlab.stages.retrieve_passages import retrieve_passages
from reprlab.text.model_tokenizers import load_tokenizer

QUERIES = {"q0": "good film", "q1": "the bad film", "same": "very good film"}
PASSAGES = {"p0": "a film was good", "p1": "bad", "p2": "very good film", "p3": "the second sentence was very bad"}
PREFIX = "first : "


@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.4), (1.5, 0.75), (4.46, 0.82)])
def test_bm25_with_the_tuned_values(k1, b):
    """Lucene's formula, words that come more than once in passages of unlike length."""
    passages = {"a": "cats chase cats chase cats", "b": "cats sleep", "c": "dogs chase mice daily", "d": "rain falls"}
    words = {name: text.split() for name, text in passages.items()}
    mean = sum(map(len, words.values())) / len(words)

    def score(query, name):
        found = 0.0
        for word in query.split():
            having = sum(word in other for other in words.values())
            count = Counter(words[name])[word]
            weight = math.log(1 + (len(words) - having + 0.5) / (having + 0.5))
            found += weight * count / (count + k1 * (1 - b + b * len(words[name]) / mean))
        return found

    for query in ("cats", "cats chase mice"):
        scores = {name: score(query, name) for name in passages}
        expected = {name: pytest.approx(value, rel=1e-5) for name, value in scores.items() if value > 0}
        (run,) = bm25_runs({"q": query}, passages, 4, k1=k1, b=b)
        found = run["q"]
        assert found == expected
        assert list(found) == sorted(expected, key=scores.__getitem__, reverse=True)


def _retrieved(folder: Path, prefix: str) -> StoredRun:
    rows = [
        {"id": f"{query}-{passage}", "group": query, "query_id": query, "query": text, "passage_id": passage,
         "passage": PASSAGES[passage], "relevance": int(passage == "p0"), "split": "test"}
        for query, text in QUERIES.items() for passage in PASSAGES
    ]  # fmt: skip
    write_rows(folder / "toy.parquet", rows, "ranking", {"name": "toy", "title": "Toy"})
    settings = FirstStage(
        kind="dense", depth=4, splits=["test"], metrics=["mrr_at_10"], max_length=16, prefix=prefix, pooling="first"
    )
    retrieve_passages(
        examples=folder / "toy.parquet", out=folder / "run", metrics=folder / "m.tsv", settings=settings,
        model=folder / "encoder", inference_batch=2,
    )  # fmt: skip
    return read_run(folder / "run/test.arrow")


@pytest.mark.parametrize("prefix", ["", PREFIX])
def test_dense_scores_are_cosines_of_first_states(prefix, tmp_path):
    """The prefix stands before queries alone."""
    make_bert(tmp_path / "encoder", make_tokenizer(tmp_path / "encoder"))
    encoder, tokenizer = load_model(tmp_path / "encoder").eval(), load_tokenizer(tmp_path / "encoder")

    def state(text):
        with torch.inference_mode():
            return encoder(input_ids=torch.tensor([tokenizer(text)["input_ids"]])).last_hidden_state[0, 0]

    def cosines(before, before_passage=""):
        return {
            query: {
                name: torch.cosine_similarity(state(before + asked), state(before_passage + text), dim=0).item()
                for name, text in PASSAGES.items()
            }
            for query, asked in QUERIES.items()
        }

    found, expected = _retrieved(tmp_path, prefix), cosines(prefix)
    for query, scores in found.items():
        assert scores == pytest.approx(expected[query], rel=0, abs=1e-5)
        assert max(scores.values()) <= 1 + 1e-6
    if prefix:
        for other in (cosines(""), cosines(prefix, prefix)):
            assert max(abs(other[query][name] - found[query][name]) for query in found for name in PASSAGES) > 1e-3
    else:
        assert found["same"]["p2"] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("passages", [{"a": "", "b": "the"}, {"a": "!!", "b": "x"}, {}])
@pytest.mark.parametrize("queries", [{"q": "cat", "r": ""}, {}])
def test_passages_without_a_word_have_no_hits(passages, queries):
    (run,) = bm25_runs(queries, passages, 2)
    assert run == {query: {} for query in queries}


@pytest.mark.parametrize("texts", [["!", "?"], ["", ""]])
def test_texts_without_a_word_are_vectors_of_nought(texts):
    """Scikit-learn ends in a ValueError of an empty vocabulary."""
    from reprlab.baselines.texts import fitted_words

    assert not fitted_words(texts).transform([*texts, "a b"]).nnz
    assert fitted_words(["a b", "!"]).transform(["a", "!"]).toarray().any(axis=1).tolist() == [True, False]
