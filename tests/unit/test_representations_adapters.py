"""Adapters: no change before the first update, training lowers the loss, a killed run ends with the same bytes."""

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import torch
from reprlab.config.models import ModelEntry, ScratchOrigin
from reprlab.models.build import build_from_config, load_model, save_model
from reprlab.representations.adapters import TextBatches, add_adapter, language_model_loss, load_adapter
from reprlab.representations.settings import AdapterSettings
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.train_adapter import train_adapter
from reprlab.training.ladder import step_folder
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

TEXT = "the a cat dog sat ran on mat rug good bad yes no film was"
WORDS = ["<s>", "</s>", "<unk>", *TEXT.split()]
SETTINGS = AdapterSettings.model_validate(
    {
        "engine": {
            "steps": 12, "ladder": [0, 4, 12], "batch_size": 4, "accumulation": 2, "log_every": 4,
            "optimizer": {"learning_rate": 0.02},
        },
        "rank": 4, "alpha": 8, "dropout": 0.1, "targets": ["q_proj", "k_proj", "v_proj", "o_proj"], "max_length": 16,
    }
)  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    config = {
        "vocab_size": len(WORDS), "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
        "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 32,
    }  # fmt: skip
    entry = ModelEntry(
        architecture="llama", config=config, source="test", tie_output=True, origin=ScratchOrigin(kind="scratch")
    )
    model = tmp_path / "model"
    model.mkdir()
    save_model(build_from_config(entry, seed=0), model)
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>").save_pretrained(model)
    texts = [
        f"the {animal} {verb}\n{word}" for animal in ("cat", "dog") for verb, word in (("sat", "yes"), ("ran", "no"))
    ]
    pyarrow.parquet.write_table(pyarrow.table({"text": texts}), tmp_path / "prompts.parquet")
    return tmp_path


def run(folder, out, save_every=100):
    train_adapter(
        model=folder / "model", tokenizer=folder / "model", prompts=folder / "prompts.parquet", out=folder / out,
        metrics=folder / f"{out}.tsv", work=folder / "work", settings=SETTINGS, fingerprint="f", save_every=save_every,
    )  # fmt: skip
    return {path.relative_to(folder / out): path.read_bytes() for path in (folder / out).rglob("*.*") if path.is_file()}


def test_ladder_is_small_repeats_and_lowers_the_loss(folder):
    first = run(folder, "first")
    assert {str(path.parent) for path in first} == {".", "step-00000000", "step-00000004", "step-00000012"}
    assert not (folder / "work").exists()
    assert run(folder, "second") == first
    losses = [float(line.split("\t")[1]) for line in (folder / "first.tsv").read_text().splitlines()[1:]]
    assert losses[-1] < losses[0] - 0.1


def test_a_killed_run_ends_with_the_same_bytes(folder, monkeypatch):
    import reprlab.representations.adapters as adapters

    whole = run(folder, "whole")
    calls, batches = [], adapters.TextBatches.__call__

    def dies(self, step, *where):
        calls.append(step)
        if step == 7:
            raise KeyboardInterrupt
        return batches(self, step, *where)

    monkeypatch.setattr(adapters.TextBatches, "__call__", dies)
    with pytest.raises(KeyboardInterrupt):
        run(folder, "resumed", save_every=3)
    monkeypatch.setattr(adapters.TextBatches, "__call__", batches)
    assert run(folder, "resumed", save_every=3) == whole


def test_step_zero_is_the_model_and_later_steps_are_not(folder):
    run(folder, "ladder")
    ids = torch.tensor([[3, 5, 7]])
    with torch.inference_mode():
        plain = load_model(folder / "model")(ids).logits
        start = load_adapter(load_model(folder / "model"), step_folder(folder / "ladder", 0))(ids).logits
        end = load_adapter(load_model(folder / "model"), step_folder(folder / "ladder", 12))(ids).logits
    assert torch.equal(plain, start)
    assert not torch.allclose(plain, end, atol=1e-2)


def test_every_token_is_a_label_and_padding_is_not():
    texts = [[3, 4, 5, 6, 7], [8, 9]]
    settings = SETTINGS.model_copy(update={"max_length": 4})
    batch = TextBatches(texts, settings)(0, 0, 0, 1)
    assert batch["input_ids"].shape == (2, 4)
    assert torch.equal(batch["labels"] == -100, batch["attention_mask"] == 0)
    assert sorted(batch["attention_mask"].sum(1).tolist()) in ([2, 2], [2, 4], [4, 4])
    parts = [TextBatches(texts, settings)(5, part, 0, 1)["input_ids"] for part in (0, 1)]
    assert sum(len(part) for part in parts) == 4


def test_loss_counts_next_tokens(folder):
    batch = TextBatches([[3, 4, 5, 6, 7], [8, 9, 3]], SETTINGS)(0, 0, 0, 1)
    loss, parts = language_model_loss(load_model(folder / "model"), batch)
    assert parts["count"] == batch["attention_mask"].sum() - len(batch["labels"])
    assert parts["tokens"] == batch["attention_mask"].sum()
    assert np.isclose(float(parts["loss_sum"]), float(loss.detach()) * int(parts["count"]))


def test_unknown_target(folder):
    with pytest.raises(ReprlabError, match="adapter targets nowhere"):
        add_adapter(load_model(folder / "model"), SETTINGS.model_copy(update={"targets": ["nowhere"]}))
