"""Residual and decomposed prompts: known answers, the plain prompt at no strength, and what is kept of a training."""

import os

import pytest
import torch
from pydantic import TypeAdapter
from reprlab.models.build import build_from_config
from reprlab.registry.models import ModelEntry
from reprlab.sentences.encoder import build_encoder, load_encoder, save_encoder, trained_weights
from reprlab.sentences.prompt_forms import PromptForm, fold, reparametrise
from reprlab.sentences.settings import EncoderSettings
from reprlab.sentences.sizes import encoder_size

CONFIG = {
    "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 24, "max_position_embeddings": 64, "vocab_size": 64, "pad_token_id": 0, "bos_token_id": 1,
    "eos_token_id": 2,
}  # fmt: skip
ENTRY = ModelEntry(architecture="llama", config=CONFIG, source="x", tie_output=True, origin={"kind": "scratch"})
PLAIN = EncoderSettings.model_validate({"method": "prompt", "vectors": 4, "pooling": "last"})
RESIDUAL = {"kind": "residual", "width": 6, "layer_norm": True}
FORMS = {
    "residual": RESIDUAL,
    "without norm": {**RESIDUAL, "layer_norm": False},
    "decomposed": {"kind": "decomposed", "rank": 2, "spread": 0.5},
}
BATCH = {"input_ids": torch.tensor([[5, 6, 7], [0, 8, 9]]), "attention_mask": torch.tensor([[1, 1, 1], [0, 1, 1]])}


def form_of(given):
    return TypeAdapter(PromptForm).validate_python(given)


def plain(seed=0):
    return build_encoder(build_from_config(ENTRY, seed=0), PLAIN, seed)


def made(name, seed=0):
    return reparametrise(plain(seed), form_of(FORMS[name]), seed)


def network(encoder):
    return encoder.parametrizations.prompt[0]


@pytest.mark.parametrize("name", ["residual", "without norm"])
def test_a_residual_prompt_by_hand(name):
    encoder = made(name)
    vectors, given = encoder.parametrizations.prompt.original.detach(), network(encoder)
    inner = torch.clamp(vectors @ given.down.weight.T + given.down.bias, min=0)
    added = inner @ given.up.weight.T + given.up.bias
    if name == "residual":
        centred = added - added.mean(1, keepdim=True)
        added = centred / (centred.square().mean(1, keepdim=True) + 1e-5).sqrt()
    torch.testing.assert_close(encoder.prompt.detach(), vectors + added)
    # One network for all vectors, each of which it sees alone.
    turned = given(vectors[[3, 1, 0, 2]])
    torch.testing.assert_close(turned, encoder.prompt[[3, 1, 0, 2]])


def test_a_decomposed_prompt_is_a_product_of_low_rank_that_is_drawn_evenly():
    encoder = made("decomposed")
    left, right = encoder.parametrizations.prompt.original0, encoder.parametrizations.prompt.original1
    assert (left.shape, right.shape) == ((4, 2), (2, 16))
    torch.testing.assert_close(encoder.prompt, left @ right)
    assert torch.linalg.matrix_rank(encoder.prompt.detach()) == 2
    wide = reparametrise(
        build_encoder(build_from_config(ENTRY, seed=0), PLAIN.model_copy(update={"vectors": 2000}), 0),
        form_of({"kind": "decomposed", "rank": 3, "spread": 0.25}),
        0,
    ).parametrizations.prompt.original0.detach()
    assert wide.abs().max() <= 0.25 and wide.std() == pytest.approx(0.25 / 3**0.5, rel=0.03)


@pytest.mark.parametrize("name", ["residual", "without norm"])
def test_a_residual_prompt_whose_second_map_is_nothing_is_the_plain_one_bit_by_bit(name):
    one, other = plain(), made(name)
    with torch.no_grad():
        network(other).up.weight.zero_(), network(other).up.bias.zero_()
    assert torch.equal(one.prompt, other.prompt) and torch.equal(one(BATCH), other(BATCH))
    one(BATCH).square().sum().backward()
    other(BATCH).square().sum().backward()
    assert torch.equal(one.prompt.grad, other.parametrizations.prompt.original.grad)


def test_a_product_with_the_identity_is_the_plain_prompt_bit_by_bit():
    one = plain()
    other = reparametrise(plain(), form_of({"kind": "decomposed", "rank": 4, "spread": 0.5}), 0)
    with torch.no_grad():
        other.parametrizations.prompt.original0.copy_(torch.eye(4))
        other.parametrizations.prompt.original1.copy_(one.prompt)
    assert torch.equal(one.prompt, other.prompt) and torch.equal(one(BATCH), other(BATCH))


@pytest.mark.parametrize("name", FORMS)
def test_seeds_draw_the_start_and_nothing_else_is_drawn(name):
    one, again, other, encoder = made(name), made(name), made(name, seed=1), plain()
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    reparametrise(encoder, form_of(FORMS[name]), 0)
    assert torch.equal(torch.rand(3), expected), "what others draw stays"
    assert torch.equal(one.prompt, again.prompt) and not torch.equal(one.prompt, other.prompt)
    if name != "decomposed":
        assert torch.equal(one.parametrizations.prompt.original, plain().prompt), "it starts where the plain one does"
        assert not torch.equal(network(one).down.weight, network(other).down.weight)


@pytest.mark.parametrize("name", FORMS)
def test_in_arithmetic_of_eight_bits_the_prompt_is_still_exact(name):
    encoder = made(name)
    exact = encoder.prompt
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(encoder.prompt, exact)


@pytest.mark.parametrize("name", FORMS)
def test_what_is_kept_are_the_vectors_of_a_plain_prompt(name, tmp_path):
    encoder, form = made(name), form_of(FORMS[name])
    with torch.no_grad():
        for weight in encoder.parameters():
            weight.add_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(1)) / 9)
    for folder in ("best", "kept"):
        (tmp_path / folder).mkdir()
    save_encoder(encoder, PLAIN, tmp_path / "best")
    for file in (tmp_path / "best").iterdir():
        os.link(file, tmp_path / "kept" / file.name)
    before = {file.name: file.read_bytes() for file in (tmp_path / "best").iterdir()}
    fold(tmp_path / "kept", form, PLAIN)
    assert {file.name: file.read_bytes() for file in (tmp_path / "best").iterdir()} == before, "links share a file"
    network = build_from_config(ENTRY, seed=0)
    with torch.no_grad():
        for mine, theirs in zip(network.parameters(), encoder.model.parameters(), strict=True):
            mine.copy_(theirs)
    found = load_encoder(network, tmp_path / "kept")
    assert trained_weights(found).keys() == {"prompt"}
    assert torch.equal(found.prompt, encoder.prompt) and torch.equal(found(BATCH), encoder(BATCH))


@pytest.mark.parametrize("name", FORMS)
def test_the_numbers_that_are_trained_are_those_of_the_formula(name):
    form = form_of(FORMS[name])
    count = sum(weight.numel() for weight in trained_weights(made(name)).values())
    assert count == form.trained(4, 16)
    sizes, whole = encoder_size(ENTRY, PLAIN, form=form), encoder_size(ENTRY, PLAIN)
    assert (sizes.trained, sizes.total - sizes.trained) == (count, whole.total - whole.trained)


def test_the_counts_that_their_sources_print():
    """Of T5-Large with 100 vectors (Xiao et al. 2023, figure 1): 11.2 and 925 thousand, beside 102 of the plain one."""
    assert form_of({"kind": "decomposed", "rank": 10, "spread": 0.5}).trained(100, 1024) == 11_240
    assert form_of({"kind": "residual", "width": 400, "layer_norm": True}).trained(100, 1024) == 925_072
