"""Entries cut in depth and width."""

from pathlib import Path

import pytest
import torch
from reprlab.models.build import build_from_config
from reprlab.models.cut import LAYERS, cut_entry
from reprlab.registry.models import PackageOrigin, load_models

MODELS = load_models(Path(__file__).parents[2] / "config/models.yaml")


@pytest.mark.parametrize(
    "name", [name for name, entry in MODELS.items() if not isinstance(entry.origin, PackageOrigin)]
)
def test_every_entry_is_cut_to_a_model_of_its_class(name):
    """With its vocabulary and its ties; cut again it is the same."""
    entry, cut = MODELS[name], cut_entry(MODELS[name])
    assert cut_entry(cut) == cut and cut.config.keys() == entry.config.keys()
    with torch.device("meta"):
        model = build_from_config(cut)
    kept = {"vocab_size", "max_position_embeddings", "n_positions", "num_mel_bins", "position_buckets", "patch_size"}
    assert all(cut.config[key] == entry.config[key] for key in kept & entry.config.keys())
    inner = {own: value for own, value in model.named_parameters() if "conv" not in own and "position" not in own}
    assert (
        max(max(value.shape[1:], default=0) for value in inner.values()) <= 512
        and model.config.num_hidden_layers <= LAYERS
    )


def test_proportions_that_choose_a_path_stay():
    cut = {name: cut_entry(entry) for name, entry in MODELS.items()}
    assert cut["llama_3_8b"].config["num_key_value_heads"] < cut["llama_3_8b"].config["num_attention_heads"]
    assert cut["llama_2_7b"].config["num_key_value_heads"] == cut["llama_2_7b"].config["num_attention_heads"]
    assert cut["opt_350m"].config["word_embed_proj_dim"] < cut["opt_350m"].config["hidden_size"]
    assert cut["opt_125m"].config["word_embed_proj_dim"] == cut["opt_125m"].config["hidden_size"]
    assert cut["t5_v1_1_base"].config["feed_forward_proj"] == "gated-gelu" and not cut["t5_v1_1_base"].tie_output
    assert cut["minilm_l6"] == MODELS["minilm_l6"], "packaged weights are files"
