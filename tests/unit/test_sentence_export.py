"""Exported encoders: sentence-transformers opens the folder and gives our vectors, for each kind that is trained."""

import json
import shutil

import numpy as np
import pytest
import torch
from reprlab.models.build import build_from_config, load_model, save_model
from reprlab.registry.models import ModelEntry
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.encoder import build_encoder, embed, load_encoder, save_encoder, trained_weights
from reprlab.sentences.sentence_transformer import DecoderEncoder
from reprlab.sentences.settings import EncoderSettings
from reprlab.sentences.texts import encode_texts
from reprlab.stages.export_encoder import export_encoder
from reprlab.text.byte_pairs import train_byte_pairs
from reprlab.text.model_tokenizers import load_tokenizer
from reprlab.text.tokenizers import save_tokenizer
from reprlab.text.vocabulary import Vocabulary
from reprlab.training.finetuning_encoding import piece_ids
from sentence_transformers import SentenceTransformer
from text_fixtures import prose
from tokenizers.processors import TemplateProcessing

SHARED = {"hidden_size": 16, "num_attention_heads": 4, "num_hidden_layers": 3, "max_position_embeddings": 96}
ROTARY = {**SHARED, "intermediate_size": 24, "num_key_value_heads": 2, "pad_token_id": 0, "eos_token_id": 1}
OPT = {**SHARED, "ffn_dim": 24, "word_embed_proj_dim": 16, "pad_token_id": 0, "eos_token_id": 1}
ADAPTER = {"rank": 2, "alpha": 4, "targets": ["q_proj", "v_proj"]}
# Phi-3's queries, keys and values are one layer.
FUSED = {**ADAPTER, "targets": ["qkv_proj", "down_proj"]}
CHAT = {"before": "user\n", "after": " end.", "max_length": 12}
LORA = {"method": "lora", "adapter": ADAPTER}
SUFFIX = {"method": "prompt", "vectors": 2}
KINDS = {
    "pruned, weighted mean": ("qwen2", {**LORA, "layers": 2, "pooling": "weighted_mean", "form": CHAT}),
    "pruned, not trained": ("llama", {"method": "none", "layers": 1, "pooling": "weighted_mean"}),
    "raw": ("opt", {"method": "none", "pooling": "last"}),
    "adapters": ("mistral", {**LORA, "pooling": "last"}),
    "adapters, bidirectional": ("llama", {**LORA, "pooling": "mean", "bidirectional": True}),
    "full": ("opt", {"method": "full", "pooling": "last"}),
    "full, tied": ("llama", {"method": "full", "pooling": "mean"}),
    "adapters, chat": (
        "phi3",
        {**LORA, "pooling": "last", "form": CHAT, "adapter": {**ADAPTER, "targets": ["o_proj"]}},
    ),
    "full, first token": ("opt", {"method": "full", "pooling": "last"}),
    "suffix": ("llama", {**SUFFIX, "pooling": "last"}),
    # One vector more than there are rows behind the ids of the tokenizer.
    "suffix, chat": ("qwen2", {**SUFFIX, "vectors": 60, "pooling": "last", "form": CHAT}),
    "suffix, first token": ("llama", {**SUFFIX, "pooling": "last"}),
    "suffix, learned positions, first token": ("opt", {**SUFFIX, "vectors": 16, "pooling": "last"}),
    "suffix, mean": ("opt", {**SUFFIX, "pooling": "mean"}),
    "before the text": ("qwen2", {**SUFFIX, "position": "prepend", "pooling": "first", "bidirectional": True}),
    "in every layer": ("phi3", {"method": "prefix", "vectors": 2, "pooling": "last"}),
}
# Opened by sentence-transformers alone: without our module, and without leave to run code.
PLAIN = {name for name in KINDS if name.endswith("first token")} | {"adapters, chat", "suffix, chat"}
TEXTS = [
    "the cat", "", " ", "a", "the letters of the house by the river", "word " * 40, "naïve café, ﬁne",
    "日本語のテキスト", "🙂🙃", "tab\tand\nline", "zero\u200bwidth and \u0301accent", "A cat? A CAT! (the cat)",
    "a </s> <pad>",
]  # fmt: skip


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    folder, vocabulary = tmp_path_factory.mktemp("tokenizer"), Vocabulary(400)
    save_tokenizer(train_byte_pairs(prose(50), vocabulary), vocabulary, folder)
    return folder


@pytest.fixture
def trained(request, tmp_path, tokenizer):
    """A model folder, and an encoder of it whose trained numbers are not those that it starts from."""
    architecture, settings = KINDS[request.param]
    if request.param.endswith("first token"):
        reader, tokenizer = load_tokenizer(tokenizer), tmp_path / "tokenizer"
        reader.bos_token = first = reader.eos_token
        template = TemplateProcessing(single=[first, "$A"], special_tokens=[(first, reader.bos_token_id)])
        reader.backend_tokenizer.post_processor = template
        reader.save_pretrained(tokenizer)
    entry = ModelEntry(
        architecture=architecture, config={**(OPT if architecture == "opt" else ROTARY), "vocab_size": 580},
        source="x", tie_output=True, origin={"kind": "scratch"},
    )  # fmt: skip
    save_model(build_from_config(entry, seed=0), tmp_path / "model")
    settings = EncoderSettings.model_validate({"form": {"max_length": 12}, **settings})
    encoder = build_encoder(load_model(tmp_path / "model"), settings, 0)
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weights in trained_weights(encoder).values():
            weights.add_(torch.randn(weights.shape, generator=generator), alpha=0.3)
    (tmp_path / "encoders/seed-7").mkdir(parents=True)
    save_encoder(encoder, settings, tmp_path / "encoders/seed-7")
    return tmp_path, settings, tokenizer


def export(folder, tokenizer):
    export_encoder(
        model=folder / "model", tokenizer=tokenizer, encoders=folder / "encoders", out=folder / "exported", seed=7
    )
    return folder / "exported"


def ours(folder, tokenizer, settings, instruction=""):
    encoder = load_encoder(load_model(folder / "model"), folder / "encoders/seed-7")
    reader = load_tokenizer(tokenizer)
    assert max(map(len, piece_ids(reader, TEXTS))) > settings.form.max_length, "one text must be cut"
    return embed(encoder, encode_texts(reader, TEXTS, settings.form, instruction), batch_size=5)


@pytest.mark.parametrize("trained", KINDS, indirect=True)
def test_it_gives_our_vectors(request, trained, tmp_path):
    folder, settings, tokenizer = trained
    found = export(folder, tokenizer)
    expected = ours(folder, tokenizer, settings)
    assert np.abs(expected - expected[0]).max(1)[1:].min() > 1e-4, "the texts must differ"
    # Neither the model nor what was trained is looked for where it was.
    moved = shutil.move(found, tmp_path / "moved")
    shutil.rmtree(folder / "encoders")
    shutil.rmtree(folder / "model")
    trust = {} if request.node.callspec.params["trained"] in PLAIN else {"trust_remote_code": True}
    peer = SentenceTransformer(str(moved), device="cpu", **trust)
    np.testing.assert_allclose(peer.encode(TEXTS, batch_size=4), expected, atol=1e-5, rtol=0)
    assert peer.get_embedding_dimension() == 16
    peer.save_pretrained(str(tmp_path / "again"))
    again = SentenceTransformer(str(tmp_path / "again"), device="cpu", **trust)
    np.testing.assert_allclose(again.encode(TEXTS), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("trained", ["pruned, weighted mean", "suffix, mean"], indirect=True)
def test_a_prompt_is_the_instruction_and_is_not_pooled(trained):
    folder, settings, tokenizer = trained
    peer = SentenceTransformer(str(export(folder, tokenizer)), trust_remote_code=True, device="cpu")
    asked = "the letter of the house: "
    expected = ours(folder, tokenizer, settings, asked)
    np.testing.assert_allclose(peer.encode(TEXTS, prompt=asked), expected, atol=1e-5, rtol=0)
    assert np.abs(expected - peer.encode(TEXTS)).max() > 1e-3


@pytest.mark.parametrize("trained", ["pruned, weighted mean"], indirect=True)
def test_the_folder_holds_the_cut_decoder_alone(trained):
    from safetensors import safe_open

    folder, _, tokenizer = trained
    found = export(folder, tokenizer)
    with safe_open(found / "model.safetensors", "pt") as weights:
        names = set(weights.keys())
    assert not any("lora" in name or "lm_head" in name or "layers.2." in name for name in names)
    config = json.loads((found / "config.json").read_text())
    assert config["num_hidden_layers"] == len(config["layer_types"]) == 2
    (folder / "encoders/seed-7/encoder.json").unlink()
    with pytest.raises(ReprlabError, match=r"seed-7/encoder.json: no such file"):
        export(folder, tokenizer)


@pytest.mark.parametrize("trained", ["pruned, weighted mean"], indirect=True)
def test_code_that_the_folder_names_for_the_decoder_is_not_run(trained):
    folder, _, tokenizer = trained
    found = export(folder, tokenizer)
    config = json.loads((found / "config.json").read_text())
    (found / "config.json").write_text(json.dumps({**config, "auto_map": {"AutoModel": "other.Other"}}))
    (found / "other.py").write_text("raise RuntimeError('this was run')\n")
    assert DecoderEncoder.load(str(found)).get_embedding_dimension() == 16
