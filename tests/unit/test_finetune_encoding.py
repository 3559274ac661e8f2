"""Flat arrays of ids, the DEPTH format's known answer, and masks under both attention implementations."""

import re
from contextlib import nullcontext

import numpy as np
import pyarrow.parquet
import pytest
import torch
from finetune_fixtures import make_examples, make_t5, make_tokenizer
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.evaluation.examples import load_examples
from reprlab.runtime.errors import ReprlabError
from reprlab.training.finetuning_encoding import Ragged, _cut, encode_closed, encode_depth
from reprlab.training.finetuning_settings import TaskSettings
from reprlab.training.finetuning_text import TextToText
from transformers import AutoTokenizer, T5ForConditionalGeneration


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizer")
    vocabulary = make_tokenizer(folder)
    return folder, vocabulary, AutoTokenizer.from_pretrained(folder)


def test_a_column_of_another_type_is_named_and_one_of_nulls_is_not(tmp_path):
    row = {"text": "a", "label": "0", "split": "train", "subset": None}
    path = make_examples(tmp_path / "e.parquet", "single", [row], ["0"])
    table = pyarrow.parquet.read_table(path)
    kinds = (("subset", pyarrow.nulls(1), ""), ("text", pyarrow.array([3]), "its column text is int64"))
    for name, values, problem in kinds:
        changed = table.set_column(table.column_names.index(name), name, values)
        pyarrow.parquet.write_table(changed, path)
        with pytest.raises(ReprlabError, match=f"{problem}, expected string") if problem else nullcontext():
            assert len(load_examples(path, ["train"], {})["train"]) == 1


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(1, 9), max_size=6), min_size=1, max_size=8), st.randoms())
def test_padding_keeps_every_sequence(sequences, random):
    rows = np.array(random.sample(range(len(sequences)), k=random.randint(1, len(sequences))))
    padded = Ragged.of(sequences).pad(rows, 0)
    assert padded.shape == (len(rows), max(1, *(len(sequences[row]) for row in rows), 1))
    for line, row in zip(padded, rows, strict=True):
        assert line.tolist() == sequences[row] + [0] * (padded.shape[1] - len(sequences[row]))


def test_plain_format_keeps_the_end_token(tokenizer):
    _, _, pieces = tokenizer
    a, b = pieces.convert_tokens_to_ids(["a", "b"])
    encoded = encode_closed(pieces, ["a b", "a b a b", ""], 3, 1)
    assert encoded.pad(np.arange(3), 0).tolist() == [[a, b, 1], [a, b, 1], [1, 0, 0]]


def test_depth_format_known_answer(tokenizer):
    _, vocabulary, pieces = tokenizer
    a, b, c = pieces.convert_tokens_to_ids(["a", "b", "c"])
    s0, s1, s2 = vocabulary.sentence_ids[:3].tolist()
    z = vocabulary.eosen_id
    ids, types = encode_depth(pieces, [["a b", "c"], ["b"], ["a", "", "c"]], 64, vocabulary.sentence_ids, z, 1)
    rows = np.arange(3)
    assert ids.pad(rows, 0).tolist() == [
        [z, s0, a, b, z, s1, c, z, 1, 0],
        [z, s0, b, z, 1, 0, 0, 0, 0, 0],
        [z, s0, a, z, s1, z, s2, c, z, 1],
    ]
    assert types.pad(rows, 0).tolist() == [
        [1, 1, 1, 1, 1, 2, 2, 2, 2, 0],
        [1, 1, 1, 1, 1, 0, 0, 0, 0, 0],
        [1, 1, 1, 1, 2, 2, 3, 3, 3, 3],
    ]


def test_depth_format_cuts_and_merges(tokenizer):
    _, vocabulary, pieces = tokenizer
    a, b = pieces.convert_tokens_to_ids(["a", "b"])
    z, s0 = vocabulary.eosen_id, int(vocabulary.sentence_ids[0])
    ids, types = encode_depth(pieces, [["a a a a a a"], ["b"]], 6, vocabulary.sentence_ids, z, 1)
    assert ids.pad(np.arange(2), 0).tolist() == [[z, s0, a, a, z, 1], [z, s0, b, z, 1, 0]]
    assert types.pad(np.arange(2), 0).tolist() == [[1] * 6, [1] * 5 + [0]]
    many, kinds = encode_depth(pieces, [[" a"] * 25], 512, vocabulary.sentence_ids, z, 1)
    assert kinds.flat.max() == 20
    assert (many.flat == a).sum() == 25
    assert np.isin(vocabulary.sentence_ids, many.flat).all()


@pytest.mark.parametrize("mask_padding", [True, False])
def test_depth_masks_agree_between_attention_implementations(tokenizer, tmp_path, mask_padding):
    folder, vocabulary, pieces = tokenizer
    task = TaskSettings(
        kind="text_to_text", template="sp_arxiv", metrics=["accuracy"], input_length=48, target_length=8,
        depth_format=True, mask_padding=mask_padding,
    )  # fmt: skip
    rows = [{"sentences": ["a b c", "d e", "a"], "label": "0"}, {"sentences": ["e", "b"], "label": "1"}]
    examples = make_examples(tmp_path / "e.parquet", "sentences", rows, ["0", "1"])
    words = TextToText(
        task.model_copy(update={"label_words": ["First sentence", "Second sentence"]}), ("0", "1"), pieces, folder
    )
    split = words.encode(load_examples(examples, ["train"], {})["train"])
    batch = words.batch(split, np.arange(2))
    assert batch["ids"].shape[1] == (48 if not mask_padding else int(split.inputs.lengths.max()))
    folder_of_model = make_t5(tmp_path / "t5", vocabulary)
    losses = {}
    for attention in ("eager", "sdpa"):
        model = T5ForConditionalGeneration.from_pretrained(folder_of_model, attn_implementation=attention).eval()
        losses[attention] = words.loss(model, batch)[0].item()
    assert losses["eager"] == pytest.approx(losses["sdpa"], abs=1e-5)
    plain = {**batch, "types": torch.ones_like(batch["types"])}
    assert abs(words.loss(model, plain)[0].item() - losses["sdpa"]) > 1e-6, "the sentence mask changes nothing"


def test_padding_does_not_change_the_loss_of_an_example(tokenizer, tmp_path):
    folder, vocabulary, pieces = tokenizer
    task = TaskSettings(
        kind="text_to_text", template="dc_chat", metrics=["accuracy"], input_length=64, depth_format=True
    )
    rows = [{"sentences": ["a b c", "d e", "a"], "label": "0"}, {"sentences": ["e"], "label": "0"}]
    examples = make_examples(tmp_path / "e.parquet", "sentences", rows, ["0", "1"])
    chat = TextToText(task, ("0", "1"), pieces, folder)
    split = chat.encode(load_examples(examples, ["train"], {})["train"])
    model = chat.load(make_t5(tmp_path / "t5", vocabulary), 0.0).eval()
    together, parts = chat.loss(model, chat.batch(split, np.array([0, 1])))
    alone = [chat.loss(model, chat.batch(split, np.array([row])))[1]["loss_sum"].item() for row in (0, 1)]
    assert parts["loss_sum"].item() == pytest.approx(sum(alone), rel=1e-5)
    assert together.item() == pytest.approx(sum(alone) / parts["count"].item(), rel=1e-5)


def test_labels_outside_the_set_raise(tmp_path):
    from reprlab.evaluation.examples import common_labels

    rows = [{"text": "a", "label": "0"}, {"text": "b", "label": "-1"}]
    path = make_examples(tmp_path / "e.parquet", "single", rows, ["0", "1"])
    with pytest.raises(ReprlabError, match=r"e\.parquet: example 1-train has label '-1', expected one of 0, 1"):
        common_labels(load_examples(path, ["train"], {}), [])
    with pytest.raises(ReprlabError, match="no example in split 'dev'"):
        load_examples(path, ["dev"], {})


def test_limits_choose_the_same_mixed_rows(tmp_path):
    rows = [{"source": str(n), "targets": ["x"], "task": "first" if n < 50 else "second"} for n in range(100)]
    path = make_examples(tmp_path / "e.parquet", "text_to_text", rows)
    tables = [load_examples(path, ["train"], {"train": 20})["train"] for _ in range(2)]
    assert tables[0].columns == tables[1].columns
    assert len(tables[0]) == 20 and len(set(tables[0].columns["task"])) == 2
    capped = load_examples(path, ["train"], {}, per_task=7)["train"]
    assert sorted(capped.columns["task"]) == ["first"] * 7 + ["second"] * 7


def test_a_label_longer_than_the_target_raises(tokenizer):
    folder, _, pieces = tokenizer
    task = TaskSettings(kind="text_to_text", template="sp_wiki", metrics=["accuracy"], input_length=16, target_length=2)
    with pytest.raises(ReprlabError, match=r"target_length 2: .* needs (\d+) tokens") as found:
        TextToText(task, tuple("01234"), pieces, folder)
    needed = int(re.search(r"needs (\d+)", str(found.value))[1])
    # With so many it fits, though this tokenizer knows none of the words; with one less it does not.
    for length, why in ((needed, "spells two of"), (needed - 1, "raise target_length")):
        with pytest.raises(ReprlabError, match=why):
            TextToText(task.model_copy(update={"target_length": length}), tuple("01234"), pieces, folder)


def test_a_text_that_is_cut_ends_with_its_last_sentence():
    ids, types = Ragged.of([[11, 12, 13, 14, 15, 16], [17]]), Ragged.of([[1, 1, 2, 3, 4, 5], [7]])
    cut, kinds = _cut(ids, types, 4, 50, 60)
    assert cut.pad(np.arange(2), 0).tolist() == [[11, 12, 50, 60], [17, 0, 0, 0]]
    assert kinds.pad(np.arange(2), 0).tolist() == [[1, 1, 2, 2], [7, 0, 0, 0]]
