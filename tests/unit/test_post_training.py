"""MNTP: what is masked, from where it is predicted, and the model that the stage leaves (spec of SPT, section 2)."""

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import torch
from finetune_fixtures import make_tokenizer
from reprlab.artifacts.tables import read_tsv
from reprlab.models.build import build_from_config, load_model, save_model
from reprlab.objectives.mntp import Objective, Settings
from reprlab.registry.models import ModelEntry
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.encoder import add_low_rank, merge_low_rank
from reprlab.sentences.settings import LowRank, PostTraining
from reprlab.sentences.soft_prompts import frozen
from reprlab.stages.post_train import post_train
from reprlab.stages.tokenize_corpus import tokenize_corpus
from reprlab.text.model_tokenizers import load_tokenizer
from reprlab.text.token_settings import TokenStorageSettings
from reprlab.text.token_store import TokenStore
from training_samples import write_tokens

CONFIG = {
    "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 24, "max_position_embeddings": 64, "vocab_size": 400, "pad_token_id": 0, "bos_token_id": 1,
    "eos_token_id": 1,
}  # fmt: skip
ADAPTER = LowRank(rank=2, alpha=4, targets=["q_proj", "down_proj"])
ENTRY = ModelEntry(architecture="llama", config=CONFIG, source="x", tie_output=True, origin={"kind": "scratch"})


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mntp") / "tokenizer"
    make_tokenizer(folder)
    return folder


@pytest.fixture(scope="module")
def objective(tokenizer):
    settings = Settings(mask=word(tokenizer), mask_probability=0.3)
    return Objective(settings, Objective.open_vocabulary(tokenizer), 12, 12)


def word(tokenizer):
    """A token that the little vocabulary has."""
    return load_tokenizer(tokenizer).convert_ids_to_tokens(20)


def collated(objective, rows=200):
    lengths = np.full(rows, 12)
    lengths[::2] = 7
    plain = [number for number in range(21, len(objective.vocabulary)) if number not in objective.special]
    ids = np.random.default_rng(0).choice(plain, (rows, 12)).astype(np.int32)
    ids[:, 3] = 1
    ids *= np.arange(12) < lengths[:, None]
    return ids, lengths, objective.collate(ids, ids * 0, lengths, np.random.default_rng(1))


def test_tokens_are_masked_in_shares_and_never_the_first(objective):
    ids, lengths, batch = collated(objective)
    predicted = batch["labels"] != -100
    assert not predicted[:, 0].any() and not predicted[:, 3].any(), "nothing stands before the first; 1 is special"
    assert not (predicted & (np.arange(12) >= lengths[:, None])).any()
    assert np.array_equal(batch["labels"][predicted], ids[predicted])
    assert np.array_equal(batch["input_ids"][~predicted], ids[~predicted])
    open_places = int((lengths - 2).sum())
    assert 0.27 < predicted.sum() / open_places < 0.33
    seen = batch["input_ids"][predicted]
    assert 0.75 < (seen == objective.mask_id).mean() < 0.85
    assert 0.06 < (seen == ids[predicted]).mean() < 0.14
    assert np.array_equal(batch["attention_mask"].sum(1), lengths)


def test_a_token_is_predicted_from_the_state_before_it_which_sees_what_follows(objective):
    model = build_from_config(ENTRY, seed=0).eval()
    ids = torch.randint(21, 100, (1, 8), generator=torch.Generator().manual_seed(0))
    labels = torch.full_like(ids, -100)
    labels[0, 5] = ids[0, 5]
    batch = {"input_ids": ids, "labels": labels, "attention_mask": torch.ones_like(ids)}
    with torch.no_grad():
        loss, parts = objective.loss(model, batch)
        inputs = {"attention_mask": torch.zeros(1, 1, 8, 8), "position_ids": torch.arange(8)[None]}
        states = model.base_model(input_ids=ids, **inputs).last_hidden_state
        logits = model.get_output_embeddings()(states[0, 4])
        later = {**batch, "input_ids": ids.clone()}
        later["input_ids"][0, 7] += 1
        changed, _ = objective.loss(model, later)
    assert loss.item() == pytest.approx(torch.nn.functional.cross_entropy(logits, ids[0, 5]).item(), rel=1e-5)
    assert parts["count"] == 1
    assert abs(changed.item() - loss.item()) > 1e-6, "tokens behind are seen"


def test_padding_changes_no_loss(objective):
    model = build_from_config(ENTRY, seed=0).eval()
    _, _, batch = collated(objective, rows=2)
    tensors = {name: torch.from_numpy(part[:1]) for name, part in batch.items()}
    short = {name: part[:, :7] for name, part in tensors.items()}
    with torch.no_grad():
        assert objective.loss(model, tensors)[0].item() == pytest.approx(
            objective.loss(model, short)[0].item(), rel=1e-5
        )


def test_an_unknown_mask_is_refused(tokenizer):
    with pytest.raises(ReprlabError, match="no token 'nosuchtoken'"):
        Objective(Settings(mask="nosuchtoken"), Objective.open_vocabulary(tokenizer), 12, 12)


def test_merged_adapters_are_the_model_with_them():
    adapted, ids = frozen(build_from_config(ENTRY, seed=0)).eval(), torch.arange(5, 15)[None]
    assert add_low_rank(adapted.base_model, ADAPTER, 0)
    for name, weight in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=0.1, generator=torch.Generator().manual_seed(len(name)))
    with torch.no_grad():
        expected = adapted(ids).logits
        merge_low_rank(adapted.base_model)
        torch.testing.assert_close(adapted(ids).logits, expected, atol=1e-5, rtol=1e-5)
        assert not torch.allclose(build_from_config(ENTRY, seed=0).eval()(ids).logits, expected, atol=1e-3)
    assert set(adapted.state_dict()) == set(build_from_config(ENTRY, seed=0).state_dict())


def test_the_stage_leaves_a_plain_model_and_the_same_bytes_each_time(tmp_path):
    model, reader = tmp_path / "model", tmp_path / "reader"
    vocabulary = make_tokenizer(reader)
    tokens, _ = write_tokens(tmp_path / "tokens", "causal", rows=20, pieces=vocabulary.pieces)
    save_model(build_from_config(ENTRY, vocabulary.padded_size, seed=0), model)
    before = {path.name: path.read_bytes() for path in model.iterdir()}
    engine = {"steps": 3, "batch_size": 4, "optimizer": {"learning_rate": 1e-2}, "log_every": 1}
    training = {"objective": "mntp", "objective_settings": {"mask": word(reader)}, "input_length": 16,
                "target_length": 16, "engine": engine}  # fmt: skip
    for name in ("one", "two"):
        post_train(
            tokens=tokens, model=model, tokenizer=reader, out=tmp_path / name / "model",
            metrics=tmp_path / name / "metrics.tsv", work=tmp_path / name / "work", fingerprint="x",
            settings=PostTraining.model_validate({"training": training, "adapter": ADAPTER.model_dump()}),
        )  # fmt: skip
    first, second = (tmp_path / name / "model/model.safetensors" for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes() != before["model.safetensors"]
    assert {path.name: path.read_bytes() for path in model.iterdir()} == before
    plain, made = load_model(model).state_dict(), load_model(tmp_path / "one/model").state_dict()
    changed = {name for name, value in made.items() if not torch.equal(value, plain[name])}
    assert changed and all(name.split(".")[-2] in ADAPTER.targets for name in changed)
    assert load_tokenizer(tmp_path / "one/model").vocab_size
    assert len(read_tsv(tmp_path / "one/metrics.tsv")) == 3


def test_a_packaged_decoder_reads_text_by_its_own_tokenizer(tmp_path):
    """It lies in the model's folder and has no `vocabulary.json` of ours; spaces stay with their words."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    model, text = tmp_path / "model", ["The cat sat.", "It slept <|end|> well."]
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer, backend.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    backend.train_from_iterator(text, trainers.BpeTrainer(special_tokens=["<|end|>"], initial_alphabet=alphabet))
    published = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<|end|>", pad_token="<|end|>")
    entry = ENTRY.model_copy(update={"config": {**CONFIG, "vocab_size": len(published)}})
    save_model(build_from_config(entry, seed=0), model)
    published.save_pretrained(model)
    rows = [{"id": str(n), "source": "s", "split": "train", "sentences": text} for n in range(12)]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "passages.parquet")
    tokens, settings = tmp_path / "tokens.parquet", TokenStorageSettings(format="causal", max_length=32)
    tokenize_corpus(sentences=tmp_path / "passages.parquet", tokenizer=model, out=tokens, settings=settings)
    store = TokenStore.open(tokens, "train")
    ids = store.ids[store.offsets[0] : store.offsets[1]]
    # A text that spells the token that ends texts does not end one.
    assert published.decode(ids) == "The cat sat. It slept <|end|> well.<|end|>" and len(store) == 12
    assert (ids == published.eos_token_id).sum() == 1
    engine = {"steps": 2, "batch_size": 4, "optimizer": {"learning_rate": 1e-2}, "log_every": 1}
    training = {"objective": "mntp", "objective_settings": {"mask": "_"}, "input_length": 16, "target_length": 16,
                "engine": engine}  # fmt: skip
    post_train(
        tokens=tokens, model=model, tokenizer=model, out=tmp_path / "out", metrics=tmp_path / "metrics.tsv",
        work=tmp_path / "work", fingerprint="x",
        settings=PostTraining.model_validate({"training": training, "adapter": ADAPTER.model_dump()}),
    )  # fmt: skip
    assert load_tokenizer(tmp_path / "out").get_vocab() == load_tokenizer(model).get_vocab()
    assert read_tsv(tmp_path / "metrics.tsv").loss.notna().all()
