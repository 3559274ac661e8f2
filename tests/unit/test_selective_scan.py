"""The chunked scans against transformers' own path, the recurrence written out, and the mathematics of section 2."""

import math

import pytest
import torch
from reprlab.models import selective_scan as scans


def _original(function):
    return getattr(function, "replaces", function)


def _plain(monkeypatch):
    """transformers' Mamba modules with their own functions."""
    from transformers.models.mamba import modeling_mamba
    from transformers.models.mamba2 import modeling_mamba2

    for module in (modeling_mamba, modeling_mamba2):
        for name, function in list(vars(module).items()):
            if hasattr(function, "replaces"):
                monkeypatch.setattr(module, name, function.replaces)
    return modeling_mamba, modeling_mamba2


@pytest.mark.parametrize("length", [1, 7, 64, 65, 100])
@pytest.mark.parametrize("chunk", [1, 7, 64, 128])
def test_recurrence_is_the_loop(length, chunk):
    torch.manual_seed(0)
    decay = torch.rand(2, length, 3, 4, dtype=torch.float64, requires_grad=True)
    inputs = torch.randn(2, length, 3, 4, dtype=torch.float64, requires_grad=True)
    state, states = torch.zeros(2, 3, 4, dtype=torch.float64), []
    for place in range(length):
        state = decay[:, place] * state + inputs[:, place]
        states.append(state)
    expected = torch.stack(states, 1)
    found = scans.linear_recurrence(decay, inputs, chunk)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    weights = torch.randn_like(expected)
    for one, two in zip(
        torch.autograd.grad((found * weights).sum(), (decay, inputs)),
        torch.autograd.grad((expected * weights).sum(), (decay, inputs)),
        strict=True,
    ):
        torch.testing.assert_close(one, two, rtol=0, atol=1e-10)


def _compare(ours, reference, arguments, **options):
    outputs = []
    for function in (ours, reference):
        given = [argument.clone().requires_grad_() for argument in arguments]
        found = function(*given, **options)
        generator = torch.Generator().manual_seed(1)
        (found * torch.randn(found.shape, generator=generator)).sum().backward()
        outputs.append((found.detach(), *[one.grad for one in given]))
    for one, two in zip(*outputs, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("at_once", [1, 2, 1000])
@pytest.mark.parametrize("length", [1, 5, 32, 70])
def test_mamba_scan_is_transformers(length, at_once, monkeypatch):
    """Of three sequences so many at once."""
    from transformers.models.mamba import modeling_mamba

    monkeypatch.setattr(scans, "_SCANNED", at_once * 6 * 4)
    torch.manual_seed(length)
    arguments = [torch.randn(3, 6, length), torch.randn(3, 6, length), -torch.rand(6, 4)]
    arguments += [torch.randn(3, 4, length), torch.randn(3, 4, length), torch.randn(6), torch.randn(3, 6, length)]
    arguments += [torch.randn(6)]
    reference = _original(modeling_mamba.mamba_selective_scan)
    _compare(scans.selective_scan, reference, arguments, delta_softplus=True)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(("length", "chunk"), [(1, 256), (5, 1), (32, 7), (70, 64), (70, 256)])
def test_mamba2_scan_is_transformers(length, chunk, groups):
    from transformers.models.mamba2 import modeling_mamba2

    torch.manual_seed(length)
    reference = _original(modeling_mamba2.mamba2_chunk_scan)
    arguments = [torch.randn(2, length, 4, 3), torch.randn(2, length, 4), -torch.rand(4)]
    arguments += [torch.randn(2, length, groups, 5), torch.randn(2, length, groups, 5)]
    _compare(
        lambda *given: scans.state_space_dual(*given, chunk_size=chunk, dt_softplus=True),
        lambda *given: reference(*given, chunk_size=chunk, dt_softplus=True),
        arguments,
    )


@pytest.mark.parametrize("length", [1, 3, 20])
def test_convolution_is_transformers(length):
    from transformers.models.mamba import modeling_mamba

    torch.manual_seed(0)
    reference = _original(modeling_mamba.causal_conv1d_fn)
    arguments = [torch.randn(2, 5, length), torch.randn(5, 4), torch.randn(5)]
    _compare(scans.causal_convolution, reference, arguments, activation="silu")


def _models():
    from transformers import Mamba2Config, Mamba2Model, MambaConfig, MambaModel

    torch.manual_seed(0)
    small = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2}
    mamba2 = Mamba2Config(**small, num_heads=4, head_dim=8, state_size=6, n_groups=1)
    return {"mamba": MambaModel(MambaConfig(**small)), "mamba2": Mamba2Model(mamba2)}


@pytest.mark.parametrize("name", ["mamba", "mamba2"])
def test_model_with_chunks_is_the_plain_one(name, monkeypatch):
    """Forward, gradient, padding on either side, and token by token with a cache."""
    model = _models()[name].eval()
    ids = torch.randint(1, 50, (2, 41), generator=torch.Generator().manual_seed(0))
    found = []
    for install in (False, True):
        _plain(monkeypatch)
        if install:
            assert scans.install_scans(torch.device("cpu")) == "chunked"
        model.zero_grad()
        states = model(input_ids=ids, use_cache=False).last_hidden_state
        # The states are normalised, so that their squares sum to a constant: weigh them.
        (states * torch.randn(states.shape, generator=torch.Generator().manual_seed(1))).sum().backward()
        found.append((states.detach(), [parameter.grad.clone() for parameter in model.parameters()]))
    torch.testing.assert_close(found[0][0], found[1][0], rtol=1e-5, atol=1e-5)
    for one, two in zip(found[0][1], found[1][1], strict=True):
        torch.testing.assert_close(one, two, rtol=1e-5, atol=1e-5 * max(1.0, one.abs().max().item()))
    with torch.inference_mode():
        alone = model(input_ids=ids[:1], use_cache=False).last_hidden_state[:, -1]
        padding = torch.zeros(1, 5, dtype=torch.long)
        ones = torch.ones_like(ids[:1])
        right = {"input_ids": torch.cat([ids[:1], padding], 1), "attention_mask": torch.cat([ones, padding], 1)}
        left = {"input_ids": torch.cat([padding, ids[:1]], 1), "attention_mask": torch.cat([padding, ones], 1)}
        torch.testing.assert_close(model(**right, use_cache=False).last_hidden_state[:, 40], alone, rtol=0, atol=1e-5)
        torch.testing.assert_close(model(**left, use_cache=False).last_hidden_state[:, -1], alone, rtol=0, atol=1e-5)
        changed = ids[:1].clone()
        changed[0, 20] = (changed[0, 20] + 1) % 50
        both = model(input_ids=torch.cat([ids[:1], changed]), use_cache=False).last_hidden_state
        assert torch.equal(both[0, :20], both[1, :20])
        assert not torch.equal(both[0, 20:], both[1, 20:])
        cache, steps = None, []
        for place in range(ids.shape[1]):
            step = model(input_ids=ids[:1, place : place + 1], cache_params=cache, use_cache=True)
            cache = step.cache_params
            steps.append(step.last_hidden_state)
        torch.testing.assert_close(torch.cat(steps, 1), both[:1], rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("device", "missing", "path"),
    [
        ("cuda", (), "compiled"),
        ("cpu", (), "chunked"),
        ("cuda", ("is_causal_conv1d_available",), "chunked"),
        ("cuda", ("is_mamba_2_ssm_available",), "chunked"),
        ("cuda", ("is_mamba_2_ssm_available", "is_mamba_ssm_available"), "chunked"),
    ],
)
def test_compiled_where_all_kernels_run(device, missing, path, monkeypatch, caplog):
    """On a GPU with both packages, a mamba_ssm that knows Mamba-2; elsewhere no kernel of theirs is left in the way."""
    from transformers.utils import import_utils

    for check in ("is_mamba_ssm_available", "is_mamba_2_ssm_available", "is_causal_conv1d_available"):
        monkeypatch.setattr(import_utils, check, lambda check=check: check not in missing)
    mamba, mamba2 = _plain(monkeypatch)
    replaced = {mamba: ("mamba_selective_scan", "mamba_inner_fn", "causal_conv1d_fn"),
                mamba2: ("mamba2_chunk_scan", "mamba2_split_conv1d_scan_combined", "causal_conv1d_fn")}  # fmt: skip
    for module, names in replaced.items():
        for name in names:
            monkeypatch.setattr(module, name, lambda *_, **__: "a kernel's result")
    with caplog.at_level("INFO", logger="reprlab"):
        assert scans.install_scans(torch.device(device)) == path
    assert caplog.messages == [f"scans of Mamba layers, where a model has them: {path}"]
    for module, names in replaced.items():
        assert [hasattr(getattr(module, name), "replaces") for name in names] == [path == "chunked"] * 3
    if path == "chunked":
        assert mamba.mamba_inner_fn() is mamba2.mamba2_split_conv1d_scan_combined() is None


def test_the_gradient_of_long_steps_is_as_exact_as_that_of_transformers():
    """At a step of 4 and A = -4 sums over a chunk reach -500: their differences would lose what segments keep."""
    from transformers.models.mamba2 import modeling_mamba2

    torch.manual_seed(0)
    whole = {
        "hidden_states": torch.randn(1, 96, 4, 8),
        "dt": 4 + 0.1 * torch.randn(1, 96, 4),
        "A": -4 + 0.1 * torch.randn(4),
        "B": torch.randn(1, 96, 1, 8),
        "C": torch.randn(1, 96, 1, 8),
    }
    weights = torch.randn(1, 96, 4, 8)

    def gradient(function, dtype):
        given = {name: value.to(dtype, copy=True) for name, value in whole.items()}
        rates = given["A"].requires_grad_()
        found = function(**given)
        (found * weights.to(dtype)).sum().backward()
        return rates.grad.double()

    def recurrence(hidden_states, dt, A, B, C):
        state, found = torch.zeros(1, 4, 8, 8, dtype=torch.float64), []
        for place in range(96):
            decay = (dt[:, place] * A).exp()[..., None, None]
            state = decay * state + (dt[:, place, :, None] * hidden_states[:, place])[..., None] * B[:, place, :, None]
            found.append((state * C[:, place, :, None]).sum(-1))
        return torch.stack(found, 1)

    def theirs(**given):
        return _original(modeling_mamba2.mamba2_chunk_scan)(**given, chunk_size=32)

    exact = gradient(recurrence, torch.float64)
    errors = [
        ((gradient(function, torch.float32) - exact).norm() / exact.norm()).item()
        for function in (scans.state_space_dual, theirs)
    ]
    assert errors[0] < 1.5 * errors[1], errors


def test_zero_order_hold():
    """A = -1 and d = ln 2: the decay is 1/2, the kernel 1/2, 1/4, 1/8 ..., the step response 1 - 2^-n."""
    decay, step = scans.zero_order_hold(torch.full((1, 12), -1.0, dtype=torch.float64), math.log(2))
    torch.testing.assert_close(decay, torch.full_like(step, 0.5))
    torch.testing.assert_close(step, torch.full_like(step, 0.5))
    impulse = torch.zeros_like(step)
    impulse[:, 0] = step[:, 0]
    halves = 0.5 ** torch.arange(1, 13, dtype=torch.float64)
    torch.testing.assert_close(scans.linear_recurrence(decay, impulse, 5)[0], halves)
    torch.testing.assert_close(scans.linear_recurrence(decay, step, 5)[0], 1 - halves)


@pytest.mark.parametrize("step", [0.001, 0.1, 1.7])
def test_zero_order_hold_solves_the_equation(step):
    """h' = A h + u is linear in (h, u): both values stand in the exponential of its matrix. As A tends to 0 the factor
    of B tends to the step."""
    rates = torch.tensor([-30.0, -2.0, -0.3, -1e-9, 0.0], dtype=torch.float64)
    found = torch.stack(scans.zero_order_hold(rates, step), 1)
    matrices = torch.tensor([[[rate, 1.0], [0.0, 0.0]] for rate in rates.tolist()], dtype=torch.float64)
    torch.testing.assert_close(found, torch.linalg.matrix_exp(step * matrices)[:, 0], rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(found[3:, 1], torch.full((2,), step, dtype=torch.float64), rtol=1e-8, atol=0)


@pytest.mark.parametrize("seed", range(3))
def test_recurrence_is_a_causal_convolution(seed):
    """Parameters that do not change: y = K * x with K = (C B, C A B, C A^2 B, ...) of the discrete A and B."""
    generator = torch.Generator().manual_seed(seed)
    size, length = 16, 100
    rates = -3 * torch.rand(size, generator=generator, dtype=torch.float64)
    before, after = torch.randn(2, size, generator=generator, dtype=torch.float64)
    inputs = torch.randn(length, generator=generator, dtype=torch.float64)
    decay, factor = scans.zero_order_hold(rates, 0.1)
    states = scans.linear_recurrence(decay.expand(1, length, size), (inputs[:, None] * factor * before)[None])
    kernel = [(after * decay**power * factor * before).sum() for power in range(length)]
    expected = [sum(kernel[place - past] * inputs[past] for past in range(place + 1)) for place in range(length)]
    torch.testing.assert_close(states[0] @ after, torch.stack(expected), rtol=0, atol=1e-6)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("chunk", [1, 7, 64, 100])
def test_mamba2_in_chunks_is_the_recurrence(chunk, groups, monkeypatch):
    """h = exp(dt A) h + dt B x and y = C h, written out in double precision; values and gradients."""
    monkeypatch.setattr(scans, "_CHUNK", chunk)
    torch.manual_seed(0)
    length, heads = 100, 4
    given = [torch.randn(2, length, heads, 3), 0.1 * torch.rand(2, length, heads), -0.1 - 4 * torch.rand(heads)]
    given += [torch.randn(2, length, groups, 5), torch.randn(2, length, groups, 5)]

    def recurrence(inputs, dt, rates, before, after):
        before, after = (part.repeat_interleave(heads // groups, dim=2) for part in (before, after))
        state, found = 0, []
        for place in range(length):
            now = dt[:, place, :, None, None]
            # [batch, heads, P, N]
            added = inputs[:, place, :, :, None] * before[:, place, :, None]
            state = (now * rates[:, None, None]).exp() * state + now * added
            found.append((state @ after[:, place, :, :, None])[..., 0])
        return torch.stack(found, 1)

    outputs = []
    for function, dtype in ((lambda *parts: scans.state_space_dual(*parts, chunk_size=chunk), torch.float32),
                            (recurrence, torch.float64)):  # fmt: skip
        parts = [part.to(dtype).requires_grad_() for part in given]
        found = function(*parts)
        weights = torch.randn(found.shape, generator=torch.Generator().manual_seed(1)).to(dtype)
        outputs.append([found.detach(), *torch.autograd.grad((found * weights).sum(), parts)])
    for one, two in zip(*outputs, strict=True):
        torch.testing.assert_close(one.double(), two, rtol=0, atol=1e-5 * two.abs().max().item())
