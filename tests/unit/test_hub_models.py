"""Models of the hub by name: `hub:owner/name@revision` in the place of an entry of models.yaml."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from reprlab.config.load import PAPERS, load_config
from reprlab.config.resolved import changes, settings_text
from reprlab.planning.paper_plans import make_plan
from reprlab.preflight.__main__ import main
from reprlab.registry.hub_models import HubModel, parse
from reprlab.runtime.errors import ReprlabError

ROOT = Path(__file__).resolve().parents[2]
REVISION = "0123456789abcdef0123456789abcdef01234567"
T5 = {"model_type": "t5", "vocab_size": 32128, "d_model": 64, "d_kv": 16, "d_ff": 96, "num_layers": 3, "num_heads": 4,
      "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False, "dropout_rate": 0.2}  # fmt: skip
BERT = {"model_type": "bert", "hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "intermediate_size": 128, "num_attention_heads": 4}
CONFIGS = {
    "t5-Tiny": T5, "bert": BERT, "odd": {"model_type": "odd"},
    **{name: SMALL | {"model_type": name} for name in ("electra", "gpt_neox", "llama", "mistral", "qwen2", "wav2vec2")},
    "gpt2": {"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4},
    "opt": {"model_type": "opt", "hidden_size": 64, "num_hidden_layers": 2, "ffn_dim": 128, "num_attention_heads": 4},
    "mamba": {"model_type": "mamba", "hidden_size": 64, "num_hidden_layers": 2},
    "mamba2": {"model_type": "mamba2", "hidden_size": 64, "num_hidden_layers": 2, "num_heads": 4, "head_dim": 32},
    "whisper": {"model_type": "whisper", "d_model": 64, "encoder_layers": 2, "encoder_attention_heads": 4},
}  # fmt: skip


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A cache of the hub with the config.json of a model of each kind, and no network."""
    import huggingface_hub.constants

    for name, config in CONFIGS.items():
        snapshot = tmp_path / f"models--some--{name}" / "snapshots" / REVISION
        snapshot.mkdir(parents=True)
        (snapshot / "config.json").write_text(json.dumps(config))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    return tmp_path


def config(edit, scale="nano"):
    return load_config(ROOT, {"scale": scale, "set": edit})


def test_a_name_is_read_and_safe_in_a_path():
    model = parse(f"hub:Some-Owner/A.Model@{REVISION}")
    assert model == HubModel("Some-Owner/A.Model", REVISION) and str(model) == f"hub:Some-Owner/A.Model@{REVISION}"
    assert model.name.startswith("hub_some_owner_a_model_") and len(model.name) <= 64
    assert parse("hub:a/b@main").name != parse("hub:a/b@dev").name


@pytest.mark.parametrize(
    ("text", "said"), [("hub:a/b", "has no revision"), ("hub:b@main", "is not of this form"), ("hub:a/b@", "form")]
)
def test_one_without_a_revision_is_refused_with_the_form(text, said):
    with pytest.raises(ReprlabError, match=said) as refused:
        config(f"papers.depth.pretraining.model={text}")
    assert "papers.depth.pretraining.model" in str(refused.value) and "\n" not in str(refused.value)


def test_a_paper_is_planned_with_the_numbers_of_its_config(hub):
    found = config(f"papers.depth.pretraining.model=hub:some/t5-Tiny@{REVISION}")
    (name,) = found.hub
    entry = found.models[name]
    assert (entry.architecture, entry.tie_output, entry.origin.revision) == ("t5", False, REVISION)
    numbers = [entry.config[key] for key in ("d_model", "num_layers", "num_decoder_layers", "dropout_rate")]
    assert numbers == [64, 3, 3, 0.2] and "d_model" in found.models["t5_nano"].config
    jobs = make_plan(found).jobs["build_model"]
    assert any(name in key for key in jobs)


def test_a_list_of_models_takes_one_beside_others(hub):
    given = f'papers.vocab-memory.finetuning.models=[minilm_l6, "hub:some/bert@{REVISION}"]'
    found = config(given)
    (name,) = found.hub
    assert found.papers["vocab-memory"].finetuning.models == ["minilm_l6", name]
    assert found.models[name].config["hidden_size"] == 48


# Of each paper and setting that names a model: what it takes, and what it answers to another.
DECODERS = ("gpt2", "llama", "opt", "qwen2")
ENCODERS = ("bert", "electra")
WANTED = "and this setting takes "
GATED = "has no layer"
TAKES: dict[str, dict[str, tuple[tuple[str, ...], dict[str, str]]]] = {
    "depth": {"pretraining.model": (("t5-Tiny",), {"bert": WANTED + "t5", "gpt_neox": WANTED + "t5"})},
    "vocab-memory": {
        "finetuning.models": (ENCODERS, {"t5-Tiny": WANTED + "bert, deberta_v2"}),
        "runtime_table.model": (ENCODERS, {"llama": WANTED + "bert"}),
    },
    "amuro-char": {"families.ladder.model": (DECODERS, {"mamba": WANTED + "gpt2, llama", "gpt_neox": WANTED + "gpt2"})},
    "intrinsic-dimension": {
        "comparison.models": (("llama", "qwen2"), {"gpt2": GATED + " q_proj", "opt": GATED + " o_proj"}),
        "icl_dynamics.models": (DECODERS, {"bert": WANTED + "gpt2, llama"}),
    },
    "prompt-tuning-encoders": {
        "backbones.lm.model": (DECODERS, {"mamba2": WANTED + "gpt2, llama"}),
        "backbones.lm_random.model": ((), {"qwen2": "hub:some/qwen2@"}),
        "published.minilm.model": (ENCODERS, {"qwen2": WANTED + "bert"}),
    },
    "overparameterized-encoders": {"backbones.qwen2.model": (DECODERS, {"t5-Tiny": WANTED + "gpt2, llama"})},
    "ssm-rerankers": {
        "rerankers.bert_nano.model": (("bert",), {"electra": WANTED + "bert_mlm"}),
        "rerankers.opt_nano.model": (("opt",), {"llama": "set {family: llama} beside it", "qwen2": "name one of bert"}),
        "rerankers.mamba1_nano.model": (("mamba",), {"mamba2": WANTED + "mamba"}),
        "rerankers.mamba2_nano.model": (("mamba2",), {"mamba": WANTED + "mamba2"}),
    },
    "event-relations": {
        "encoders.roberta.model": (ENCODERS, {"llama": WANTED + "bert"}),
        "classifiers.t5.model": ((), {"bert": WANTED + "t5"}),
    },
    "domain-adaptive-masking": {"model": (("bert",), {"electra": WANTED + "bert_mlm"})},
    "punctuation-restoration": {"sizes.t5_nano.model": (("t5-Tiny",), {"bert": WANTED + "t5"})},
    "universal-features": {"model": (("llama", "mistral", "qwen2"), {"gpt2": "has no gated MLP", "bert": WANTED})},
    "reverse-probing": {"sources.bert.model": (ENCODERS, {"llama": WANTED + "bert"})},
    "asr-adapters": {"model": (("wav2vec2", "whisper"), {"bert": WANTED + "wav2vec2, whisper_encoder"})},
    "music-video-description": {
        "model": (("llama", "qwen2"), {"gpt2": GATED + " q_proj", "t5-Tiny": WANTED + "gpt2, llama"}),
        "score_model": (ENCODERS, {"whisper": WANTED + "bert"}),
    },
}


def planned(slug, setting, model):
    """The config and the keys of the jobs of a paper with a model of the hub in a setting."""
    given = f"hub:some/{model}@{REVISION}"
    text = json.dumps([given]) if setting.endswith("models") else given
    found = load_config(ROOT, {"scale": "nano", "set": f"papers.{slug}.{setting}={text}", "build": [slug]})
    return found, make_plan(replace(found, papers={slug: found.papers[slug]})).jobs


@pytest.mark.parametrize("slug", TAKES)
def test_each_paper_plans_models_of_its_kinds_and_says_why_not_of_others(hub, slug):
    for setting, (taken, refused) in TAKES[slug].items():
        for model in taken:
            found, jobs = planned(slug, setting, model)
            (name,) = found.hub
            assert any(name in key for keys in jobs.values() for key in keys), (setting, model)
        for model, said in refused.items():
            with pytest.raises(ReprlabError) as answer:
                planned(slug, setting, model)
            assert said in str(answer.value), (setting, model)
            assert f"papers.{slug}." in str(answer.value) and f"hub:some/{model}@{REVISION}" in str(answer.value)


def test_every_paper_is_asked():
    assert set(TAKES) == set(PAPERS)


def test_settings_that_are_written_down_can_be_given_again(hub):
    text = f"hub:some/t5-Tiny@{REVISION}"
    found = config(f"papers.depth.pretraining.model={text}")
    assert json.dumps(text) in settings_text(found)
    assert any(row[3] == json.dumps(text) for row in changes(found))
    assert load_config(ROOT, found.as_dict()).papers["depth"] == found.papers["depth"]


def test_a_model_of_another_architecture_is_refused_in_one_line(hub, capsys):
    edit = f"papers.depth.pretraining.model=hub:some/bert@{REVISION}"
    assert main(["--scale", "nano", "--paper", "depth", "--set", edit]) == 1
    said = capsys.readouterr().err
    assert "is of the architecture bert, and this setting takes t5" in said and "papers.depth.pretraining.model" in said
    assert said.count("\n") == 1


def test_a_config_that_transformers_does_not_know_is_refused(hub):
    with pytest.raises(ReprlabError, match=r"its config\.json is none of transformers"):
        make_plan(config(f"papers.depth.pretraining.model=hub:some/odd@{REVISION}"))


def test_without_a_network_and_a_copy_one_line_says_how_to_fetch_it(hub, capsys):
    edit = f"papers.depth.pretraining.model=hub:some/other@{REVISION}"
    assert main(["--scale", "nano", "--paper", "depth", "--set", edit]) == 1
    said = capsys.readouterr().err
    assert f"hf download some/other config.json --revision {REVISION}" in said and said.count("\n") == 1


def test_a_setting_that_names_no_model_takes_none():
    with pytest.raises(ReprlabError, match="takes no model of the registry"):
        config(f"papers.depth.data.corpus=hub:some/t5-Tiny@{REVISION}")
