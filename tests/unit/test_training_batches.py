import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.runtime.errors import ReprlabError
from reprlab.text.token_store import TokenStore
from reprlab.training.batches import BatchOrder, PretrainingBatches
from reprlab.training.objective import load_objective
from reprlab.training.permutations import Permutation
from reprlab.training.randomness import Purpose, generator
from reprlab.training.settings import EvaluationSettings, PretrainSettings
from reprlab.training.validation import fixed_batches
from training_samples import write_tokens

KNOWN_ORDER = {1: [0], 4: [2, 3, 1, 0], 5: [4, 2, 0, 3, 1], 64: [33, 63, 49, 58, 60, 42], 100: [44, 73, 60, 34, 79, 68]}


@given(examples=st.integers(1, 300), batch=st.integers(1, 16), seed=st.integers(0, 5), epoch=st.integers(0, 3))
def test_an_epoch_shows_no_example_twice(examples, batch, seed, epoch):
    if examples < batch:
        return
    order = BatchOrder(np.arange(examples) % 7, batch, seed)
    steps = examples // batch
    seen = np.concatenate([order.indices(epoch * steps + step) for step in range(steps)])
    assert len(seen) == len(set(seen.tolist())) == steps * batch
    assert seen.min() >= 0 and seen.max() < examples


def test_the_order_depends_on_the_step_alone_and_differs_by_epoch_and_seed():
    lengths = np.random.default_rng(0).integers(5, 50, 100)
    forwards, backwards = BatchOrder(lengths, 8, 3), BatchOrder(lengths, 8, 3)
    steps = range(40)
    expected = [forwards.indices(step) for step in steps]
    for step in reversed(steps):
        np.testing.assert_array_equal(backwards.indices(step), expected[step])
    assert not np.array_equal(expected[0], expected[12])
    assert not np.array_equal(expected[0], BatchOrder(lengths, 8, 4).indices(0))


def test_batches_hold_similar_lengths_in_random_order():
    lengths = np.random.default_rng(0).integers(1, 129, 1024)
    order = BatchOrder(lengths, 16, 0)
    batches = [lengths[order.indices(step)] for step in range(64)]
    waste = sum(16 * batch.max() - batch.sum() for batch in batches) / lengths.sum()
    assert waste < 0.05
    means = [batch.mean() for batch in batches]
    assert means != sorted(means)


def test_too_few_examples_are_refused():
    with pytest.raises(ReprlabError, match="3 training examples do not fill one batch of 4"):
        BatchOrder(np.ones(3, dtype=np.int64), 4, 0)


def test_streams_of_random_numbers_differ():
    draws = {generator(seed, purpose, number).random() for seed in (0, 1) for purpose in Purpose for number in (0, 1)}
    assert len(draws) == 4 * len(Purpose)


@pytest.fixture(params=["t5", "depth"])
def text(request, tmp_path):
    tokens, tokenizer = write_tokens(tmp_path, request.param)
    settings = PretrainSettings.model_validate(
        {
            "objective": request.param,
            "input_length": 48,
            "target_length": 48,
            "engine": {"steps": 5, "batch_size": 8, "accumulation": 2, "optimizer": {"learning_rate": 1e-3}},
        }
    )
    return TokenStore.open(tokens, "train"), load_objective(settings, tokenizer), settings


def test_parts_and_ranks_cut_the_same_batch(text):
    store, objective, settings = text
    one = PretrainingBatches(store, objective, settings)
    whole = [one(3, part, 0, 1) for part in range(2)]
    cut = [PretrainingBatches(store, objective, settings)(3, part, rank, 2) for rank in range(2) for part in range(2)]
    assert {len(part["labels"]) for part in cut} == {2}
    for name in whole[0]:
        joined = np.concatenate([part[name].numpy() for part in whole])
        np.testing.assert_array_equal(joined, np.concatenate([part[name].numpy() for part in cut]))


def test_collating_ahead_gives_the_same_batches(text):
    plain, ahead = PretrainingBatches(*text), PretrainingBatches(*text, ahead=True)
    for step in (0, 1, 2, 9, 10, 3):
        for part in range(2):
            expected, batch = plain(step, part, 0, 1), ahead(step, part, 0, 1)
            for name, value in expected.items():
                np.testing.assert_array_equal(batch[name], value)


def test_a_batch_that_cannot_be_cut_is_refused(text):
    with pytest.raises(ReprlabError, match="times the number of processes \\(3\\)"):
        PretrainingBatches(*text)(0, 0, 0, 3)


def test_fixed_batches_are_the_same_and_shuffling_moves_only_the_encoder(text):
    store, objective, settings = text
    values = settings.model_dump(include={"objective", "input_length", "target_length"})
    evaluation = EvaluationSettings(**values, batches=3, batch_size=8, seed=1)
    batches = fixed_batches(store, objective, evaluation)
    again = fixed_batches(store, objective, evaluation)
    assert [(b.number, b.shuffled) for b in batches] == (
        [(n, s) for n in range(3) for s in (False, True)]
        if settings.objective == "depth"
        else [(n, False) for n in range(3)]
    )
    for first, second in zip(batches, again, strict=True):
        np.testing.assert_array_equal(first.tensors["encoder_ids"], second.tensors["encoder_ids"])
    if settings.objective == "depth":
        np.testing.assert_array_equal(batches[0].tensors["labels"], batches[1].tensors["labels"])
        assert not np.array_equal(batches[0].tensors["encoder_ids"], batches[1].tensors["encoder_ids"])


def test_wrong_objective_settings_are_named(tmp_path):
    _, tokenizer = write_tokens(tmp_path, "t5")
    values = {"objective": "t5", "input_length": 48, "target_length": 48, "batches": 1, "batch_size": 1}
    with pytest.raises(ReprlabError, match=r"objective_settings\.mask_ratio"):
        load_objective(EvaluationSettings(**values, objective_settings={"mask_ratio": 0.3}), tokenizer)
    with pytest.raises(ReprlabError, match="no module"):
        load_objective(EvaluationSettings(**{**values, "objective": "bart"}), tokenizer)


@given(st.integers(1, 3_000), st.integers(0, 2**32))
def test_a_computed_permutation_is_one(size: int, seed: int) -> None:
    found = Permutation(size, np.random.default_rng(seed))(np.arange(size))
    assert np.array_equal(np.sort(found), np.arange(size))


@pytest.mark.parametrize("size", [1, 4, 5, 64, 100])
def test_a_computed_permutation_stays_the_same(size: int) -> None:
    """A run goes on with the order that it began with, also behind an update of this project."""
    found = Permutation(size, generator(0, Purpose.ORDER, 0))(np.arange(min(size, 6))).tolist()
    assert found == KNOWN_ORDER[size]


def test_a_computed_permutation_looks_random() -> None:
    size = 20_000
    found = Permutation(size, np.random.default_rng(3))(np.arange(size))
    # Neighbours land anywhere, low bits included; 5 standard errors of a correlation and of a share.
    assert abs(np.corrcoef(found[:-1], found[1:])[0, 1]) < 5 / np.sqrt(size)
    assert abs((found % 2 == np.arange(size) % 2).mean() - 0.5) < 2.5 / np.sqrt(size)
    assert not np.array_equal(found, Permutation(size, np.random.default_rng(4))(np.arange(size)))


@settings(max_examples=20, deadline=None)
@given(st.integers(8, 2_500), st.integers(0, 5))
def test_an_order_too_large_for_memory_keeps_every_rule(examples: int, seed: int) -> None:
    lengths = np.random.default_rng(seed).integers(1, 60, examples)
    order = BatchOrder(lengths, 8, seed, in_memory=0)
    batches = examples // 8
    epochs = [np.concatenate([order.indices(step + epoch * batches) for step in range(batches)]) for epoch in (0, 1)]
    for seen in epochs:
        assert len(np.unique(seen)) == len(seen) == batches * 8
        assert seen.max() < examples
    if examples > 100:
        assert not np.array_equal(*epochs)
        spread = [np.ptp(lengths[order.indices(step)]) for step in range(batches)]
        assert np.mean(spread) < 25, "batches hold similar lengths"


def test_equal_lengths_stay_in_the_order_that_was_drawn() -> None:
    """Sorts that are not stable order ties as their machine likes."""
    lengths = np.random.default_rng(0).integers(5, 8, 400)
    order = BatchOrder(lengths, 8, 3, in_memory=0)
    random = generator(3, Purpose.ORDER, 0)
    examples, batches = Permutation(400, random), Permutation(50, random)
    ranked = sorted(examples(np.arange(400)).tolist(), key=lambda one: lengths[one])
    for step in range(50):
        first = 8 * int(batches(np.array([step]))[0])
        assert order.indices(step).tolist() == ranked[first : first + 8]


def test_an_order_of_c4_needs_little_time_and_memory() -> None:
    import time
    import tracemalloc

    class Lengths:
        def __len__(self) -> int:
            return 365_000_000

        def __getitem__(self, rows):
            return rows % 512

    tracemalloc.start()
    order = BatchOrder(Lengths(), 200, 1)
    start = time.process_time()
    steps = [order.indices(step) for step in (0, 1, 1_000_000, 1_900_000)]
    assert time.process_time() - start < 2
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()
    assert len(np.unique(np.concatenate(steps))) == 800
