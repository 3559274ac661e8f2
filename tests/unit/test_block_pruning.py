"""Blocks of layers that are removed, and ReplaceMe's linear map in their place: known answers, on tiny decoders."""

import copy
import functools
import itertools

import numpy as np
import pytest
import torch
from drawn_decoders import SIZES, texts
from drawn_decoders import decoder as drawn_decoder
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.block_pruning import (
    PruningSettings,
    block_distances,
    drawn_texts,
    fold_in,
    last_matrix,
    prune_block,
    remove_layers,
    repairing_map,
    token_sums,
)
from reprlab.sentences.early_exit import headless, keep_layers, layers_of
from reprlab.sentences.encoder import size_of

pytestmark = pytest.mark.usefixtures("one_thread")
TEXTS = texts(40)
decoder = functools.partial(drawn_decoder, layers=6)


def settings(method="replace_me", **own):
    return PruningSettings.model_validate({"method": method, "layers": 4, "texts": 9, "seed": 0, **own})


def outputs(model, given=TEXTS):
    """States of all tokens of each text, read alone."""
    found = []
    with torch.no_grad():
        for row in range(len(given)):
            ids = given.batch(np.array([row]))["input_ids"]
            found.append(headless(model)(input_ids=ids, use_cache=False).last_hidden_state[0])
    return torch.cat(found)


def states(model, row):
    """Those in front of each layer and behind the last, by transformers' own account, of one text."""
    ids = TEXTS.batch(np.array([row]))["input_ids"]
    behind = []
    hook = layers_of(model)[1].register_forward_pre_hook(lambda _, given: behind.append(given[0]))
    with torch.no_grad():
        found = headless(model)(input_ids=ids, output_hidden_states=True, use_cache=False).hidden_states
    hook.remove()
    return [*found[:-1], behind[0]]


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("method", ["replace_me", "block_cosine"])
def test_no_layer_less_is_the_whole_model_bit_for_bit(name, method):
    model, whole = decoder(name), decoder(name)
    prune_block(model, TEXTS, settings(method), 6, 8)
    assert all(torch.equal(one, other) for one, other in zip(model.parameters(), whole.parameters(), strict=True))
    assert torch.equal(outputs(model), outputs(whole))
    gram, cross = token_sums(whole, TEXTS, 2, 0, 8)
    assert torch.equal(repairing_map(gram, cross, 0.0), torch.eye(16, dtype=torch.float64))


@pytest.mark.parametrize("name", SIZES)
def test_a_block_that_adds_nothing_is_found_and_its_removal_changes_nothing(name):
    """Its map is the identity bit for bit, with weights and all states."""
    model = decoder(name)
    with torch.no_grad():
        for layer, matrix in itertools.product((2, 3), ("self_attn.o_proj", "self_attn.out_proj", "attn.c_proj", "")):
            try:
                module = layers_of(model)[0][layer].get_submodule(matrix) if matrix else last_matrix(model, layer)
            except AttributeError:
                continue
            for weight in module.parameters():
                weight.zero_()
    expected, whole = outputs(model), size_of(model)
    kept = [copy.deepcopy(layers_of(model)[0][layer].state_dict()) for layer in (0, 1, 4, 5)]
    found = prune_block(model, TEXTS, settings(), 4, 8)
    assert found.first == 2 and found.distances[1] == pytest.approx(0, abs=1e-12)
    assert torch.equal(outputs(model), expected)
    for layer, before in zip(layers_of(model)[0], kept, strict=True):
        assert all(torch.equal(value, before[name]) for name, value in layer.state_dict().items())
    per_layer = sum(value.numel() for value in kept[0].values())
    assert whole[0] - size_of(model)[0] == 2 and whole[1] - size_of(model)[1] == 2 * per_layer


class Linear(torch.nn.Module):
    """A layer that adds a linear map of what the MLP in front of the block has added."""

    def __init__(self, inner, added, matrix):
        super().__init__()
        self.inner, self.added, self.matrix = inner, added, matrix

    def forward(self, state, *given, **named):
        return state + self.added[-1] @ self.matrix


@pytest.mark.parametrize("alpha", [0.0, 1e-9])
def test_a_block_that_is_linear_in_the_mlp_before_it_is_repaired_exactly(alpha):
    model, added = decoder(), []
    hook = last_matrix(model, 1).register_forward_hook(lambda module, given, output: added.append(output))
    layers = layers_of(model)[0]
    matrices = [torch.randn(16, 16, generator=torch.Generator().manual_seed(layer)) * 0.1 for layer in (2, 3)]
    for layer, matrix in zip((2, 3), matrices, strict=True):
        layers[layer] = Linear(layers[layer], added, matrix)
    expected = outputs(model)
    gram, cross = token_sums(model, TEXTS, 2, 2, 8)
    found = repairing_map(gram, cross, alpha)
    torch.testing.assert_close(found, torch.eye(16).double() + sum(matrices).double(), atol=2e-4, rtol=0)
    repaired, cut = model, copy.deepcopy(model)
    fold_in(last_matrix(repaired, 1), found)
    hook.remove()
    for one in (repaired, cut):
        remove_layers(one, 2, 2)
    torch.testing.assert_close(outputs(repaired), expected, atol=2e-3, rtol=1e-3)
    assert (outputs(cut) - expected).abs().max() > 0.1, "unrepaired it is another model"


@pytest.mark.parametrize("first_tokens", [True, False])
@pytest.mark.parametrize("name", SIZES)
def test_the_map_is_the_least_squares_solution_over_real_tokens(name, first_tokens):
    """By its formula from states that transformers gives of each text alone, so that no padding can be in them; folded
    into the matrix, and its bias, it gives M T."""
    model, first, count = decoder(name), 3, 2
    added, rows = [], []
    hook = last_matrix(model, first - 1).register_forward_hook(lambda module, given, output: added.append(output))
    for row in range(len(TEXTS)):
        found = states(model, row)
        of_text = (added[-1].reshape(-1, 16), found[first][0], found[first + count][0])
        rows.append([one[0 if first_tokens else 1 :].double() for one in of_text])
    hook.remove()
    mlp, front, behind = (torch.cat(parts) for parts in zip(*rows, strict=True))
    gram, cross = token_sums(model, TEXTS, first, count, 8, first_tokens=first_tokens)
    torch.testing.assert_close(gram, mlp.T @ mlp, atol=1e-4, rtol=1e-5)
    for alpha in (0.0, 3.0):
        found = repairing_map(gram, cross, alpha)
        # The state before the MLP adds to it is L - M.
        formula = torch.linalg.solve(mlp.T @ mlp + alpha * torch.eye(16), mlp.T @ (behind + mlp - front))
        torch.testing.assert_close(found, formula, atol=1e-3, rtol=1e-3)
    module = last_matrix(model, first - 1)
    assert (module.bias is None) == (name in ("llama", "qwen2"))
    given = torch.randn(5, module.weight.shape[0 if name == "gpt2" else 1])
    before = module(given).double()
    fold_in(module, found)
    torch.testing.assert_close(module(given).double(), before @ found, atol=1e-4, rtol=1e-4)


def test_a_sink_decides_a_map_that_is_fitted_on_it_and_no_other():
    """The first token's state is made as large as that of trained decoders."""
    errors = {}
    for first_tokens in (True, False):
        model = decoder("llama")
        change = layers_of(model)[0][3].register_forward_hook(sink)
        gram, cross = token_sums(model, TEXTS, 2, 2, 8, first_tokens=first_tokens)
        rows = []
        matrix = last_matrix(model, 1)
        watch = matrix.register_forward_hook(lambda module, given, output, kept=rows: kept.append(output[0, 1:]))
        found = [[one[0, 1:].double() for one in states(model, row)] for row in range(len(TEXTS))]
        change.remove(), watch.remove()
        mlp = torch.cat(rows).double()
        before, behind = (torch.cat([one[place] for one in found]) for place in (2, 4))
        errors[first_tokens] = (before - mlp + mlp @ repairing_map(gram, cross, 0.0) - behind).norm()
        unrepaired = (before - behind).norm()
    assert errors[False] < unrepaired < errors[True]


def sink(module, given, output):
    states = output[0] if isinstance(output, tuple) else output
    states[:, 0] += 1e4 * torch.arange(states.shape[-1])


def test_fewer_tokens_than_dimensions_leave_other_directions_as_they_are():
    rng = torch.Generator().manual_seed(0)
    mlp, change = torch.randn(3, 16, generator=rng).double(), torch.randn(3, 16, generator=rng).double()
    found = repairing_map(mlp.T @ mlp, mlp.T @ change, 0.0)
    torch.testing.assert_close(mlp @ found, mlp + change)
    beside = torch.linalg.svd(mlp)[2][3:]
    torch.testing.assert_close(beside @ found, beside)
    nothing = torch.zeros(16, 16).double()
    assert torch.equal(repairing_map(nothing, nothing, 0.0), torch.eye(16).double())


@pytest.mark.parametrize("count", [1, 2, 5])
def test_distances_are_those_of_the_last_token_from_input_to_output(count):
    model = decoder("qwen2")
    found = block_distances(model, TEXTS, count, 8)
    assert len(found) == 6 - count
    each = []
    for row in range(len(TEXTS)):
        last = torch.stack([state[0, -1].double() for state in states(model, row)]).numpy()
        unit = last / np.linalg.norm(last, axis=1, keepdims=True)
        each.append([1 - unit[first] @ unit[first + count] for first in range(1, 7 - count)])
    np.testing.assert_allclose(found, np.mean(each, axis=0), atol=1e-5)
    np.testing.assert_allclose(block_distances(model, TEXTS, count, 3), found, atol=1e-5)
    removed = prune_block(model, TEXTS, settings("block_cosine"), 6 - count, 8)
    assert removed.first == 1 + int(np.argmin(found)) and removed.distances.tolist() == found.tolist()


@pytest.mark.parametrize("name", SIZES)
def test_the_last_block_unrepaired_is_the_paper_s_pruning_bit_for_bit(name):
    model, plain, middle = decoder(name), decoder(name), decoder(name)
    remove_layers(model, 4, 2)
    keep_layers(plain, 4)
    assert torch.equal(outputs(model), outputs(plain)) and size_of(model) == size_of(plain)
    whole = list(layers_of(middle)[0])
    remove_layers(middle, 2, 2)
    assert list(layers_of(middle)[0]) == [whole[layer] for layer in (0, 1, 4, 5)]


def test_kinds_of_layers_go_with_them(tmp_path):
    kinds = [*["full_attention"] * 5, "sliding_attention"]
    model = decoder("qwen2", layer_types=kinds, sliding_window=4, use_sliding_window=True)
    expected = copy.deepcopy(model)
    remove_layers(model, 2, 3)
    assert model.config.layer_types == ["full_attention", "full_attention", "sliding_attention"]
    model.save_pretrained(tmp_path)
    opened = type(model).from_pretrained(tmp_path).eval()
    assert torch.equal(outputs(opened), outputs(model)) and size_of(expected)[0] == 6


def test_what_cannot_be_pruned_is_refused():
    with pytest.raises(ReprlabError, match="has 6 layers: keep from 1 to 6, not 7"):
        prune_block(decoder(), TEXTS, settings(), 7, 8)
    model = decoder()
    del layers_of(model)[0][1].mlp.down_proj
    with pytest.raises(ReprlabError, match="its MLP cannot take a map"):
        last_matrix(model, 1)
    broken = decoder()
    with torch.no_grad():
        broken.model.embed_tokens.weight[5:] = float("inf")
    with pytest.raises(ReprlabError, match="not finite"):
        prune_block(broken, TEXTS, settings(), 4, 8)


def test_texts_are_drawn_once_each():
    first, other = (drawn_texts(TEXTS, 9, seed) for seed in (0, 1))
    assert len(first) == 9 and first.ids.flat.tolist() != other.ids.flat.tolist()
    assert drawn_texts(TEXTS, 99, 0).ids.flat.tolist() == TEXTS.ids.flat.tolist()
