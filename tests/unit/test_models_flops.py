"""FLOPs known from few lengths and blocks: what torch counts for the whole model, and by hand."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from peft import LoraConfig, get_peft_model
from reprlab.models.build import build_from_config
from reprlab.models.counted_models import CountedModel
from reprlab.models.flops import forward_flops, training_flops
from reprlab.registry.models import load_models
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoConfig, AutoModelForSequenceClassification

MODELS = load_models(Path(__file__).resolve().parents[2] / "config/models.yaml")
TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj")


def counted(run) -> int:
    counter = FlopCounterMode(display=False)
    with counter:
        run()
    return counter.get_total_flops()


def narrow(name: str, **sizes):
    """The entry with other sizes and six blocks, three times what is counted."""
    entry = MODELS[name]
    return entry.model_copy(update={"config": {**entry.config, **sizes}})


LLAMA = narrow(
    "llama_3_8b", hidden_size=256, intermediate_size=896, num_hidden_layers=6, num_attention_heads=8,
    num_key_value_heads=2, vocab_size=1000,
)  # fmt: skip


@pytest.mark.parametrize("name", ["t5_v1_1_base", "t5_base", "t5_mini"])
@pytest.mark.parametrize("training", [False, True])
def test_an_encoder_decoder_at_lengths_that_were_not_counted(name, training):
    entry, examples = MODELS[name], 3
    with torch.device("meta"):
        model = build_from_config(entry)
        ids, labels = (torch.zeros((examples, length), dtype=torch.long) for length in (96, 41))

    def run():
        loss = model(input_ids=ids, labels=labels).loss
        if training:
            loss.backward()

    found = (training_flops if training else forward_flops)(CountedModel(entry), 96, 41, examples)
    assert examples * found == pytest.approx(counted(run), rel=1e-9)


@pytest.mark.parametrize("adapted", [False, True])
def test_a_decoder_at_lengths_that_were_not_counted(adapted):
    known = CountedModel(LLAMA, rank=16 if adapted else 0, targets=TARGETS if adapted else ())
    with torch.device("meta"):
        model = build_from_config(LLAMA)
        model.config._attn_implementation = "eager"
        if adapted:
            model = get_peft_model(model, LoraConfig(r=16, target_modules=list(TARGETS), task_type="CAUSAL_LM"))
        ids = torch.zeros((2, 96), dtype=torch.long)
    expected = counted(lambda: model(input_ids=ids, labels=ids).loss.backward())
    assert 2 * training_flops(known, 96, 96, 2) == pytest.approx(expected, rel=1e-9)
    if not adapted:
        expected = counted(lambda: model(input_ids=ids, logits_to_keep=5))
        assert 2 * forward_flops(known, 96, 5, 2) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["roberta_base", "distilbert_base_uncased", "bert_base_uncased", "deberta_v3_base"])
def test_a_classifier_at_a_length_and_in_a_batch_that_were_not_counted(name):
    kind = {"xlm_roberta": "xlm-roberta", "deberta_v2": "deberta-v2"}.get(MODELS[name].architecture)
    config = AutoConfig.for_model(kind or MODELS[name].architecture, **MODELS[name].config, num_labels=2)
    config.pad_token_id = None if kind == "deberta-v2" else config.pad_token_id
    with torch.device("meta"):
        model = AutoModelForSequenceClassification.from_config(config, attn_implementation="eager")
        ids = torch.zeros((5, 100), dtype=torch.long)
    found = forward_flops(CountedModel(MODELS[name], labels=2), 100, 1, 5)
    assert 5 * found == pytest.approx(counted(lambda: model(input_ids=ids)), rel=1e-9)


def test_a_decoder_by_hand():
    """Two FLOPs for each weight of a product and token, four for each pair of tokens; the backward pass takes twice."""
    width, narrow_heads, inside, length = 256, 64, 896, 96
    block = 2 * width * width + 2 * width * narrow_heads + 3 * width * inside
    body = 6 * (2 * block * length + 4 * width * length**2)
    assert forward_flops(CountedModel(LLAMA), length, 1) == pytest.approx(body + 2 * width * 1000, rel=1e-9)
    known = training_flops(CountedModel(LLAMA), length, length)
    assert known == pytest.approx(3 * (body + 2 * width * 1000 * length), rel=1e-9)
    # Frozen weights lose their own gradient, a third of the whole; adapters and the context keep theirs.
    assert 2 / 3 < training_flops(CountedModel(LLAMA, rank=8, targets=TARGETS), length, length) / known < 0.75


def test_a_long_context_costs_more_than_six_flops_per_parameter_and_token():
    model = CountedModel(MODELS["t5_v1_1_base"])
    short, long = (training_flops(model, length, length) / length for length in (8, 2048))
    assert long > 1.2 * short


def test_relative_positions_are_projected_once_for_a_batch():
    model = CountedModel(MODELS["deberta_v3_base"], labels=2)
    one, many = (forward_flops(model, 64, 1, batch) for batch in (1, 32))
    # Keys and queries of 512 positions in 12 blocks, two FLOPs a weight.
    assert one - many == pytest.approx(31 / 32 * 12 * 2 * 2 * 512 * 768**2, rel=1e-9)
    bert = replace(model, entry=MODELS["bert_base_uncased"])
    assert forward_flops(bert, 64, 1, 1) == pytest.approx(forward_flops(bert, 64, 1, 32), rel=1e-12)


def test_another_depth_of_a_model_builds_no_network(monkeypatch, capsys):
    entry = narrow("llama_3_8b", hidden_size=64, intermediate_size=96, num_attention_heads=4, num_key_value_heads=2)
    built, network = [], CountedModel.network

    def noted(self):
        built.append(self.blocks)
        return network(self)

    monkeypatch.setattr(CountedModel, "network", noted)
    known = CountedModel(entry)
    found = [training_flops(known.with_blocks(blocks), 24, 24) for blocks in (5, 9, 13)]
    assert built == [1, 2] and capsys.readouterr().out == ""
    assert found[2] - found[1] == found[1] - found[0] > 0
