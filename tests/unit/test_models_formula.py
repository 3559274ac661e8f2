"""The closed form against the meta device."""

from pathlib import Path

import pytest
from reprlab.models.counting import parameter_count
from reprlab.models.formula import t5_parameters
from reprlab.registry.models import load_models

MODELS = load_models(Path(__file__).parents[2] / "config/models.yaml")
T5 = sorted(name for name, entry in MODELS.items() if entry.architecture == "t5")


@pytest.mark.parametrize("name", T5)
@pytest.mark.parametrize("vocab", [4224, 32128])
def test_formula_counts_what_the_meta_device_counts(name, vocab):
    entry = MODELS[name]
    assert t5_parameters(entry.config, vocab, entry.tie_output) == parameter_count(entry, vocab)


def test_published_numbers():
    config = MODELS["t5_v1_1_base"].config
    assert t5_parameters(config, 32128, True) == 222_903_552
    assert t5_parameters(config, 32128, False) == 247_577_856
