"""Collections in BEIR's form: judged and unjudged passages, and a corpus that is not whole."""

import pyarrow.parquet
import pytest
from data_fixtures import task
from reprlab.data.examples import examples_of
from reprlab.data.schema import write_rows
from reprlab.data.sources import Sources
from reprlab.registry.dataset_entries import Limits
from reprlab.retrieval.collections import read_collection
from reprlab.runtime.errors import ReprlabError

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


def examples(folder, passages):
    for name, columns in FILES.items():
        pyarrow.parquet.write_table(pyarrow.table(columns), folder / name)
    options = {"corpus": ["corpus"], "queries": "queries", "judgements": {"test": "qrels"}, "passages": passages}
    entry = task(reader="beir_hub", kind="ranking", labels=[], options=options)
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


def test_a_judgement_of_what_is_not_there_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(FILES, "qrels", {"query-id": [9], "corpus-id": ["p1"], "score": [1]})
    with pytest.raises(ReprlabError, match="judges passage p1 for query 9"):
        examples(tmp_path, 3)
