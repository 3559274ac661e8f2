import math

import pytest
import torch
from features_samples import INNER, planted, tiny_mistral, token_file
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.features.activations import inner_states, replaced_states, state_width
from reprlab.features.autoencoder import SparseAutoencoder, geometric_median, parameter_count
from reprlab.features.quality import measure_quality
from reprlab.features.settings import AutoencoderSettings, AutoencoderShape
from reprlab.features.training import train_on_blocks
from reprlab.runtime.errors import ReprlabError
from reprlab.text.token_store import TokenStore

pytestmark = pytest.mark.usefixtures("one_thread")


def shape(**changes):
    return AutoencoderShape(**{"features": 32, "l1": 0.01, "dead_window": 5, **changes})


def identity(width, l1, **changes):
    found = SparseAutoencoder(width, shape(features=width, l1=l1, **changes))
    with torch.no_grad():
        found.encoder.copy_(torch.eye(width))
        found.decoder.copy_(torch.eye(width))
    return found


def test_inner_states_are_the_gated_product():
    model, ids = tiny_mistral(), torch.arange(12).view(2, 6)
    seen = []
    layer = model.model.layers[0]
    handle = layer.mlp.register_forward_pre_hook(lambda _module, inputs: seen.append(inputs[0]))
    with torch.no_grad():
        before = model(ids).logits
    handle.remove()
    mlp = layer.mlp
    expected = torch.nn.functional.silu(mlp.gate_proj(seen[0])) * mlp.up_proj(seen[0])
    assert torch.equal(inner_states(model, 0, ids), expected.detach())
    assert state_width(model, 0) == INNER
    with torch.no_grad(), replaced_states(model, 0, lambda state: state):
        assert torch.equal(model(ids).logits, before)
    with torch.no_grad(), replaced_states(model, 0, torch.zeros_like):
        assert not torch.equal(model(ids).logits, before)
    with torch.no_grad():
        assert torch.equal(model(ids).logits, before)


def test_a_layer_that_does_not_exist_is_named():
    with pytest.raises(ReprlabError, match="1 layers with a gated MLP, and layer 3"):
        inner_states(tiny_mistral(), 3, torch.zeros(1, 4, dtype=torch.long))


def test_published_size():
    assert parameter_count(1024, 16_384) == 33_571_840
    found = SparseAutoencoder(24, shape(features=40))
    assert sum(parameter.numel() for parameter in found.parameters()) == parameter_count(24, 40)


def test_an_identity_dictionary_pays_for_its_sparsity_only():
    x = torch.rand(50, 8, generator=torch.Generator().manual_seed(1))
    found = identity(8, 0.25)
    assert torch.allclose(found.decode(found.encode(x)), x)
    assert found.loss(x)[0].item() == pytest.approx(0.25 * float(x.abs().sum(1).mean()), rel=1e-6)


@pytest.mark.parametrize("subtract", [False, True])
def test_the_bias_is_taken_off_before_encoding_where_that_is_asked_for(subtract):
    x = torch.rand(20, 8, generator=torch.Generator().manual_seed(1)) + 1
    found = identity(8, 0.25, subtract_bias=subtract)
    with torch.no_grad():
        found.decoder_bias.fill_(0.5)
        found.scale.fill_(2.0)
    assert torch.allclose(found.encode(x), 2 * x - 0.5 * subtract)
    assert torch.allclose(found.decode(found.encode(x)), x + 0.25 * (not subtract))


def test_the_published_loss_is_the_per_token_loss_with_one_and_a_half_times_its_coefficient():
    """Spec 5.5: [128, 24, 1024] at 16,384 features there; here the same ratio at 32 features of width 2."""
    width, features, length, coefficient = 2, 32, 24, 3e-3
    random = torch.Generator().manual_seed(0)
    x = torch.randn(16, length, width, generator=random)
    found = SparseAutoencoder(width, shape(features=features, l1=coefficient * length * width / features))
    assert found.shape.l1 == pytest.approx(1.5 * coefficient)
    flat = x.flatten(0, 1)
    found.centre.copy_(flat.mean(0))
    h = found.encode(flat).view(16, length, features)
    error = found.decode(h) - x
    norms = (x - flat.mean(0)).norm(dim=-1, keepdim=True)
    published = (error.square() / norms).mean() + coefficient * h.norm(p=1, dim=1).mean()
    assert width * published.item() == pytest.approx(found.loss(flat)[0].item(), rel=1e-5)


def test_gradients_of_atoms_are_orthogonal_to_them_and_norms_stay_one():
    found = SparseAutoencoder(12, shape())
    optimizer = torch.optim.Adam(found.parameters(), lr=0.05)
    for step in range(5):
        x = torch.randn(64, 12, generator=torch.Generator().manual_seed(step))
        found.loss(x)[0].backward()
        along = (found.decoder.grad * found.decoder.detach()).sum(0)
        assert along.abs().max() < 1e-6 < found.decoder.grad.abs().max()
        optimizer.step()
        found.constrain()
        optimizer.zero_grad()
        assert torch.allclose(found.decoder.norm(dim=0), torch.ones(32), atol=1e-5)


def test_features_that_do_not_fire_are_idle():
    found = SparseAutoencoder(4, shape(features=6, dead_window=2))
    with torch.no_grad():
        found.encoder_bias[:2] = -100
        found.encoder_bias[2:] = 100
    shares = [float(found.loss(torch.randn(8, 4))[1]["idle_part"]) for _ in range(3)]
    assert shares == [0, 2, 2]


def test_start_scales_to_the_root_of_the_width():
    x = 3 + torch.randn(500, 16, generator=torch.Generator().manual_seed(2))
    found = SparseAutoencoder(16, shape())
    found.start_from(x)
    assert float((x * found.scale).norm(dim=1).mean()) == pytest.approx(4.0)
    assert torch.allclose(found.centre, (x * found.scale).mean(0), atol=1e-6)
    raw = SparseAutoencoder(16, shape(normalise=False))
    raw.start_from(x)
    assert float(raw.scale) == 1.0
    with pytest.raises(ReprlabError, match="all nought"):
        found.start_from(torch.zeros(5, 16))


def test_geometric_median_is_not_moved_by_a_far_point():
    points = torch.tensor([[0.0, 0.0], [2.0, 0.0], [1.0, 1.0], [1.0, -1.0], [1.0, 0.0], [1e6, 1e6]])
    assert torch.allclose(geometric_median(points), torch.tensor([1.0, 0.0]), atol=0.3)
    assert torch.equal(geometric_median(torch.ones(3, 2)), torch.ones(2))


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000))
def test_no_coordinate_step_betters_the_geometric_median(seed):
    points = torch.randn(30, 3, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    found = geometric_median(points, rounds=500, tolerance=1e-12)
    least = (points - found).norm(dim=1).sum()
    for step in (1e-2 * torch.eye(3, dtype=torch.float64)).repeat(2, 1) * torch.tensor([[1.0]] * 3 + [[-1.0]] * 3):
        assert (points - found - step).norm(dim=1).sum() >= least - 1e-9


def test_a_saved_autoencoder_opens_again(tmp_path):
    found = SparseAutoencoder(6, shape(subtract_bias=True), seed=3)
    found.start_from(torch.randn(40, 6))
    found.save(tmp_path)
    again = SparseAutoencoder.load(tmp_path)
    x = torch.randn(9, 6)
    assert torch.equal(found.encode(x), again.encode(x)) and again.shape == found.shape
    (tmp_path / "autoencoder.safetensors").write_bytes(b"no")
    with pytest.raises(ReprlabError, match="not a readable sparse autoencoder"):
        SparseAutoencoder.load(tmp_path)


def test_seeds_give_dictionaries_of_their_own():
    same = SparseAutoencoder(8, shape(), seed=1).decoder
    assert torch.equal(same, SparseAutoencoder(8, shape(), seed=1).decoder)
    assert not torch.equal(same, SparseAutoencoder(8, shape(), seed=2).decoder)


def trained_on(x, features, steps, l1, seed=0):
    found = SparseAutoencoder(x.shape[1], shape(features=features, l1=l1, encoder_start="atoms"), seed)
    found.start_from(x[:2000])
    optimizer = torch.optim.Adam(found.parameters(), lr=3e-3)
    random = torch.Generator().manual_seed(seed)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 3e-3 * min(1.0, 2 * (1 - step / steps))
        batch = x[torch.randint(len(x), (256,), generator=random)]
        found.loss(batch)[0].backward()
        optimizer.step()
        found.constrain()
        optimizer.zero_grad()
    return found


def test_planted_atoms_are_found():
    """Spec 5.10: at least 95 % of the planted atoms have a learned one at cosine 0.9."""
    dictionary, x = planted(atoms=64, width=32, tokens=20_000, active=3)
    found = trained_on(x, 128, 1500, l1=0.2)
    best = (dictionary.T @ found.decoder.detach()).max(dim=1).values
    assert float((best > 0.9).float().mean()) >= 0.95


def test_reconstruction_score_of_identity_and_nothing():
    model = tiny_mistral()
    batches = [torch.randint(2, 40, (4, 8), generator=torch.Generator().manual_seed(seed)) for seed in range(3)]

    def code(state):
        return torch.cat([state.relu(), (-state).relu()], dim=1)

    same = measure_quality(model, 0, batches, code, lambda h: h[:, :INNER] - h[:, INNER:])
    assert same.recovered() == pytest.approx(1.0, abs=1e-9)
    assert same.values()["explained_variance"] == pytest.approx(100.0)
    # Of each pair of a state's positive and negative part one fires.
    assert same.values()["l0"] == pytest.approx(INNER, abs=0.01)
    nothing = measure_quality(
        model, 0, batches, lambda state: torch.zeros(len(state), 5), lambda h: torch.zeros(len(h), INNER)
    )
    assert nothing.recovered() == pytest.approx(0.0, abs=1e-9)
    values = nothing.values()
    assert values["dead_share"] == 100 and values["l0"] == 0 and values["below_one_in_100"] == 100
    assert values["clean_loss"] == pytest.approx(math.log(40), abs=0.5) and same.tokens == 96


class _PulledPlugError(Exception):
    pass


def run_settings(steps=9):
    engine = {"steps": steps, "batch_size": 8, "optimizer": {"learning_rate": 1e-3, "beta2": 0.9999, "clip_norm": None}}
    return AutoencoderSettings(shape=shape(start_blocks=0.2), block=6, engine={**engine, "log_every": 3})


def test_a_resumed_training_ends_with_the_same_bytes(tmp_path, monkeypatch):
    store = TokenStore.open(token_file(tmp_path / "tokens.parquet"), "train", packing=6)
    options = {"save_every": 2, "fingerprint": "f", "device": "cpu"}
    whole, run = train_on_blocks(tiny_mistral(), store, run_settings(), work=tmp_path / "a", **options)
    assert [row["step"] for row in run.metrics] == [3, 6, 9]
    assert {"reconstruction_loss", "l0_loss", "unexplained_share", "idle_share"} <= set(run.metrics[0])
    assert run.metrics[-1]["reconstruction_loss"] < run.metrics[0]["reconstruction_loss"]
    assert torch.allclose(whole.decoder.norm(dim=0), torch.ones(32), atol=1e-5)
    constrain, calls = SparseAutoencoder.constrain, []

    def pulled(self):
        calls.append(1)
        if len(calls) == 6:
            raise _PulledPlugError
        constrain(self)

    monkeypatch.setattr(SparseAutoencoder, "constrain", pulled)
    with pytest.raises(_PulledPlugError):
        train_on_blocks(tiny_mistral(), store, run_settings(), work=tmp_path / "b", **options)
    monkeypatch.setattr(SparseAutoencoder, "constrain", constrain)
    resumed, again = train_on_blocks(tiny_mistral(), store, run_settings(), work=tmp_path / "b", **options)
    assert again.metrics == run.metrics
    for name in ("whole", "resumed"):
        (tmp_path / name).mkdir()
    whole.save(tmp_path / "whole")
    resumed.save(tmp_path / "resumed")
    weights = [(tmp_path / name / "autoencoder.safetensors").read_bytes() for name in ("whole", "resumed")]
    assert weights[0] == weights[1]


def test_the_language_model_is_not_trained(tmp_path):
    store = TokenStore.open(token_file(tmp_path / "tokens.parquet"), "train", packing=6)
    model, before = tiny_mistral(), tiny_mistral()
    train_on_blocks(model, store, run_settings(3), work=tmp_path / "w", save_every=9, fingerprint="f", device="cpu")
    for one, two in zip(model.parameters(), before.parameters(), strict=True):
        assert torch.equal(one, two)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("tail", ["cauchy", "lognormal", "one far"])
def test_the_geometric_median_of_heavy_tails(tail, seed):
    """What far points do to the mean distance says nothing of how near the median a round has come."""
    random = torch.Generator().manual_seed(seed)
    points = torch.randn(300, 4, generator=random)
    if tail == "cauchy":
        points = points / torch.randn(300, 1, generator=random)
    points = torch.exp(3 * points) if tail == "lognormal" else points
    points[0] = 1e7 if tail == "one far" else points[0]
    found = geometric_median(points).double()
    away = points.double() - found
    distances = away.norm(dim=1)
    # At the median the unit vectors to all points add up to nought, but for one that stands upon a point.
    pull = (away / distances[:, None]).sum(0).norm() / len(points)
    assert float(pull) < 1e-5, float(pull)


def test_the_median_of_points_of_which_most_are_one_is_that_point():
    points = torch.tensor([[1.0, 2.0]] * 3 + [[9.0, 9.0], [-50.0, 7.0]])
    assert torch.equal(geometric_median(points), points[0])
