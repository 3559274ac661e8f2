"""Prompts, label tokens, collection of states: against released indices, by families of tokenizers, and invariances."""

import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import torch
from reprlab.data.schema import METADATA_KEY
from reprlab.models.build import build_from_config
from reprlab.registry.models import ModelEntry, ScratchOrigin
from reprlab.representations.collection import batches_by_length, collect_states, left_padded
from reprlab.representations.dimensions import dimension_rows
from reprlab.representations.files import layer_files, read_layer
from reprlab.representations.label_tokens import label_token_ids
from reprlab.representations.prompts import build_rows, demonstration_indices
from reprlab.representations.settings import DimensionSettings, PromptSettings
from reprlab.representations.tokens import encode_texts
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.build_prompts import build_prompts
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

SETTINGS = PromptSettings(template="{text}?", split="validation", train_items=3, validation_items=2, demonstrations=2)
ROWS = [{"id": f"t{i}", "split": "train", "text": f"train {i}", "label": "ab"[i % 2]} for i in range(3)] + [
    {"id": f"v{i}", "split": "validation", "text": f"item {i}", "label": "ab"[i % 2]} for i in range(2)
]
LLAMA = {
    "vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 64,
}  # fmt: skip


def llama():
    entry = ModelEntry(
        architecture="llama", config=LLAMA, source="test", tie_output=True, origin=ScratchOrigin(kind="scratch")
    )
    return build_from_config(entry, seed=0).eval()


def gpt2():
    torch.manual_seed(0)
    return GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=64, n_embd=32, n_layer=2, n_head=4)).eval()


def random_prompts(end=7):
    rng = np.random.default_rng(0)
    return [[*rng.integers(3, 64, size).tolist(), end] for size in (3, 9, 21, 14, 5, 17)]


def states(model, prompts, folder, labels=(1, 2), batch_tokens=64):
    folder.mkdir(parents=True)
    logits = collect_states(model, prompts, labels, folder, batch_tokens)
    return np.stack([read_layer(path) for path in layer_files(folder)]), logits


def test_prompt_ends_with_a_line_and_holds_the_demonstrations():
    found = build_rows(ROWS, ["a", "b"], SETTINGS.model_copy(update={"words": ["yes", "no"]}))
    first, second = demonstration_indices(2, 3, SETTINGS)[0]
    words = ["yes", "no", "yes"]
    expected = f"train {first}?\n{words[first]}\n\ntrain {second}?\n{words[second]}\n\nitem 0?\n"
    assert found[0] == {"id": "v0", "prompt": expected, "label": "yes", "text": "item 0?\nyes"}
    zero = build_rows(ROWS, ["a", "b"], SETTINGS.model_copy(update={"demonstrations": 0}))
    assert [row["prompt"] for row in zero] == ["item 0?\n", "item 1?\n"]
    train = build_rows(ROWS, ["a", "b"], SETTINGS.model_copy(update={"demonstrations": 0, "split": "train"}))
    assert [row["text"] for row in train] == ["train 0?\na", "train 1?\nb", "train 2?\na"]


def test_demonstrations_are_the_released_ones_and_unique_ones_never_repeat():
    two = SETTINGS.model_copy(update={"seed": 42})
    assert demonstration_indices(3, 1000, two) == [[654, 114], [25, 759], [281, 250]]
    unique = two.model_copy(update={"unique": True, "demonstrations": 20})
    drawn = [index for indices in demonstration_indices(500, 10_000, unique) for index in indices]
    assert len(set(drawn)) == len(drawn) == 10_000
    with pytest.raises(ReprlabError, match="need 10020 training examples and there are 10000"):
        demonstration_indices(501, 10_000, unique)


def test_selection_is_by_hash_keeps_the_order_and_says_what_is_missing():
    many = [{**ROWS[0], "id": f"t{i}", "text": f"{i}"} for i in range(50)] + ROWS[3:]
    some = SETTINGS.model_copy(update={"train_items": 10, "split": "train", "demonstrations": 0})
    chosen = [int(row["id"][1:]) for row in build_rows(many, ["a", "b"], some)]
    assert len(chosen) == 10 and chosen == sorted(chosen) and chosen != list(range(10))
    more = [int(row["id"][1:]) for row in build_rows(many, ["a", "b"], some.model_copy(update={"train_items": 20}))]
    assert set(chosen) < set(more)
    with pytest.raises(ReprlabError, match="3 examples of validation are asked for and the data has 2"):
        build_rows(ROWS, ["a", "b"], SETTINGS.model_copy(update={"validation_items": 3}))
    with pytest.raises(ReprlabError, match="the columns are id, split, text, label"):
        build_rows(ROWS, ["a", "b"], SETTINGS.model_copy(update={"template": "{sentence}"}))
    with pytest.raises(ReprlabError, match="a word of its own"):
        build_rows(ROWS, ["a", "b"], SETTINGS.model_copy(update={"words": ["x", "x"]}))
    with pytest.raises(ReprlabError, match="data has 0"):
        build_rows(ROWS, ["a", "b"], SETTINGS.model_copy(update={"max_words": 1}))


def test_prompt_file(tmp_path):
    schema = pyarrow.table(
        {name: [row[name] for row in ROWS] for name in ("id", "split", "text", "label")}
    ).replace_schema_metadata({METADATA_KEY: json.dumps({"title": "T", "labels": ["a", "b"]}).encode()})
    pyarrow.parquet.write_table(schema, tmp_path / "examples.parquet")
    build_prompts(examples=tmp_path / "examples.parquet", out=tmp_path / "p.parquet", settings=SETTINGS)
    table = pyarrow.parquet.read_table(tmp_path / "p.parquet")
    assert table.column_names == ["id", "prompt", "label", "text"] and len(table) == 2
    assert json.loads(table.schema.metadata[METADATA_KEY])["labels"] == ["a", "b"]


TEXTS = ["Is it so?\nYes\n\nIs it?\nNo\n\nPerhaps?\nMaybe\n Yes No Maybe Yes No Maybe"] * 4


def sentencepiece_like(end=False):
    """Llama-2's and Mistral's kind: a space before the first word, spaces as `▁`, bytes as fallback."""
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Metaspace()
    special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    tokenizer.pre_tokenizer = pre_tokenizers.Split(pattern="▁", behavior="merged_with_next")
    tokenizer.train_from_iterator(
        [text.replace("\n", "") for text in TEXTS], trainers.BpeTrainer(vocab_size=400, special_tokens=special)
    )
    tokenizer.pre_tokenizer = None
    return wrapped(tokenizer, end)


def byte_level(end=False):
    """Llama-3's and SmolLM2's kind."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet)
    tokenizer.train_from_iterator(TEXTS, trainer)
    return wrapped(tokenizer, end)


def wrapped(tokenizer, end):
    from tokenizers.processors import TemplateProcessing

    ids = [(name, tokenizer.token_to_id(name)) for name in ("<s>", "</s>")]
    single = "<s> $A </s>" if end else "<s> $A"
    tokenizer.post_processor = TemplateProcessing(single=single, special_tokens=ids)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")


@pytest.mark.parametrize("end", [False, True])
def test_labels_of_a_sentencepiece_tokenizer(end):
    """T1: by itself "No" begins with a space, after a line end it does not."""
    tokenizer = sentencepiece_like(end)
    prompt = "Is it so?\n"
    in_context = label_token_ids(tokenizer, ["Yes", "No"], "in_context", prompt)
    bare = label_token_ids(tokenizer, ["Yes", "No"], "bare", prompt)
    assert tokenizer.convert_ids_to_tokens(bare)[1].startswith("▁")
    assert not any(token.startswith("▁") for token in tokenizer.convert_ids_to_tokens(in_context))
    assert set(in_context).isdisjoint(bare)
    whole = tokenizer("Is it so?\nNo")["input_ids"]
    place = len(encode_texts(tokenizer, [prompt])[0])
    assert whole[place] == in_context[1]


@pytest.mark.parametrize("end", [False, True])
def test_labels_of_a_byte_level_tokenizer(end):
    tokenizer = byte_level(end)
    in_context = label_token_ids(tokenizer, ["Yes", "No"], "in_context", "Is it so?\n")
    assert in_context == label_token_ids(tokenizer, ["Yes", "No"], "bare", "Is it so?\n")
    assert tokenizer.eos_token_id not in encode_texts(tokenizer, ["Is it so?\n"])[0]


def test_labels_that_cannot_be_told_apart():
    tokenizer = byte_level()
    with pytest.raises(ReprlabError, match="begin with the same token"):
        label_token_ids(tokenizer, ["Maybe", "Maybe not"], "in_context", "Is it so?\n")
    with pytest.raises(ReprlabError, match="joins the end of the prompt"):
        label_token_ids(tokenizer, ["", "No"], "in_context", "Is it so?\n")


@pytest.mark.parametrize("build", [llama, gpt2])
def test_states_do_not_depend_on_padding_or_neighbours(build, tmp_path):
    """Rotary and absolute positions (T8)."""
    model, prompts = build(), random_prompts()
    together, logits = states(model, prompts, tmp_path / "a")
    for row, prompt in enumerate(prompts):
        with torch.inference_mode():
            output = model(torch.tensor([prompt]), output_hidden_states=True)
        expected = torch.stack([layer[0, -1] for layer in output.hidden_states]).numpy()
        assert np.abs(together[:, row] - expected).max() < 1e-4
        assert np.abs(logits[row] - output.logits[0, -1, [1, 2]].numpy()).max() < 1e-4
    one, _ = states(model, prompts, tmp_path / "b", batch_tokens=1)
    assert np.abs(one - together).max() < 1e-4


def test_padding_id_inside_a_prompt_is_no_padding(tmp_path):
    """T9: id 0 pads, and stands in and at the end of prompts."""
    model = llama()
    prompts = [[5, 0, 9, 0], [0, 0, 4, 3, 8, 0, 0]]
    found, _ = states(model, prompts, tmp_path / "a")
    for row, prompt in enumerate(prompts):
        with torch.inference_mode():
            output = model(torch.tensor([prompt]), output_hidden_states=True)
        assert np.abs(found[-1, row] - output.hidden_states[-1][0, -1].numpy()).max() < 1e-4


def test_first_layer_is_one_vector_and_gives_no_dimension(tmp_path):
    found, _ = states(llama(), random_prompts(), tmp_path / "states/base")
    assert np.abs(found[0] - found[0][:1]).max() == 0
    settings = DimensionSettings.model_validate(
        {"estimators": [{"name": "t", "kind": "two_nn"}], "draws": 2, "draw_estimators": ["t"], "subsets": [4]}
    )
    rows = list(dimension_rows(tmp_path / "states/base", settings, "cpu"))
    assert [row["layer"] for row in rows if row["subset"] == "all" and row["metric"] == "id"] == [1, 2, 3]
    assert {row["subset"] for row in rows} == {"all", "first 4", "half 0", "half 1"}
    assert {row["n"] for row in rows if row["subset"].startswith("half")} == {3}
    dimensions = {row["layer"]: row["value"] for row in rows if row["subset"] == "all" and row["metric"] == "id"}
    area = next(row["value"] for row in rows if (row["subset"], row["metric"]) == ("all", "auc_paper"))
    assert area == pytest.approx((dimensions[1] / 2 + dimensions[2] + dimensions[3] / 2) / 3)
    with pytest.raises(ReprlabError, match="subset of 9 items"):
        list(dimension_rows(tmp_path / "states/base", settings.model_copy(update={"subsets": [9]}), "cpu"))


def test_not_finite_states_are_refused(tmp_path):
    model = llama()
    with torch.no_grad():
        model.model.layers[1].mlp.up_proj.weight.fill_(float("nan"))
    with pytest.raises(ReprlabError, match="not finite"):
        states(model, random_prompts(), tmp_path / "a")


def test_batches():
    lengths = [5, 30, 3, 30, 8, 100]
    found = list(batches_by_length(lengths, 60))
    assert found == [[5], [1, 3], [4, 0, 2]]
    padded = left_padded([[4, 5], [6]])
    assert padded["input_ids"].tolist() == [[4, 5], [0, 6]]
    assert padded["attention_mask"].tolist() == [[1, 1], [0, 1]]
    assert padded["position_ids"].tolist() == [[0, 1], [0, 0]]
