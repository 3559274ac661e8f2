"""Tokenizers, token sequences and the token store."""

import filecmp
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.artifacts.tables import read_parquet, write_parquet
from reprlab.reporting.prune import prunable
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.tokenize_corpus import tokenize_corpus
from reprlab.stages.train_tokenizer import train_tokenizer
from reprlab.text import flat_tokens, sequences
from reprlab.text.flat_tokens import flat_folder
from reprlab.text.token_settings import TokenStorageSettings
from reprlab.text.token_store import TokenStore
from reprlab.text.tokenizer_folder import open_tokenizer
from reprlab.text.tokenizers import TokenizerSettings
from reprlab.text.vocabulary import Vocabulary
from text_fixtures import prose


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    rows = []
    for i, text in enumerate(prose(200, seed=3)):
        parts = [s.strip() + "." for s in text.replace("\n", " ").split(". ") if s.strip()]
        rows.append({"split": "validation" if i % 5 == 4 else "train", "sentences": parts})
    # Only validation knows this word: a tokenizer that has read beyond the train split would learn it.
    rows += [{"split": "validation", "sentences": ["ξυλόφωνα ζέφυρος"] * 19}] * 30
    path = tmp_path_factory.mktemp("corpus") / "sentences.parquet"
    write_parquet(path, pyarrow.Table.from_pylist(rows))
    return path


@pytest.fixture(scope="module")
def folder(corpus, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("tokenizers") / "unigram"
    train_tokenizer(out=out, sentences=corpus, settings=TokenizerSettings(pieces=120))
    return out


def test_tokenizer_ids_are_the_layout(folder) -> None:
    tokenizer, vocabulary = open_tokenizer(folder), Vocabulary.load(folder)
    assert vocabulary == Vocabulary(120)
    assert len(tokenizer) == vocabulary.size
    assert tokenizer.convert_tokens_to_ids(["<pad>", "</s>", "<unk>", "<extra_id_0>", "<extra_id_99>"]) == [
        0, 1, 2, 219, 120,
    ]  # fmt: skip
    assert tokenizer.convert_tokens_to_ids(["<sent_0>", "<sent_19>", "<eosen>"]) == [220, 239, 240]
    assert (tokenizer.pad_token_id, tokenizer.eos_token_id, tokenizer.unk_token_id) == (0, 1, 2)


def test_tokenizer_round_trip_and_eos(folder) -> None:
    tokenizer = open_tokenizer(folder)
    text = "Mr. Darcy laughed at the weather."
    ids = tokenizer(text)["input_ids"]
    assert ids[-1] == 1
    assert tokenizer.decode(ids, skip_special_tokens=True) == text
    # NFKC and white space are normalised alike in training and in use.
    assert tokenizer("Mr. Darcy  laughed\u00a0at the weather.")["input_ids"] == ids
    # A sentence gives the same pieces alone and within a text.
    assert tokenizer(text + " " + text, add_special_tokens=False)["input_ids"] == ids[:-1] * 2


def test_tokenizer_reads_the_train_split_only(folder) -> None:
    tokenizer = open_tokenizer(folder)
    assert tokenizer.unk_token_id in tokenizer("ξυλόφωνα ζέφυρος")["input_ids"]


def test_tokenizer_is_deterministic(corpus, folder, tmp_path) -> None:
    again = tmp_path / "again"
    train_tokenizer(out=again, sentences=corpus, settings=TokenizerSettings(pieces=120))
    names = sorted(path.name for path in folder.iterdir())
    assert filecmp.cmpfiles(folder, again, names, shallow=False) == (names, [], [])


def test_published_tokenizer_gets_the_21_tokens(folder, tmp_path) -> None:
    plain = tmp_path / "published"
    tokenizer = _without_sentence_tokens(folder)
    tokenizer.save_pretrained(plain)
    assert len(open_tokenizer(plain)) == 220
    out = tmp_path / "extended"
    wanted = TokenizerSettings(source="model", model=str(plain), pieces=120)
    train_tokenizer(out=out, settings=wanted)
    extended = open_tokenizer(out)
    assert extended.get_vocab() == open_tokenizer(folder).get_vocab()
    assert extended("Mr. Darcy<eosen>")["input_ids"][-2:] == [240, 1]
    with pytest.raises(ReprlabError, match="set pieces"):
        train_tokenizer(out=tmp_path / "wrong", settings=wanted.model_copy(update={"pieces": 119}))
    assert not (tmp_path / "wrong").exists()


def _without_sentence_tokens(folder: Path):
    from transformers import T5Tokenizer

    known = open_tokenizer(folder).get_vocab()
    pieces = sorted((index, piece) for piece, index in known.items() if index < 220)
    return T5Tokenizer(vocab=[(piece, 0.0 if index < 3 else -1.0 - index / 100) for index, piece in pieces])


def test_tokenizer_errors(corpus, tmp_path) -> None:
    with pytest.raises(ReprlabError, match="fewer"):
        train_tokenizer(out=tmp_path / "x", sentences=corpus, settings=TokenizerSettings(pieces=30_000))
    with pytest.raises(ReprlabError, match="neither a folder"):
        train_tokenizer(out=tmp_path / "x", settings=TokenizerSettings(source="model", model=str(tmp_path / "none")))
    with pytest.raises(ReprlabError, match="--sentences"):
        train_tokenizer(out=tmp_path / "x", settings=TokenizerSettings())
    with pytest.raises(ReprlabError, match="no tokenizer"):
        open_tokenizer(tmp_path)


passages_of_ids = st.lists(
    st.lists(st.lists(st.integers(3, 49), max_size=5), max_size=6), min_size=1, max_size=5
)  # passages x sentences x tokens


class FakeTokenizer:
    """Sentences are already ids, written as words; none of them is special."""

    added_tokens_decoder: ClassVar[dict[int, object]] = {}
    all_special_ids: ClassVar[list[int]] = []
    unk_token_id = None

    def __call__(self, sentences, **_):
        return {"input_ids": [[int(word) for word in sentence.split()] for sentence in sentences]}


def encoded_of(passages: list[list[list[int]]], vocabulary: Vocabulary) -> sequences.EncodedPassages:
    texts = [[" ".join(map(str, sentence)) for sentence in passage] for passage in passages]
    return sequences.encode_passages(FakeTokenizer(), texts, vocabulary)


@settings(max_examples=60, deadline=None)
@given(passages_of_ids, st.integers(8, 20))
def test_sequences_equal_a_loop(passages, max_length) -> None:
    vocabulary = Vocabulary(50, 10, 4)
    encoded = encoded_of(passages, vocabulary)
    drawn = sequences.draw_sentence_tokens(len(passages), vocabulary, np.random.default_rng(0))
    depth = sequences.depth_sequences(encoded, vocabulary, max_length, drawn)
    plain = sequences.t5_sequences(encoded, vocabulary, max_length)
    for row, passage in enumerate(passages):
        filled = [sentence for sentence in passage if sentence]
        wanted, types = [vocabulary.eosen_id], [1]
        for number, sentence in enumerate(filled[:4]):
            wanted += [int(drawn[row, number]), *sentence, vocabulary.eosen_id]
            types += [number + 1] * (len(sentence) + 2)
        wanted, types = [*wanted, 1], [*types, types[-1]]
        cut = slice(depth.offsets[row], depth.offsets[row + 1])
        assert depth.ids[cut].tolist() == wanted[:max_length]
        assert depth.types[cut].tolist() == types[:max_length]
        text = [token for sentence in filled for token in sentence]
        assert plain.ids[plain.offsets[row] : plain.offsets[row + 1]].tolist() == [*text[: max_length - 1], 1]


def test_sentence_tokens_are_uniform_orders() -> None:
    vocabulary = Vocabulary(50, 10, 3)
    drawn = sequences.draw_sentence_tokens(6_000, vocabulary, np.random.default_rng(1))
    orders, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(orders) == 6
    assert np.abs(counts - 1_000).max() < 5 * np.sqrt(1_000 * 5 / 6)


def test_text_cannot_smuggle_special_tokens(folder) -> None:
    tokenizer, vocabulary = open_tokenizer(folder), Vocabulary.load(folder)
    encoded = sequences.encode_passages(tokenizer, [["the </s> weather<eosen> <sent_3>"]], vocabulary)
    assert set(encoded.ids[vocabulary.is_special(encoded.ids)]) == {vocabulary.unk_id}


@pytest.mark.parametrize("layout", ["t5", "depth"])
def test_stage_writes_rows_of_the_format(corpus, folder, tmp_path, layout: str) -> None:
    vocabulary = Vocabulary.load(folder)
    outputs = [tmp_path / "one.parquet", tmp_path / "two.parquet"]
    wanted = TokenStorageSettings(format=layout, max_length=64, seed=5)
    for out in outputs:
        tokenize_corpus(sentences=corpus, tokenizer=folder, out=out, settings=wanted)
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    table = read_parquet(outputs[0])
    assert table.num_rows == read_parquet(corpus).num_rows
    assert table.schema.field("input_ids").type == pyarrow.list_(pyarrow.int32())
    rows, types = table["input_ids"].to_pylist(), table["token_types"].to_pylist()
    assert max(map(len, rows)) == 64
    for ids, numbers in zip(rows, types, strict=True):
        assert len(ids) == len(numbers)
        if layout == "t5":
            assert ids[-1] == 1
            assert max(ids) < vocabulary.pieces
        else:
            assert ids[0] == vocabulary.eosen_id
            sent = [i for i in ids if vocabulary.is_sentence(np.int64(i))]
            assert len(set(sent)) == len(sent) == max(numbers)
    if layout == "depth":
        tokenize_corpus(
            sentences=corpus, tokenizer=folder, out=outputs[1], settings=wanted.model_copy(update={"seed": 6})
        )
        assert outputs[0].read_bytes() != outputs[1].read_bytes()
        few = wanted.model_copy(update={"max_sentences": 2, "max_length": 512})
        tokenize_corpus(sentences=corpus, tokenizer=folder, out=outputs[1], settings=few)
        assert max(max(t) for t in read_parquet(outputs[1])["token_types"].to_pylist()) == 2


def token_table(path: Path, rows: list[list[int]], splits: list[str]) -> Path:
    table = pyarrow.table(
        {
            "split": splits,
            "input_ids": pyarrow.array(rows, pyarrow.list_(pyarrow.int32())),
            "token_types": pyarrow.array([[1] * len(row) for row in rows], pyarrow.list_(pyarrow.int16())),
        }
    )
    write_parquet(path, table)
    return path


def test_store_gathers_cuts_and_pads(tmp_path) -> None:
    path = token_table(tmp_path / "t.parquet", [[5, 6, 1], [9] * 4, [7, 1], [8, 8, 8, 8, 1]], ["a", "b", "a", "a"])
    store = TokenStore.open(path, "a")
    assert len(store) == 3
    assert store.lengths[np.arange(3)].tolist() == [3, 2, 5]
    ids, types, lengths = store.batch(np.array([2, 1, 2]), length=4)
    assert ids.tolist() == [[8, 8, 8, 8], [7, 1, 0, 0], [8, 8, 8, 8]]
    assert types.tolist() == [[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 1]]
    assert lengths.tolist() == [4, 2, 4]
    assert (ids.dtype, types.dtype) == (np.int32, np.int16)
    assert store.batch(np.array([1]), length=4)[0].tolist() == [[7, 1]]
    assert store.batch(np.array([1]), length=4, fixed_length=True)[0].tolist() == [[7, 1, 0, 0]]


def test_store_packs(tmp_path) -> None:
    path = token_table(tmp_path / "t.parquet", [[5, 6, 1], [7, 1], [8, 8, 8, 8, 1]], ["a"] * 3)
    store = TokenStore.open(path, "a", packing=4)
    assert store.batch(np.arange(len(store)), length=4)[0].tolist() == [[5, 6, 1, 7], [1, 8, 8, 8]]
    with pytest.raises(ReprlabError, match="packed row"):
        TokenStore.open(path, "a", packing=11)


def test_store_errors(tmp_path) -> None:
    path = token_table(tmp_path / "t.parquet", [[5, 1]], ["train"])
    with pytest.raises(ReprlabError, match="validation"):
        TokenStore.open(path, "validation")
    with pytest.raises(ReprlabError, match="no such file"):
        TokenStore.open(tmp_path / "none.parquet", "train")
    path = token_table(tmp_path / "s.parquet", [[5, 1]], ["qqqq"])
    path.write_bytes(path.read_bytes().replace(b"qqqq", b"\x80qqq"))
    with pytest.raises(ReprlabError, match="not readable as Parquet"):
        TokenStore.open(path, "qqqq")


def random_rows(rows: int, seed: int = 0) -> list[list[int]]:
    random = np.random.default_rng(seed)
    return [random.integers(1, 32_128, random.integers(1, 40)).tolist() for _ in range(rows)]


@pytest.mark.parametrize("packing", [0, 16])
def test_a_mapped_store_is_the_store_in_memory(tmp_path, packing: int) -> None:
    path = token_table(tmp_path / "t.parquet", random_rows(300), ["a", "b", "a"] * 100)
    loaded = TokenStore.open(path, "a", packing=packing)
    mapped = TokenStore.open(path, "a", packing=packing, in_memory=0)
    assert isinstance(mapped.ids, np.memmap) and not isinstance(loaded.ids, np.memmap)
    # Three bytes a token on disk, where Arrow has six.
    assert (mapped.ids.dtype, mapped.types.dtype) == (np.uint16, np.uint8)
    assert len(mapped) == len(loaded)
    everything = np.random.default_rng(1).permutation(len(loaded))
    assert np.array_equal(mapped.lengths[everything], loaded.lengths[everything])
    for ours, theirs in zip(mapped.batch(everything, 20), loaded.batch(everything, 20), strict=True):
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("rows", "dtype"),
    [
        ([[1, 255], [7]], np.uint8),
        ([[1, 255], [256], [3]], np.uint16),
        ([[1, 2, 3], [65_536, 1], [128_255]], np.uint32),
    ],
)
def test_unpacked_ids_have_the_smallest_type_that_holds_all(tmp_path, monkeypatch, rows, dtype) -> None:
    monkeypatch.setattr(flat_tokens, "_ROWS", 1)
    store = TokenStore.open(token_table(tmp_path / "t.parquet", rows, ["a"] * len(rows)), "a", in_memory=0)
    assert store.ids.dtype == dtype
    assert store.ids.tolist() == [number for row in rows for number in row]
    assert store.offsets.tolist() == np.cumsum([0, *map(len, rows)]).tolist()


def test_unpacked_tokens_are_shared_and_follow_their_file(tmp_path) -> None:
    path = token_table(tmp_path / "t.parquet", [[5, 6, 1], [7, 1]], ["a", "a"])
    TokenStore.open(path, "a", in_memory=0)
    files = [flat_folder(path) / "a" / f"{name}.npy" for name in ("ids", "types", "offsets")]
    made = [file.stat().st_mtime_ns for file in files]
    TokenStore.open(path, "a", in_memory=0)
    assert [file.stat().st_mtime_ns for file in files] == made
    token_table(path, [[9, 9, 9, 1], [8, 1]], ["a", "a"])
    assert TokenStore.open(path, "a", in_memory=0).batch(np.arange(2), 8)[0].tolist() == [[9, 9, 9, 1], [8, 1, 0, 0]]
    with pytest.raises(ReprlabError, match="no rows of the split 'b'"):
        TokenStore.open(path, "b", in_memory=0)
    assert not (flat_folder(path) / "b").exists()


def test_row_groups_of_other_splits_are_not_read(tmp_path, monkeypatch) -> None:
    path, parts = tmp_path / "t.parquet", []
    for splits in (["train"] * 2, ["train"] * 2, ["train", "validation"], ["validation"] * 2):
        parts.append(pyarrow.parquet.read_table(token_table(tmp_path / "part.parquet", [[5, 1], [6, 1]], splits)))
    with pyarrow.parquet.ParquetWriter(path, parts[0].schema) as writer:
        for part in parts:
            writer.write_table(part)
    read = []
    original = flat_tokens.read_batches

    def recorded(path, columns, rows, groups):
        read.append(groups)
        return original(path, columns, rows, groups)

    monkeypatch.setattr(flat_tokens, "read_batches", recorded)
    assert (len(TokenStore.open(path, "train")), len(TokenStore.open(path, "validation"))) == (5, 3)
    assert read == [[0, 1, 2], [2, 3]]


def test_unpacked_tokens_are_pruned(tmp_path) -> None:
    path = tmp_path / "runs/paper/results/shared/tokens/c4.parquet"
    path.parent.mkdir(parents=True)
    TokenStore.open(token_table(path, [[5, 1]], ["a"]), "a", in_memory=0)
    assert prunable(tmp_path, tmp_path / "cache") == [flat_folder(path)]


def test_memory_of_a_mapped_store_does_not_grow_with_the_corpus(tmp_path) -> None:
    import tracemalloc

    peaks = []
    for rows in (2_000, 40_000):
        path = tmp_path / f"{rows}.parquet"
        schema = pyarrow.schema(
            [
                ("split", pyarrow.string()),
                ("input_ids", pyarrow.list_(pyarrow.int32())),
                ("token_types", pyarrow.list_(pyarrow.int16())),
            ]
        )
        with pyarrow.parquet.ParquetWriter(path, schema) as writer:
            for _ in range(rows // 2_000):
                ids = pyarrow.array(np.full((2_000, 100), 7, np.int32).tolist(), pyarrow.list_(pyarrow.int32()))
                types = ids.cast(pyarrow.list_(pyarrow.int16()))
                writer.write_table(pyarrow.table([["a"] * 2_000, ids, types], schema=schema))
        TokenStore.open(path, "a", in_memory=0)
        tracemalloc.start()
        before = pyarrow.total_allocated_bytes()
        store = TokenStore.open(path, "a", packing=64, in_memory=0)
        store.lengths[np.arange(50)]
        store.batch(np.arange(50), 64)
        peaks.append(tracemalloc.get_traced_memory()[1] + pyarrow.total_allocated_bytes() - before)
        tracemalloc.stop()
    # The larger file has 4 million tokens; a copy of any of its columns would show.
    assert peaks[1] < peaks[0] + 100_000, peaks


@pytest.mark.parametrize(
    ("ids", "types", "message"),
    [
        ([1, 2], [[1], [1]], "input_ids is int64"),
        ([["a"], ["b"]], [[1], [1]], r"input_ids is list<.*string>"),
        ([[1], None], [[1], [1]], "input_ids has missing values"),
        ([[1], [2, None]], [[1], [1, 1]], "input_ids has missing values"),
        ([[1], [2, 3]], [[1, 1], [1]], "differ in length"),
    ],
)
def test_columns_of_another_kind_are_named(tmp_path, ids, types, message) -> None:
    path = tmp_path / "t.parquet"
    write_parquet(path, pyarrow.table({"split": ["a", "a"], "input_ids": ids, "token_types": types}))
    with pytest.raises(ReprlabError, match=message):
        TokenStore.open(path, "a")


def test_targets_of_pairs_are_tokenised_as_passages_are(folder, tmp_path) -> None:
    texts = ["Mr. Darcy laughed at the weather.", "Their aunt was heartily tired of a ball at Netherfield."]
    tables = {
        "passages": [{"split": "train", "sentences": [text]} for text in texts],
        "pairs": [{"split": "train", "source": "never read", "targets": [text]} for text in texts],
    }
    written = {}
    for name, rows in tables.items():
        write_parquet(tmp_path / f"{name}.parquet", pyarrow.Table.from_pylist(rows))
        tokenize_corpus(
            sentences=tmp_path / f"{name}.parquet",
            tokenizer=folder,
            out=tmp_path / f"{name}_tokens.parquet",
            settings=TokenStorageSettings(format="t5", max_length=64),
        )
        written[name] = read_parquet(tmp_path / f"{name}_tokens.parquet").to_pylist()
    assert written["pairs"] == written["passages"] and len(written["pairs"]) == 2
