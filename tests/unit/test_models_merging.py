import math

import pytest
import torch
from features_samples import tiny_mistral
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.models.build import load_model, save_model
from reprlab.models.merges.slerp import PARALLEL
from reprlab.models.merging import MergeSettings, merged_model, slerp
from reprlab.models.shared_weights import names_by_tensor
from reprlab.runtime.errors import ReprlabError

E1, E2 = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])


@pytest.mark.parametrize(
    ("fraction", "second", "expected"),
    [
        (1 / 2, (0, 1), (0.707107, 0.707107)),
        (1 / 3, (0, 1), (0.866025, 0.5)),
        (0.58, (0, 1), (0.612907, 0.790155)),
        (0.58, (0.5, 0.8660254), (0.821149, 0.570714)),
        (1 / 2, (0, 3), (0.707107, 2.121320)),
        (1 / 2, (-1, 0), (0, 0)),
        (0.25, (-1, 0), (0.5, 0)),
    ],
)
def test_known_points_of_the_arc(fraction, second, expected):
    """Spec 5.3."""
    found = slerp(fraction, E1, torch.tensor(second, dtype=torch.float32))
    assert found.tolist() == pytest.approx(expected, abs=1e-6)


def test_a_vector_without_length_is_at_right_angles_to_all():
    assert slerp(0.5, torch.zeros(2), E1).tolist() == pytest.approx((0.707107, 0), abs=1e-6)


@pytest.mark.parametrize(("degrees", "linear"), [(1.811, True), (1.813, False), (178.188, False), (178.190, True)])
def test_below_1_812_degrees_the_arc_is_a_line(degrees, linear):
    angle = math.radians(degrees)
    assert math.degrees(math.acos(PARALLEL)) == pytest.approx(1.812, abs=5e-4)
    second = torch.tensor([math.cos(angle), math.sin(angle)], dtype=torch.float64)
    found = slerp(0.3, E1.double(), second)
    assert torch.equal(found, 0.7 * E1.double() + 0.3 * second) == linear


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000), st.floats(0, 1))
def test_ends_symmetry_and_lengths(seed, fraction):
    one, two = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    assert torch.equal(slerp(0, one, two), one) and torch.equal(slerp(1, one, two), two)
    assert torch.allclose(slerp(fraction, one, two), slerp(1 - fraction, two, one), atol=1e-12)
    two = two * one.norm() / two.norm()
    assert float(slerp(fraction, one, two).norm()) == pytest.approx(float(one.norm()), rel=1e-9)
    assert torch.allclose(slerp(fraction, one, one), one, atol=1e-12)


def saved(model, folder):
    folder.mkdir()
    save_model(model, folder)
    return folder


def test_a_model_merged_with_itself_is_itself_but_for_the_cast(tmp_path):
    folder = saved(tiny_mistral(), tmp_path / "a")
    original = load_model(folder).state_dict()
    for dtype, exact in (("float32", True), ("float16", False)):
        found = merged_model(folder, folder, MergeSettings(options={"fraction": 0.58}, dtype=dtype)).state_dict()
        for name, value in original.items():
            expected = value if exact else value.half().float()
            assert torch.allclose(found[name], expected, rtol=0, atol=1e-7), name


def test_ends_of_a_merge_are_its_models(tmp_path):
    first, second = saved(tiny_mistral(1), tmp_path / "a"), saved(tiny_mistral(2), tmp_path / "b")
    for fraction, folder in ((0, first), (1, second)):
        found = merged_model(first, second, MergeSettings(options={"fraction": fraction}, dtype="float32")).state_dict()
        for name, value in load_model(folder).state_dict().items():
            assert torch.equal(found[name], value)


def test_models_of_other_sizes_are_refused(tmp_path):
    other = tiny_mistral()
    other.resize_token_embeddings(44)
    with pytest.raises(ReprlabError, match="one architecture and size"):
        merged_model(
            saved(tiny_mistral(), tmp_path / "a"),
            saved(other, tmp_path / "b"),
            MergeSettings(options={"fraction": 0.5}),
        )


def tied_mistral(seed, tie=True):
    from transformers import MistralConfig, MistralForCausalLM

    torch.manual_seed(seed)
    return MistralForCausalLM(MistralConfig(**{**tiny_mistral().config.to_dict(), "tie_word_embeddings": tie}))


@pytest.mark.parametrize("fraction", [0.0, 0.3, 0.5, 1.0])
def test_a_tensor_of_two_names_is_merged_once(fraction, tmp_path):
    """An output layer that is the embedding is in the state twice: the second turn would start from the first."""
    models = [tied_mistral(seed) for seed in (0, 1)]
    folders = [saved(model, tmp_path / str(place)) for place, model in enumerate(models)]
    found = merged_model(*folders, MergeSettings(options={"fraction": fraction}, dtype="float32"))
    wanted = slerp(fraction, *(model.model.embed_tokens.weight.detach() for model in models))
    assert torch.equal(found.model.embed_tokens.weight, wanted)
    assert found.lm_head.weight.data_ptr() == found.model.embed_tokens.weight.data_ptr()


def test_models_that_tie_other_weights_are_refused(tmp_path):
    folders = [saved(tied_mistral(0, tie), tmp_path / str(tie)) for tie in (True, False)]
    for order in (folders, folders[::-1]):
        with pytest.raises(ReprlabError, match="ties other weights"):
            merged_model(*order, MergeSettings(options={"fraction": 0.5}))


def test_names_of_one_tensor():
    whole, empty = torch.zeros(4, 3), torch.zeros(0)
    state = {"a": whole, "part": whole[:2], "b": whole, "turned": whole.T, "none": empty, "nothing": torch.zeros(0)}
    assert names_by_tensor(state) == [("a", "b"), ("part",), ("turned",), ("none",), ("nothing",)]
