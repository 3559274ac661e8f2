"""Models of the hub by name: `hub:owner/name@revision` in the place of an entry of models.yaml."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from reprlab.config.load import load_config
from reprlab.config.resolved import changes, settings_text
from reprlab.planning.paper_plans import make_plan
from reprlab.preflight.__main__ import main
from reprlab.registry.hub_models import HubModel, parse
from reprlab.runtime.errors import ReprlabError

ROOT = Path(__file__).resolve().parents[2]
REVISION = "0123456789abcdef0123456789abcdef01234567"
T5 = {"model_type": "t5", "vocab_size": 32128, "d_model": 64, "d_kv": 16, "d_ff": 96, "num_layers": 3, "num_heads": 4,
      "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False, "dropout_rate": 0.2}  # fmt: skip
SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "intermediate_size": 128, "num_attention_heads": 4}
WHISPER = {"model_type": "whisper", "d_model": 64, "encoder_layers": 2, "encoder_attention_heads": 4}
BERT = {"model_type": "bert", "hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A cache of the hub with the config.json of a T5 and of a BERT, and no network."""
    import huggingface_hub.constants

    configs = {"some--t5-Tiny": T5, "some--bert": BERT, "some--odd": {"model_type": "odd"},
               "some--qwen2": {"model_type": "qwen2", **SMALL}, "some--whisper": WHISPER}  # fmt: skip
    for name, config in configs.items():
        snapshot = tmp_path / f"models--{name}" / "snapshots" / REVISION
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


@pytest.mark.parametrize(
    ("slug", "edit", "architecture"),
    [
        ("intrinsic-dimension", 'comparison.models=["hub:some/qwen2@{}"]', "qwen2"),
        ("domain-adaptive-masking", "model=hub:some/bert@{}", "bert_mlm"),
        ("asr-adapters", "model=hub:some/whisper@{}", "whisper_encoder"),
    ],
)
def test_each_kind_of_model_finds_its_place(hub, slug, edit, architecture):
    given = {"scale": "nano", "set": f"papers.{slug}.{edit.format(REVISION)}", "build": [slug]}
    found = load_config(ROOT, given)
    (name,) = found.hub
    jobs = make_plan(replace(found, papers={slug: found.papers[slug]})).jobs["build_model"]
    assert found.models[name].architecture == architecture and any(name in key for key in jobs)


def test_what_a_paper_lacks_for_an_architecture_is_named(hub):
    edit = f"papers.prompt-tuning-encoders.backbones.lm.model=hub:some/qwen2@{REVISION}"
    with pytest.raises(ReprlabError, match=r"lora\.targets has no entry qwen2"):
        make_plan(config(edit))


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
    assert "is a bert, and this setting takes t5" in said and "papers.depth.pretraining.model" in said
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
