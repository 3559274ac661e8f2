"""Adapters: no change before the first update, training lowers the loss, a killed run ends with the same bytes."""

import json
import shutil

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import torch
from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.data.schema import METADATA_KEY
from reprlab.models.build import build_from_config, load_model, save_model
from reprlab.registry.models import ModelEntry, ScratchOrigin
from reprlab.representations.adapters import TextBatches, add_adapter, language_model_loss, load_adapter
from reprlab.representations.dimensions import dimension_rows
from reprlab.representations.files import layer_file, layer_files, read_layer
from reprlab.representations.settings import AdapterSettings, CollectSettings, DimensionSettings
from reprlab.representations.tokens import encode_texts
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.encoder import add_low_rank
from reprlab.sentences.settings import LowRank
from reprlab.stages.collect_states import collect_states
from reprlab.stages.estimate_dimension import estimate_dimension
from reprlab.stages.train_adapter import train_adapter
from reprlab.text.tokenizer_folder import open_tokenizer
from reprlab.training.ladder import step_folder
from reprlab.training.settings import EngineSettings
from safetensors import safe_open
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
        # Rows of the tied output as long as in a trained model (2). At the default of 0.02 all logits lie within 0.6 of
        # each other, whatever is trained around them, and so no loss could come near an entropy.
        "initializer_range": 0.5,
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


def run(folder, out, save_every=100, settings=SETTINGS):
    train_adapter(
        model=folder / "model", tokenizer=folder / "model", prompts=folder / "prompts.parquet", out=folder / out,
        metrics=folder / f"{out}.tsv", work=folder / "work", settings=settings, fingerprint="f", save_every=save_every,
    )  # fmt: skip
    return {path.relative_to(folder / out): path.read_bytes() for path in (folder / out).rglob("*.*") if path.is_file()}


def test_ladder_is_small_and_repeats(folder):
    first = run(folder, "first")
    assert {str(path.parent) for path in first} == {".", "step-00000000", "step-00000004", "step-00000012"}
    assert not (folder / "work").exists()
    assert run(folder, "second") == first


def test_no_order_of_a_process_is_in_the_files(folder):
    """peft holds the targets as a set of strings, whose order is another in each process."""
    run(folder, "first")
    config = json.loads((folder / "first/step-00000012/adapter_config.json").read_text())
    assert config["target_modules"] == sorted(SETTINGS.targets)


def test_an_adapter_learns_what_the_texts_say(folder):
    """Four equally likely texts of four words: "the", one of two animals, one of two verbs, and the word that follows
    from the verb. Without looking at the text before it, no model does better than the entropy of the words to come,
    log 6; none that looks at their place alone does better than log 2; and none at all better than (2 log 2) / 3,
    unless a label were seen before it is to be said."""
    settings = {"steps": 100, "ladder": [100], "batch_size": 4, "optimizer": {"learning_rate": 0.02}}
    engine = EngineSettings.model_validate(settings)
    run(folder, "out", settings=SETTINGS.model_copy(update={"engine": engine, "dropout": 0.0}))
    texts = pyarrow.parquet.read_table(folder / "prompts.parquet").column("text").to_pylist()
    ids = torch.tensor(encode_texts(open_tokenizer(folder / "model"), texts))
    coming = ids[:, 1:].flatten()
    unigram = torch.distributions.Categorical(torch.bincount(coming).float()).entropy().item()
    assert np.isclose(unigram, np.log(6))
    tuned = load_adapter(load_model(folder / "model"), step_folder(folder / "out", 100))
    with torch.inference_mode():
        before, after = (float(model(ids, labels=ids).loss) for model in (load_model(folder / "model"), tuned))
    assert before > unigram
    assert 2 * np.log(2) / 3 < after < np.log(2)


class KilledError(Exception):
    """Stands for a kill in the middle of a step."""


def kill_at(step, run_it, monkeypatch):
    """Run until the batches of a step are asked for, which ends it."""
    batches = TextBatches.__call__

    def dies(self, at, *where):
        if at == step:
            raise KilledError
        return batches(self, at, *where)

    with monkeypatch.context() as patch:
        patch.setattr(TextBatches, "__call__", dies)
        with pytest.raises(KilledError):
            run_it()


def steps_of(run_it, monkeypatch):
    """The steps whose batches a run asks for."""
    seen, batches = [], TextBatches.__call__

    def watches(self, at, *where):
        seen.append(at)
        return batches(self, at, *where)

    with monkeypatch.context() as patch:
        patch.setattr(TextBatches, "__call__", watches)
        run_it()
    return list(dict.fromkeys(seen))


@pytest.mark.parametrize("step", [2, 7])
def test_a_killed_run_ends_with_the_same_bytes(folder, monkeypatch, step):
    whole = run(folder, "whole")
    kill_at(step, lambda: run(folder, "resumed", save_every=3), monkeypatch)
    seen = steps_of(lambda: run(folder, "resumed", save_every=3), monkeypatch)
    assert seen == list(range(step // 3 * 3, 12))
    again = {path.relative_to(folder / "resumed"): path.read_bytes() for path in (folder / "resumed").rglob("*.*")}
    assert again == whole
    assert (folder / "resumed.tsv").read_bytes() == (folder / "whole.tsv").read_bytes()


def test_a_resume_point_holds_what_trains_and_not_the_model(folder, monkeypatch):
    kill_at(7, lambda: run(folder, "out", save_every=3), monkeypatch)
    (path,) = (folder / "work").glob("resume-00000006/tensors.safetensors")
    with safe_open(path, framework="pt") as stored:
        names = set(stored.keys())
    parameters = {name for name in names if name.startswith("model.") and "inv_freq" not in name}
    # Two matrices for each of four projections in two blocks, and three tensors of AdamW for each matrix.
    assert len(parameters) == 16 and all(".lora_" in name for name in parameters)
    assert len([name for name in names if name.startswith("optimizer.")]) == 3 * 16


def test_a_resume_point_of_another_model_is_not_taken(folder, monkeypatch):
    """The frozen weights are not in the resume point: the fingerprint must tell two models of one shape apart."""
    kill_at(7, lambda: run(folder, "out", save_every=3), monkeypatch)
    assert list((folder / "work").glob("resume-*"))
    other = load_model(folder / "model")
    with torch.no_grad():
        other.get_input_embeddings().weight.mul_(1.01)
    save_model(other, folder / "model")
    assert steps_of(lambda: run(folder, "out", save_every=3), monkeypatch) == list(range(12))


def test_step_zero_is_the_model_and_later_steps_are_not(folder):
    run(folder, "ladder")
    ids = torch.tensor([[3, 5, 7]])
    with torch.inference_mode():
        plain = load_model(folder / "model")(ids).logits
        start = load_adapter(load_model(folder / "model"), step_folder(folder / "ladder", 0))(ids).logits
        end = load_adapter(load_model(folder / "model"), step_folder(folder / "ladder", 12))(ids).logits
    assert torch.equal(plain, start)
    assert not torch.allclose(plain, end, atol=1e-2)


def collected(folder, out, **about):
    """States of the prompts as the stage writes them, by variant; the tables of items and of scores."""
    collect_states(
        model=folder / "model", tokenizer=folder / "model", prompts=folder / "asked.parquet", out=folder / out,
        table=folder / f"{out}.parquet", scores=folder / f"{out}.tsv", adapters=folder / "ladder" if about else None,
        settings=CollectSettings(dtype="float32", batch_tokens=12, limit=5, **about),
    )  # fmt: skip
    states = {
        path.name: np.stack([read_layer(layer) for layer in layer_files(path)])
        for path in sorted((folder / out).iterdir())
    }
    return states, read_parquet(folder / f"{out}.parquet").to_pylist(), read_tsv(folder / f"{out}.tsv")


def test_each_variant_answers_with_its_own_weights_and_its_states_have_their_dimension(folder):
    """The stages on the model and on two steps of its ladder, item by item; of six prompts five are asked."""
    run(folder, "ladder")
    asked = ["the cat sat\n", "dog\n", "the dog ran on a mat\n", "a rug\n", "cat ran\n", "the film was good\n"]
    rows = [
        {"id": f"i{number}", "prompt": prompt, "label": "yes" if number < 3 else "no", "text": ""}
        for number, prompt in enumerate(asked)
    ]
    metadata = {METADATA_KEY: json.dumps({"title": "T", "labels": ["no", "yes"]}).encode()}
    table = pyarrow.Table.from_pylist(rows).replace_schema_metadata(metadata)
    pyarrow.parquet.write_table(table, folder / "asked.parquet")
    plain, own, _ = collected(folder, "plain")
    found, items, scores = collected(folder, "steps", steps=[0, 12])
    assert list(plain) == ["base"] and list(found) == ["step-00000000", "step-00000012"]
    np.testing.assert_allclose(found["step-00000000"], plain["base"], atol=1e-6)
    assert [(row["variant"], row["id"]) for row in items] == [(name, f"i{n}") for name in found for n in range(5)]
    tokenizer, words = open_tokenizer(folder / "model"), [WORDS.index("no"), WORDS.index("yes")]
    for name, path in (("step-00000000", 0), ("step-00000012", 12)):
        model = load_adapter(load_model(folder / "model"), step_folder(folder / "ladder", path)).eval()
        part = [row for row in items if row["variant"] == name]
        for number, row in enumerate(part):
            ids = torch.tensor([tokenizer(asked[number], add_special_tokens=True)["input_ids"]])
            with torch.inference_mode():
                output = model(ids, output_hidden_states=True)
            assert row["tokens"] == ids.shape[1] and row["label"] == rows[number]["label"]
            np.testing.assert_allclose(row["logits"], output.logits[0, -1, words].numpy(), atol=1e-4)
            assert row["prediction"] == ["no", "yes"][int(np.argmax(row["logits"]))]
            last = torch.stack([layer[0, -1] for layer in output.hidden_states]).numpy()
            np.testing.assert_allclose(found[name][:, number], last, atol=1e-4)
        shown = scores[(scores["step"] == path) & (scores["name"] == "model")].iloc[0]
        assert shown["value"] == 20 * sum(row["prediction"] == row["label"] for row in part) and shown["n"] == 5
    assert set(scores[scores["name"] == "majority"]["value"]) == {60}
    assert [row["logits"] for row in own] == [row["logits"] for row in items[:5]]
    assert [row["logits"] for row in items[5:]] != [row["logits"] for row in items[:5]]
    settings = DimensionSettings.model_validate({"estimators": [{"name": "t", "kind": "two_nn"}]})
    # An area under a curve wants three layers.
    for name in found:
        shutil.copyfile(layer_file(folder / "steps" / name, 1), layer_file(folder / "steps" / name, 3))
    estimate_dimension(states=folder / "steps", out=folder / "d.tsv", settings=settings)
    wanted = [row for name in found for row in dimension_rows(folder / "steps" / name, settings, "cpu")]
    written = read_tsv(folder / "d.tsv")
    assert written["step"].tolist() == [row["step"] for row in wanted] and set(written["step"]) == {0, 12}
    np.testing.assert_allclose(written["value"], [row["value"] for row in wanted])


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


@pytest.mark.parametrize("kind", ["adapter", "low rank"])
def test_an_update_is_scaled_by_alpha_over_rank_and_on_the_named_layers_alone(folder, kind):
    model = load_model(folder / "model")
    before = {name: value.clone() for name, value in model.state_dict().items()}
    about = {"rank": 4, "alpha": 6, "dropout": 0.25, "targets": ["q_proj", "v_proj"]}
    if kind == "adapter":
        settings = {**about, "max_length": 16, "engine": {**SETTINGS.engine.model_dump(), "seed": 5}}
        adapted = add_adapter(model, AdapterSettings.model_validate(settings))
    else:
        add_low_rank(model, LowRank.model_validate(about), seed=5)
        adapted = model
    found = {name: module for name, module in adapted.named_modules() if hasattr(module, "lora_A")}
    assert len(found) == 4 and {name.rpartition(".")[2] for name in found} == {"q_proj", "v_proj"}
    torch.manual_seed(0)
    ids = torch.randint(3, len(WORDS), (2, 7))
    expected = load_model(folder / "model")
    assert torch.equal(adapted.eval()(ids).logits, expected.eval()(ids).logits), "nothing before the first update"
    for name, module in found.items():
        first, second = module.lora_A["default"].weight, module.lora_B["default"].weight
        assert first.shape == (4, 16) and module.lora_dropout["default"].p == 0.25
        with torch.no_grad():
            second.normal_()
            own = dict(expected.named_modules())[name.removeprefix("base_model.model.")]
            own.weight += 6 / 4 * second @ first
    assert torch.allclose(adapted(ids).logits, expected(ids).logits, atol=1e-4)
    assert not torch.allclose(adapted(ids).logits, load_model(folder / "model").eval()(ids).logits, atol=1e-2)
    assert all(torch.equal(value, before[name]) for name, value in load_model(folder / "model").state_dict().items())
