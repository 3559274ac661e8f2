"""Ways to merge two models: known answers, zero strength bit for bit, and peft's own functions on the same tensors."""

import pytest
import torch
from features_samples import tiny_mistral
from pydantic import ValidationError
from reprlab.models.build import load_model, save_model
from reprlab.models.merging import WAYS, MergeSettings, merged_model
from reprlab.plugins import load_plugin
from reprlab.runtime.errors import ReprlabError

WITH_BASE = {"task_arithmetic": {}, "ties": {"density": 0.4}, "dare": {"drop": 0.5}, "re_adapt": {}}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    for seed, name in enumerate(("base", "first", "second")):
        (root / name).mkdir()
        save_model(tiny_mistral(seed), root / name)
    return root


def state(folders, name):
    return load_model(folders / name).state_dict()


def merged(folders, method, **options):
    settings = MergeSettings(method=method, options=options, dtype="float32")
    return merged_model(folders / "first", folders / "second", settings, folders / "base").state_dict()


def one_tensor(method, first, second, base, seed=0, **options):
    way = load_plugin(WAYS, method)
    random = torch.Generator().manual_seed(seed)
    return way.merge(way.Settings(**options), first.double(), second.double(), base.double(), random)


def equal(found, wanted):
    return all(torch.equal(found[name], value) for name, value in wanted.items())


@pytest.mark.parametrize(
    ("method", "options", "is_model"),
    [
        ("linear", {"fraction": 0}, "first"),
        ("linear", {"fraction": 1}, "second"),
        ("task_arithmetic", {"weights": (1, 0)}, "first"),
        ("task_arithmetic", {"weights": (0, 1)}, "second"),
        ("task_arithmetic", {"scale": 0}, "base"),
        ("dare", {"drop": 0, "weights": (1, 0)}, "first"),
        ("dare", {"drop": 1}, "base"),
        ("ties", {"density": 0.5, "scale": 0}, "base"),
    ],
)
def test_at_zero_strength_a_merge_is_one_of_its_models_bit_for_bit(folders, method, options, is_model):
    assert equal(merged(folders, method, **options), state(folders, is_model))


def test_dare_that_drops_nothing_is_task_arithmetic_bit_for_bit(folders):
    assert equal(merged(folders, "dare", drop=0, scale=0.7), merged(folders, "task_arithmetic", scale=0.7))


def re_adapted(folders, second, **options):
    settings = MergeSettings(method="re_adapt", options=options, dtype="float32")
    return merged_model(folders / "first", folders / second, settings, folders / "base").state_dict()


@pytest.mark.parametrize("rank", [None, 10**6])
def test_without_further_pretraining_re_adapt_is_the_fine_tuned_model_bit_for_bit(folders, rank):
    assert equal(re_adapted(folders, "base", rank=rank), state(folders, "first"))


def test_re_adapt_adds_what_fine_tuning_changed_to_the_later_base(folders):
    base, first, second = (state(folders, name) for name in ("base", "first", "second"))
    for name, value in re_adapted(folders, "second").items():
        assert torch.allclose(value, second[name] + (first[name] - base[name]), atol=1e-6), name
    assert equal(re_adapted(folders, "second", rank=10**6), re_adapted(folders, "second"))


@pytest.mark.parametrize("rank", [0, 1, 3, 5])
def test_what_a_rank_leaves_out_is_the_tail_of_the_spectrum(rank):
    base, first, second = torch.randn(3, 7, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    error = one_tensor("re_adapt", first, second, base) - one_tensor("re_adapt", first, second, base, rank=rank)
    values = torch.linalg.svdvals(first - base)
    assert torch.allclose(torch.linalg.svdvals(error)[: 5 - rank], values[rank:])
    kept = one_tensor("re_adapt", first, base, base, rank=rank) - base
    assert int(torch.linalg.matrix_rank(kept, atol=1e-9)) == rank
    vector = one_tensor("re_adapt", first[0], second[0], base[0], rank=rank)
    assert torch.equal(vector, one_tensor("re_adapt", first[0], second[0], base[0])), "no matrix: its whole change"


def test_the_mean_over_draws_of_dare_is_the_whole_change():
    base, first = torch.zeros(50), torch.linspace(-1, 2, 50)
    draws = [one_tensor("dare", first, base, base, seed, drop=0.6, weights=(1, 0)) for seed in range(200)]
    error = torch.stack(draws).mean(0) - first.double()
    # A draw has variance d^2 p / (1 - p): five standard errors of the mean.
    assert (error.abs() <= 5 * first.double().abs() * (0.6 / 0.4 / 200) ** 0.5 + 1e-12).all()
    kept = torch.stack(draws) != 0
    assert float(kept.double().mean()) == pytest.approx(0.4, abs=0.02)
    assert torch.allclose(draws[0][kept[0]], first.double()[kept[0]] / 0.4)


def test_dare_divides_by_what_is_given_and_draws_anew_with_another_seed(folders):
    base, first = torch.zeros(9), torch.ones(9)
    found = one_tensor("dare", first, base, base, drop=0.5, rescale=0.25, weights=(1, 0))
    assert set(found.tolist()) == {0.0, 4.0}
    runs = [merged(folders, "dare", drop=0.5, seed=seed) for seed in (0, 0, 1)]
    assert equal(runs[0], runs[1]) and not equal(runs[0], runs[2])


def test_what_dare_drops_of_a_tensor_is_drawn_for_that_tensor(folders):
    """Two tensors of one shape lose other numbers."""
    base, found = state(folders, "base"), merged(folders, "dare", drop=0.5)
    kept = {}
    for name, value in base.items():
        kept.setdefault(value.shape, []).append(found[name] != value)
    pairs = [masks for masks in kept.values() if len(masks) > 1 and masks[0].numel() > 50]
    assert pairs and all(not torch.equal(masks[0], masks[1]) for masks in pairs)


def test_ties_by_hand():
    """Trimmed to two of four; the signs of the sums win; only what agrees is averaged."""
    first, second = torch.tensor([3.0, -2.0, 0.5, 0.1]), torch.tensor([-1.0, -4.0, 0.2, 3.0])
    found = one_tensor("ties", first, second, torch.zeros(4), density=0.5)
    assert found.tolist() == [3.0, -3.0, 0.0, 3.0]


@pytest.mark.parametrize("weights", [(1.0, 1.0), (0.3, 0.8)])
def test_it_is_what_peft_does_with_the_same_tensors(weights):
    from peft.utils import merge_utils

    base, *models = torch.randn(3, 6, 5, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    changes = [model - base for model in models]
    for method, theirs, options in (
        ("task_arithmetic", merge_utils.task_arithmetic(changes, torch.tensor(weights)), {}),
        ("ties", merge_utils.ties(changes, torch.tensor(weights), 0.4), {"density": 0.4}),
    ):
        found = one_tensor(method, *models, base, weights=weights, **options) - base
        assert torch.allclose(found, theirs.double(), atol=1e-6), method


@pytest.mark.parametrize(("method", "options"), WITH_BASE.items())
def test_a_way_that_reads_the_base_asks_for_it(folders, method, options):
    settings = MergeSettings(method=method, options=options)
    with pytest.raises(ReprlabError, match=f"{method}: adds to a base model"):
        merged_model(folders / "first", folders / "second", settings)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("ties", {"density": 0}),
        ("dare", {"drop": 1.5}),
        ("linear", {}),
        ("slerp", {"t": 1}),
        ("re_adapt", {"rank": -1}),
    ],
)
def test_settings_that_a_way_does_not_take_are_refused(method, options):
    with pytest.raises(ValidationError):
        MergeSettings(method=method, options=options)


def test_a_fraction_alone_is_a_point_of_slerp():
    assert MergeSettings(fraction=0.3) == MergeSettings(method="slerp", options={"fraction": 0.3})
    with pytest.raises(ValidationError):
        MergeSettings(method="linear", fraction=0.3)


def test_every_module_is_a_way_that_keeps_equal_models(folders):
    from pathlib import Path

    import reprlab.models.merges

    names = {path.stem for path in Path(reprlab.models.merges.__file__).parent.glob("[a-z]*.py")}
    needed = {"slerp": {"fraction": 0.3}, "linear": {"fraction": 0.3}} | WITH_BASE
    assert names == set(needed)
    for name, options in needed.items():
        value = torch.tensor([1.0, -2.0])
        assert torch.allclose(one_tensor(name, value, value, value, **options), value.double()), name
