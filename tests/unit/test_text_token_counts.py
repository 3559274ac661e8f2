"""Token counts: one pass, truncation, special tokens, and what is refused."""

import numpy as np
import pyarrow
import pytest
from finetune_fixtures import make_examples, make_tokenizer, sentiment_rows
from reprlab.artifacts.tables import read_tsv, write_parquet
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.count_tokens import count_tokens
from reprlab.text.model_tokenizers import load_tokenizer
from reprlab.text.token_counts import CountSettings, add_ids, load_counts, scan_counts


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("counts")
    make_tokenizer(folder / "tokenizer")
    make_examples(folder / "single.parquet", "single", sentiment_rows(7), ["0", "1"])
    pairs = [{"text_a": "the film", "text_b": "was good", "label": "0"}, {"text_a": "a", "text_b": "b c", "label": "1"}]
    make_examples(folder / "pair.parquet", "pair", pairs, ["0", "1"])
    return folder


def naive(tokenizer, rows, length):
    counts = np.zeros(len(tokenizer), dtype=np.int64)
    for texts in rows:
        for number in tokenizer(*texts, truncation=True, max_length=length)["input_ids"]:
            counts[number] += 1
    return counts


@pytest.mark.parametrize("length", [3, 5, 128])
def test_counts_of_examples_are_those_of_a_plain_loop(folder, length):
    tokenizer = load_tokenizer(folder / "tokenizer")
    found = scan_counts(folder / "single.parquet", tokenizer, CountSettings(source="examples", max_length=length))
    expected = naive(tokenizer, [[row["text"]] for row in sentiment_rows(7)], length)
    assert sorted(found.counts) == ["test", "train", "validation"] and found.rows["train"] == 7
    assert all(np.array_equal(counts, expected) for counts in found.counts.values())
    assert np.array_equal(found.together(["train", "test", "absent"]), 2 * expected)


def test_both_texts_of_a_pair_count(folder):
    tokenizer = load_tokenizer(folder / "tokenizer")
    found = scan_counts(folder / "pair.parquet", tokenizer, CountSettings(source="examples", max_length=16))
    assert found.counts["train"].sum() == 4 + 3


def test_token_files_are_counted_without_a_tokenizer_run(folder, tmp_path):
    ids = pyarrow.array([[3, 3, 4], [5], []], pyarrow.list_(pyarrow.int32()))
    table = pyarrow.table({"split": ["train", "test", "train"], "input_ids": ids})
    write_parquet(tmp_path / "t.parquet", table)
    tokenizer = load_tokenizer(folder / "tokenizer")
    found = scan_counts(tmp_path / "t.parquet", tokenizer, CountSettings(source="tokens"))
    assert found.counts["train"][[3, 4, 5]].tolist() == [2, 1, 0] and found.counts["test"][5] == 1
    assert found.rows == {"train": 2, "test": 1}


def test_the_stage_writes_counts_that_can_be_read_and_their_totals(folder, tmp_path):
    out, summary = tmp_path / "c.safetensors", tmp_path / "c.tsv"
    count_tokens(
        source=folder / "single.parquet", tokenizer=folder / "tokenizer", out=out, summary=summary,
        settings=CountSettings(source="examples", max_length=128),
    )  # fmt: skip
    counts, totals = load_counts(out), read_tsv(summary).set_index("split")
    assert totals.loc["train", "tokens"] == counts.counts["train"].sum()
    assert totals.loc["train", "unique"] == (counts.counts["train"] > 0).sum()
    assert totals.loc["train", "rows"] == counts.rows["train"] == 7


def test_ids_of_another_tokenizer_are_refused():
    for ids in ([4], [-1]):
        with pytest.raises(ReprlabError, match="outside 0 to 3"):
            add_ids(np.zeros(4, dtype=np.int64), np.array(ids))


def test_other_tables_and_damaged_counts_are_refused(folder, tmp_path):
    write_parquet(tmp_path / "t.parquet", pyarrow.table({"split": ["train"], "tokens": ["x"]}))
    with pytest.raises(ReprlabError, match="neither a column text"):
        scan_counts(tmp_path / "t.parquet", load_tokenizer(folder / "tokenizer"), CountSettings(source="examples"))
    (tmp_path / "c.safetensors").write_bytes(b"x")
    with pytest.raises(ReprlabError, match="delete it and run again"):
        load_counts(tmp_path / "c.safetensors")
