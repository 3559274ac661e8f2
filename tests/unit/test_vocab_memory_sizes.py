"""Parameter counts of the PEMA paper's models, on the meta device without network (its specification, check 1)."""

import socket
from pathlib import Path

import pytest
from reprlab.models.counting import classifier_sizes
from reprlab.models.sizes import SizedModels, read_sizes
from reprlab.registry.models import load_models
from reprlab.stages.count_parameters import count_parameters

MODELS = load_models(Path(__file__).parents[2] / "config" / "models.yaml")
COUNTS = {
    "distilbert_base_cased": (28_996, 768, 65_783_042),
    "distilbert_base_uncased": (30_522, 768, 66_955_010),
    "distilroberta_base": (50_265, 768, 82_119_938),
    "distilmbert_base_cased": (119_547, 768, 135_326_210),
    "bert_base_cased": (28_996, 768, 108_311_810),
    "bert_base_uncased": (30_522, 768, 109_483_778),
    "roberta_base": (50_265, 768, 124_647_170),
    "deberta_v3_xsmall": (128_100, 384, 70_830_722),
    "deberta_v3_small": (128_100, 768, 141_896_450),
    "deberta_v3_base": (128_100, 768, 184_423_682),
    "deberta_v3_large": (128_100, 1_024, 435_063_810),
    "mbert_base_cased": (119_547, 768, 177_854_978),
    "xlm_roberta_base": (250_002, 768, 278_045_186),
    "xlm_v_base": (901_629, 768, 778_494_722),
}


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    def refuse(*_args, **_options):
        raise AssertionError("the network was asked for")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize("name", COUNTS)
def test_sizes_are_those_of_the_paper(name):
    sizes = classifier_sizes(MODELS[name])
    assert (sizes.vocabulary, sizes.width, sizes.total) == COUNTS[name]
    assert sizes.embedding == sizes.vocabulary * sizes.width


def test_the_head_matters():
    two = classifier_sizes(MODELS["bert_base_cased"]).total
    assert classifier_sizes(MODELS["bert_base_cased"], 3).total - two == 769
    assert two - classifier_sizes(MODELS["bert_base_cased"], 1).total == 769
    large = MODELS["deberta_v3_large"]
    assert classifier_sizes(large, 3).total - classifier_sizes(large).total == 1_025


def test_the_stage_writes_what_the_tables_read(tmp_path):
    names = ["deberta_v3_small", "distilroberta_base", "minilm_l6"]
    count_parameters(models=SizedModels(entries={name: MODELS[name] for name in names}), out=tmp_path / "s.tsv")
    sizes = read_sizes(tmp_path / "s.tsv")
    assert list(sizes) == names and sizes["minilm_l6"].embedding == 11_720_448
    rows = (tmp_path / "s.tsv").read_text().splitlines()
    assert rows[1].split("\t")[-2:] == ["6", "12"]
