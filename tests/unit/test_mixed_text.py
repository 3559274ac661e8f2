"""Text of models of code and prose: whole files as documents, Parquet of the hub, mixtures, a start token."""

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from data_fixtures import file_set, make_zip, opened
from reprlab.data.readers import parquet_texts, whole_files
from reprlab.data.sources import Sources
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.mix_corpora import mix_corpora
from reprlab.stages.segment_documents import segment_documents
from reprlab.text.segmentation import SegmentationSettings
from reprlab.text.sequences import EncodedPassages, t5_sequences
from reprlab.text.vocabulary import Vocabulary

CODE = "def f(x):\n\treturn x\n\n\nclass A:\n    pass\n"


def archive_of(tmp_path, members, wanted):
    found = opened(make_zip(tmp_path / "a.zip", members), tmp_path / "cache")
    return Sources({"sample": type(found)(**{**vars(found), "wanted": wanted, "_cached": {}})})


def test_files_are_documents_as_they_are(tmp_path):
    members = {"lib/a.py": CODE.encode(), "lib/test/b.py": b"import a\n" * 9, "lib/c.py": b"x\n", "d.txt": b"no" * 99}
    settings = whole_files.Settings(folder="/lib/", without=["test/"], least_characters=5)
    rows = list(whole_files.read(archive_of(tmp_path, members, ("lib/*.py",)), settings, SplitSettings()))
    assert rows == [{"id": "sample-a.py", "text": CODE, "source": "sample"}]


def test_a_file_in_another_encoding_is_named(tmp_path):
    sources = archive_of(tmp_path, {"lib/a.py": b"caf\xe9"}, ("lib/*.py",))
    with pytest.raises(ReprlabError, match="not utf-8"):
        list(whole_files.read(sources, whole_files.Settings(), SplitSettings()))


def test_rows_of_parquet_are_documents(tmp_path):
    table = pyarrow.table({"content": ["one", None, " ", "two\n  three", "four"], "type": [1, 2, 3, 4, 5]})
    pyarrow.parquet.write_table(table, tmp_path / "train.parquet")
    files = [{"file": "train.parquet", "split": "train"}]
    settings = parquet_texts.Settings(files=files, column="content", validation_share=0.2)
    held = file_set({"train.parquet": (tmp_path / "train.parquet").read_bytes()}, tmp_path)
    rows = list(parquet_texts.read(held, settings, SplitSettings()))
    assert [(row["text"], row["split"]) for row in rows] == [
        ("one", "validation"), ("two\n  three", "train"), ("four", "train")
    ]  # fmt: skip
    wrong = parquet_texts.Settings(files=files, column="type")
    with pytest.raises(ReprlabError, match="its column type is of int64, not of texts"):
        list(parquet_texts.read(held, wrong, SplitSettings()))
    with pytest.raises(ReprlabError, match="has content, type and the entry reads text"):
        list(parquet_texts.read(held, parquet_texts.Settings(files=files, column="text"), SplitSettings()))


def documents(path, texts, title):
    columns = {
        "id": [f"d{number}" for number in range(len(texts))],
        "text": texts,
        "source": ["s"] * len(texts),
        "split": ["train" if number % 2 else "validation" for number in range(len(texts))],
    }
    about = {b"reprlab": f'{{"title": "{title}"}}'.encode()}
    pyarrow.parquet.write_table(pyarrow.table(columns).replace_schema_metadata(about), path)
    return path


def test_code_is_not_cut_into_sentences(tmp_path):
    out = tmp_path / "sentences.parquet"
    path = documents(tmp_path / "d.parquet", [CODE, "A. B.", "three", "four"], "x")
    segment_documents(documents=path, out=out, settings=SegmentationSettings(splitter="none"), limit=1)
    assert pyarrow.parquet.read_table(out)["sentences"].to_pylist() == [[CODE], ["A. B."]]


def test_a_mixture_has_all_rows_and_both_names(tmp_path):
    one = documents(tmp_path / "a.parquet", ["a", "b"], "Code")
    two = documents(tmp_path / "b.parquet", ["c"], "Prose")
    mix_corpora(tables=[one, two], out=tmp_path / "m.parquet")
    found = pyarrow.parquet.read_table(tmp_path / "m.parquet")
    assert found["text"].to_pylist() == ["a", "b", "c"]
    assert found.schema.metadata[b"reprlab"] == b'{"title": "Code + Prose"}'
    numbers = pyarrow.table({"text": [1, 2]})
    pyarrow.parquet.write_table(numbers, tmp_path / "n.parquet")
    with pytest.raises(ReprlabError, match="not of the type"):
        mix_corpora(tables=[one, tmp_path / "n.parquet"], out=tmp_path / "x.parquet")


def test_a_start_token_stands_before_each_text():
    encoded = EncodedPassages(np.array([11, 12, 13], np.int32), np.array([2, 1]), np.array([0, 1]), np.array([0, 0]), 2)
    vocabulary = Vocabulary(64)
    assert t5_sequences(encoded, vocabulary, 9, start=7).ids.tolist() == [7, 11, 12, 7, 13]
    assert t5_sequences(encoded, vocabulary, 2, start=7).ids.tolist() == [7, 11, 7, 13]
    end = vocabulary.eos_id
    assert t5_sequences(encoded, vocabulary, 9).ids.tolist() == [11, 12, end, 13, end]
