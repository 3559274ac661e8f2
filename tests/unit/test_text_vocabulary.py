"""The id layout that T5 and DEPTH share (spec 2.1, 5.3)."""

import json

import numpy as np
import pytest
from reprlab.runtime.errors import ReprlabError
from reprlab.text.vocabulary import Vocabulary


def test_published_ids() -> None:
    vocabulary = Vocabulary(32_000)
    assert vocabulary.tokens()["<extra_id_0>"] == 32_099
    assert vocabulary.tokens()["<extra_id_99>"] == 32_000
    assert vocabulary.tokens()["<sent_0>"] == 32_100
    assert vocabulary.tokens()["<sent_19>"] == 32_119
    assert vocabulary.eosen_id == 32_120
    assert vocabulary.size == 32_121
    # T5's own embedding has this many rows, so DEPTH's 21 tokens add no parameter.
    assert vocabulary.padded_size == 32_128


@pytest.mark.parametrize("pieces", [3, 64, 4_096, 4_099, 32_000])
def test_layout_is_dense_and_padded(pieces: int) -> None:
    vocabulary = Vocabulary(pieces, sentinels=7, sentences=5)
    assert sorted(vocabulary.tokens().values()) == list(range(pieces, vocabulary.size))
    assert vocabulary.padded_size % 8 == 0
    assert 0 <= vocabulary.padded_size - vocabulary.size < 8


def test_membership() -> None:
    vocabulary = Vocabulary(50)
    ids = np.arange(vocabulary.size)
    assert ids[vocabulary.is_sentence(ids)].tolist() == vocabulary.sentence_ids.tolist()
    assert ids[~vocabulary.is_special(ids)].tolist() == list(range(3, 50))


def test_save_and_load(tmp_path) -> None:
    vocabulary = Vocabulary(100, 30, 10)
    vocabulary.save(tmp_path)
    assert Vocabulary.load(tmp_path) == vocabulary
    record = json.loads((tmp_path / "vocabulary.json").read_text())
    assert record["sentinels"][0] == 129
    assert (record["pad"], record["eos"], record["unk"]) == (0, 1, 2)


@pytest.mark.parametrize("change", [{"eosen": 5}, {"pieces": "many"}, {"sentinels": None}, {"size": 1}])
def test_foreign_layout_is_refused(tmp_path, change: dict) -> None:
    Vocabulary(100).save(tmp_path)
    path = tmp_path / "vocabulary.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ReprlabError, match=r"vocabulary\.json"):
        Vocabulary.load(tmp_path)


def test_missing_or_empty_vocabulary(tmp_path) -> None:
    with pytest.raises(ReprlabError, match="no such file"):
        Vocabulary.load(tmp_path)
    with pytest.raises(ReprlabError, match="pieces"):
        Vocabulary(2)
