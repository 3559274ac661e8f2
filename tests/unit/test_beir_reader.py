"""Collections in BEIR's form: judged and unjudged passages, and a corpus that is not whole."""

import logging
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from data_fixtures import task
from reprlab.data.examples import examples_of
from reprlab.data.schema import write_rows
from reprlab.data.sources import Sources
from reprlab.registry.dataset_entries import Limits
from reprlab.registry.datasets import load_registry
from reprlab.retrieval.collections import read_collection
from reprlab.retrieval.rerank_settings import FirstStage
from reprlab.retrieval.run_files import read_run
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.evaluation import score_task
from reprlab.sentences.settings import EmbeddingTask, Evaluation
from reprlab.stages.retrieve_passages import retrieve_passages

FILES = {
    "corpus": {"_id": ["p1", "p2", "p3"], "title": ["One", "", None], "text": ["a b", "c", "d"]},
    "queries": {"_id": ["7", "8"], "title": ["", ""], "text": ["what", "who"]},
    # The hub's conversion makes numbers of ids that look so.
    "qrels": {"query-id": [7, 7, 8], "corpus-id": ["p1", "p2", "p2"], "score": [2, 0, 1]},
}


class Archive:
    def __init__(self, folder):
        self.folder = folder

    def file(self, name):
        return self.folder / name

    def place(self, name):
        return name


def examples(folder, passages, faulty_rows=0, **more):
    for name, columns in FILES.items():
        pyarrow.parquet.write_table(pyarrow.table(columns), folder / name)
    options = {"corpus": ["corpus"], "queries": "queries", "judgements": {"test": "qrels"}, "passages": passages}
    entry = task(reader="beir_hub", kind="ranking", labels=[], options=options | more, faulty_rows=faulty_rows)
    sources = Sources({"collection": Archive(folder), "judgements": Archive(folder)})
    return examples_of(entry, sources, Limits())


def test_every_passage_is_searched_and_judged_ones_have_their_grades(tmp_path):
    write_rows(tmp_path / "x.parquet", examples(tmp_path, 3), "ranking", {"name": "x", "title": "X"})
    found = read_collection(tmp_path / "x.parquet")
    assert found.passages == {"p1": "One a b", "p2": "c", "p3": "d"}
    assert found.queries == {"test": {"7": "what", "8": "who"}}
    assert found.judgements == {"test": {"7": {"p1": 2, "p2": 0}, "8": {"p2": 1}}}


def test_a_part_of_the_corpus_is_refused(tmp_path):
    with pytest.raises(ReprlabError, match="3 passages, 4 are published; list all its files"):
        examples(tmp_path, 4)


def test_a_judgement_of_a_query_that_is_not_there_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(FILES, "qrels", {"query-id": [9], "corpus-id": ["p1"], "score": [1]})
    with pytest.raises(ReprlabError, match="judges passage p1 for query 9, which is not there"):
        examples(tmp_path, 3)


LACKING = {"query-id": [7, 8], "corpus-id": ["p1", "gone"], "score": [1, 1]}


def test_a_query_whose_passage_is_lacking_counts_as_0(tmp_path, monkeypatch, caplog):
    """ArguAna has one of 1,406: BEIR's means are over all judged queries, and the passage is found by nobody."""
    monkeypatch.setitem(FILES, "qrels", LACKING)
    with caplog.at_level(logging.INFO, logger="reprlab"):
        write_rows(tmp_path / "x.parquet", examples(tmp_path, 3), "ranking", {"name": "x", "title": "X"})
    assert "1 judgements are of passages that the corpus lacks; their queries count" in caplog.text
    found = read_collection(tmp_path / "x.parquet")
    assert found.passages == {"p1": "One a b", "p2": "c", "p3": "d"}
    assert list(found.queries["test"]) == ["7", "8"] and found.judgements["test"]["8"] == {"gone": 1}
    assert found.judged_passages("test") == {"7": {"p1": 1}, "8": {}}
    settings = FirstStage(kind="bm25", depth=3, splits=["test"], metrics=["ndcg_at_10"])
    retrieve_passages(
        examples=tmp_path / "x.parquet", out=tmp_path / "run", metrics=tmp_path / "m.tsv", settings=settings
    )
    scores = pyarrow.parquet.read_table(tmp_path / "run/queries.parquet").to_pandas().query("name == 'bm25'")
    assert scores["query"].tolist() == ["7", "8"] and scores.set_index("query")["ndcg_at_10"]["8"] == 0
    found = read_run(tmp_path / "run/test.arrow")
    assert "8" not in found and all("gone" not in hits for hits in found.values())


def test_an_encoder_is_asked_all_queries_and_finds_no_lacking_passage(tmp_path, monkeypatch):
    monkeypatch.setitem(FILES, "qrels", LACKING)
    write_rows(tmp_path / "x.parquet", examples(tmp_path, 3), "ranking", {"name": "x", "title": "X"})
    asked = []

    def encode(texts, instruction):
        asked.append(list(texts))
        return np.eye(4, dtype=np.float32)[: len(texts)]

    task = EmbeddingTask(name="x", category="retrieval")
    row = score_task(tmp_path / "x.parquet", task, encode, Evaluation.model_construct(resamples=10), 0)
    assert asked == [["what", "who"], ["One a b", "c", "d"]]
    # The first query is the first passage, which is its own; that of the second is nowhere.
    assert (row["value"], row["n"]) == (50.0, 2)


def test_a_passage_that_is_there_and_empty_can_be_found(tmp_path, monkeypatch):
    monkeypatch.setitem(FILES, "corpus", {"_id": ["p1", "p2"], "title": ["", None], "text": ["", "c"]})
    monkeypatch.setitem(FILES, "qrels", {"query-id": [7], "corpus-id": ["p1"], "score": [1]})
    write_rows(tmp_path / "x.parquet", examples(tmp_path, 2), "ranking", {"name": "x", "title": "X"})
    assert read_collection(tmp_path / "x.parquet").passages == {"p1": "", "p2": "c"}


@pytest.mark.parametrize("known", [0, 2])
def test_an_entry_says_how_many_are_lacking(known, tmp_path, monkeypatch):
    monkeypatch.setitem(FILES, "qrels", LACKING)
    with pytest.raises(ReprlabError, match=f"lacks the passages of 1 judgements, {known} are known to be missing"):
        examples(tmp_path, 3, lacking=known)
    assert examples(tmp_path, 3, lacking=1)


def test_the_registry_knows_arguana():
    registry = load_registry(Path(__file__).parents[2] / "config/datasets.yaml")
    assert registry.task("beir_arguana").options["lacking"] == 1


def test_a_judgement_given_twice_counts_once_and_one_of_two_grades_is_faulty(tmp_path, monkeypatch, caplog):
    again = {"query-id": [7, 7, 8, 7], "corpus-id": ["p1", "p2", "p2", "p1"], "score": [2, 0, 1, 2]}
    monkeypatch.setitem(FILES, "qrels", again)
    with caplog.at_level(logging.INFO, logger="reprlab"):
        rows = examples(tmp_path, 3)
    assert len(rows) == 4 and "1 judgements are given again with the same grade" in caplog.text
    monkeypatch.setitem(FILES, "qrels", {**again, "score": [2, 0, 1, 1]})
    with pytest.raises(ReprlabError, match=r"judges p1 for query 7 with two grades, 2 and 1; .*faulty_rows"):
        examples(tmp_path, 3)
    read = examples(tmp_path, 3, faulty_rows=1)
    assert [row["relevance"] for row in read if row["query_id"] == "7" and row["passage_id"] == "p1"] == [2]


def test_a_judgement_of_a_trec_collection_given_twice(tmp_path):
    from reprlab.data.judgements import judged_once
    from reprlab.data.sources import FaultyRows

    given = [("q", "d", 1), ("q", "e", 0), ("q", "d", 1), ("r", "d", 1), ("q", "e", 2)]
    faulty = FaultyRows(known=1)
    assert list(judged_once(given, "qrels", faulty)) == [("q", "d", 1), ("q", "e", 0), ("r", "d", 1)]
    assert faulty.met == 1
