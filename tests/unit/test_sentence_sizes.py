"""Exact sizes of the published sentence encoders, on the meta device (specs of SPT 5.1 and L3Prune 5.1)."""

from pathlib import Path

import pytest
import torch
from reprlab.models.build import build_from_config
from reprlab.registry.models import load_models
from reprlab.sentences.early_exit import headless, keep_layers
from reprlab.sentences.encoder import build_encoder, trained_weights
from reprlab.sentences.settings import EncoderSettings

MODELS = load_models(Path(__file__).parents[2] / "config/models.yaml")
ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def on_meta(name):
    with torch.device("meta"):
        return build_from_config(MODELS[name])


def size(model):
    return sum(parameter.numel() for parameter in model.parameters())


def trained(name, **settings):
    """Trained numbers of an encoder around a published model."""
    base = {"pooling": "last", "start": "normal", **settings}
    encoder = build_encoder(on_meta(name), EncoderSettings.model_validate(base), 0)
    return sum(value.numel() for value in trained_weights(encoder).values())


def low_rank(rank, **more):
    return {"method": "lora", "adapter": {"rank": rank, "alpha": 32, "targets": ALL, **more}}


@pytest.mark.parametrize(
    ("name", "whole", "layers"),
    [
        ("llama_3_8b_instruct", (8_030_261_248, 7_504_924_672), {25: 5_978_140_672, 5: 1_615_900_672}),
        ("mistral_7b_instruct_v0_2", (7_241_732_096, 7_110_660_096), {22: 4_929_540_096, 8: 1_875_972_096}),
        ("qwen2_7b_instruct", (7_615_616_512, 7_070_619_136), {25: 6_371_445_760, 10: 2_875_578_880}),
        ("phi_3_mini_4k", (3_821_079_552, 3_722_578_944), {25: 2_929_812_480, 8: 1_004_522_496}),
    ],
)
def test_sizes_after_pruning(name, whole, layers):
    model = on_meta(name)
    assert (size(model), size(headless(model))) == whole
    for kept, expected in layers.items():
        keep_layers(model, kept)
        assert size(headless(model)) == expected


def test_bases_of_soft_prompts():
    assert size(on_meta("opt_125m")) == 125_239_296
    assert size(on_meta("llama_2_7b_chat")) == 6_738_415_616


@pytest.mark.parametrize(
    ("name", "settings", "count"),
    [
        ("opt_125m", {"method": "prompt", "vectors": 16}, 12_288),
        ("llama_2_7b_chat", {"method": "prompt", "vectors": 1}, 4_096),
        ("llama_2_7b_chat", low_rank(1), 2_498_560),
        ("llama_2_7b_chat", low_rank(16), 39_976_960),
        ("llama_2_7b_chat", {"method": "prefix", "vectors": 1}, 262_144),
        ("llama_2_7b_chat", {"method": "prefix", "vectors": 10}, 2_621_440),
        # The paper prints 45,088,768, which is without grouped keys; and 262,144 k for a prefix, which is 65,536 k.
        ("llama_3_8b_instruct", low_rank(16), 41_943_040),
        ("llama_3_8b_instruct", {"method": "prefix", "vectors": 1}, 65_536),
        ("qwen2_7b_instruct", low_rank(16), 40_370_176),
        # Phi-3's projections are fused: of the seven names two match.
        ("phi_3_mini_4k", low_rank(16, partial=True), 8_912_896),
        ("phi_3_mini_4k", low_rank(16, targets=["qkv_proj", "o_proj", "gate_up_proj", "down_proj"]), 25_165_824),
    ],
)
def test_trained_numbers(name, settings, count):
    assert trained(name, **settings) == count
