"""Compacter and parallel adapters: known answers, counts, and nothing added at zero strength."""

import pytest
import torch
from reprlab.audio.adapters import counts, tune
from reprlab.audio.rival_adapters import Beside, Compacter, KroneckerLinear
from reprlab.audio.settings import Tuning
from reprlab.models.build import build_from_config
from reprlab.runtime.errors import ReprlabError
from test_audio_recognition import WAVES, WHISPER, recogniser

WIDTH = WHISPER.config["d_model"]


def layer(inputs: int, outputs: int, terms: int, rank: int | None) -> KroneckerLinear:
    torch.manual_seed(0)
    made = KroneckerLinear(inputs, outputs, rank, torch.nn.Parameter(torch.randn(terms, terms, terms)))
    torch.nn.init.normal_(made.bias)
    return made


@pytest.mark.parametrize(("terms", "rank"), [(1, 1), (2, 1), (2, 3), (3, 2), (6, None)])
def test_the_forward_pass_is_that_of_the_dense_matrix(terms: int, rank: int | None) -> None:
    made = layer(12, 6, terms, rank)
    states = torch.randn(2, 5, 12)
    assert torch.allclose(made(states), states @ made.weight() + made.bias, atol=1e-5)
    # Written out entry by entry: block (p, q) of the matrix is the sum over terms of A_i[p, q] S_i T_i.
    tall, wide = 12 // terms, 6 // terms
    blocks = torch.einsum("ipq,iar,irb->paqb", made.shared, made.left, made.right).reshape(12, 6)
    assert torch.allclose(blocks, made.weight(), atol=1e-5)
    first = sum(made.shared[i, 0, -1] * made.left[i] @ made.right[i] for i in range(terms))
    assert torch.allclose(made.weight()[:tall, 6 - wide :], first, atol=1e-5)


def test_one_term_is_a_matrix_of_rank_one_and_the_largest_rank_is_any() -> None:
    assert int(torch.linalg.matrix_rank(layer(8, 8, 1, 1).weight())) == 1
    assert int(torch.linalg.matrix_rank(layer(8, 8, 2, 1).weight())) <= 4
    assert int(torch.linalg.matrix_rank(layer(8, 8, 1, None).weight())) == 8


@pytest.mark.parametrize(("terms", "rank", "said"), [(5, 1, "do not divide"), (4, 3, "above 2"), (1, 9, "above 8")])
def test_what_does_not_fit_is_refused(terms: int, rank: int, said: str) -> None:
    with pytest.raises(ReprlabError, match=said):
        layer(8, 8, terms, rank)
    with pytest.raises(ReprlabError, match="4 do not divide the widths 8 and 6"):
        layer(8, 6, 4, 1)


def test_compacter_passes_gelu_between_its_maps() -> None:
    torch.manual_seed(0)
    made = Compacter(8, 4, 1, torch.nn.Parameter(torch.randn(2, 2, 2)))
    for one in (made.down, made.up):
        torch.nn.init.normal_(one.bias)
    states = torch.randn(2, 3, 8)
    inside = torch.nn.functional.gelu(states @ made.down.weight() + made.down.bias)
    assert torch.allclose(made(states), states + inside @ made.up.weight() + made.up.bias, atol=1e-5)


@pytest.mark.parametrize("entry", [WHISPER, WAVES])
def test_counts_are_those_of_the_formula_and_what_is_shared_counts_once(entry) -> None:
    for terms, rank, inner in ((2, 1, 4), (2, 2, 8), (4, 1, 8)):
        tuning = Tuning(method="compacter", inner=inner, terms=terms, rank=rank)
        encoder = build_from_config(entry)
        tune(encoder, tuning)
        each = 2 * rank * (WIDTH + inner) + inner + WIDTH
        adapters = sum(isinstance(one, Compacter) for one in encoder.modules())
        assert counts(encoder, tuning, 3)["adapters"] == adapters * each + terms**3
        shared = {id(one.shared) for one in encoder.modules() if isinstance(one, KroneckerLinear)}
        assert len(shared) == 1 and adapters == (4 if entry is WHISPER else 2)


def test_as_wide_and_of_full_rank_it_has_the_parameters_of_conv_and_so_has_the_parallel_one() -> None:
    found = {}
    for name, tuning in {
        "conv": Tuning(method="conv", inner=None),
        "compacter": Tuning(method="compacter", inner=None, terms=2, rank=None),
        "parallel": Tuning(method="parallel", inner=None),
    }.items():
        encoder = build_from_config(WHISPER)
        tune(encoder, tuning)
        found[name] = counts(encoder, tuning, 3)["adapters"]
    assert found["compacter"] - 2**3 == found["parallel"] == found["conv"]
    encoder = build_from_config(WHISPER)
    tune(encoder, Tuning(method="parallel", inner=4))
    assert counts(encoder, Tuning(method="parallel", inner=4), 3)["adapters"] == 4 * (2 * 4 * WIDTH + 4 + WIDTH)


@pytest.mark.parametrize("entry", [WHISPER, WAVES])
@pytest.mark.parametrize("method", ["compacter", "parallel"])
def test_nothing_added_leaves_the_encoder_as_it_is_bit_for_bit(entry, method: str) -> None:
    inputs = torch.randn(1, 80, 20) if entry is WHISPER else torch.randn(1, 4000)
    length = torch.tensor([inputs.shape[-1]])
    plain = recogniser(Tuning(method="head"), entry).eval()
    model = recogniser(Tuning(method=method, inner=4, terms=2), entry).eval()
    model.head.load_state_dict(plain.head.state_dict())
    assert not torch.equal(model(inputs, length), plain(inputs, length))
    for module in model.modules():
        if hasattr(module, "last") and hasattr(module, "down"):
            for parameter in module.last.parameters():
                torch.nn.init.zeros_(parameter)
    assert torch.equal(model(inputs, length), plain(inputs, length))


@pytest.mark.parametrize("method", ["compacter", "parallel"])
def test_a_small_start_scales_what_is_added_once(method: str) -> None:
    def added(scale: float) -> torch.Tensor:
        model = recogniser(Tuning(method=method, inner=4, terms=2, initial_scale=scale))
        adapter = next(one for one in model.modules() if hasattr(one, "down") and hasattr(one, "last"))
        states = torch.ones(1, 3, WIDTH).cumsum(-1) / WIDTH
        return adapter(states) - (states if method == "compacter" else 0)

    assert torch.allclose(added(0.01), 0.01 * added(1.0), atol=1e-7)


def test_a_parallel_adapter_reads_what_its_sublayer_reads() -> None:
    model = recogniser(Tuning(method="parallel", inner=4, scale=3.0)).eval()
    block = model.encoder.layers[0]
    states = torch.randn(1, 9, WIDTH)
    heard = block.self_attn_layer_norm(states)
    block.self_attn._read.clear()
    attention = block.self_attn.sublayer(heard, attention_mask=None)[0]
    one = block.self_attn.adapter
    more = 3.0 * (heard @ one.down.weight.T + one.down.bias).relu() @ one.up.weight.T + 3.0 * one.up.bias
    after = states + attention + more
    ahead = block.final_layer_norm(after)
    block.fc2._read.clear()
    inside = block.fc2.sublayer(block.activation_fn(block.fc1(ahead)))
    expected = after + inside + block.fc2.adapter(ahead)
    found = block(states, attention_mask=None)
    found = found[0] if isinstance(found, tuple) else found
    assert torch.allclose(found, expected, atol=1e-5)
    assert sum(isinstance(one, Beside) for one in model.modules()) == 4


def test_adapters_that_share_nothing_start_as_they_did() -> None:
    """What Compacter draws in front of its adapters is drawn for it alone."""
    torch.manual_seed(0)
    encoder = build_from_config(WHISPER, seed=0)
    torch.manual_seed(3)
    tune(encoder, Tuning(method="conv", inner=4))
    torch.manual_seed(3)
    first = torch.nn.Linear(WIDTH, 4).weight
    found = encoder.layers[0].self_attn.adapter.first.weight.flatten(1)
    assert found.shape == first.shape and torch.equal(found, first)
