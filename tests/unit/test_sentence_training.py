"""The contrastive loss, batches larger than memory and batch plans (specs of SPT 5.3 and L3Prune 5.8, 5.10)."""

import functools
import math
from pathlib import Path

import numpy as np
import pytest
from reprlab.models.pooling import pool
from reprlab.models.similar_lengths import of_similar_length
from reprlab.planning.stages import STAGES
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.batch_plan import mixed_batches, plan_batches
from reprlab.sentences.contrastive import contrastive_loss, share_read_twice, vectors_in_parts
from reprlab.sentences.texts import EncodedTexts
from reprlab.sentences.training import TripleBatches, triple_loss
from reprlab.sentences.triples import Triples
from reprlab.training.finetuning_encoding import Ragged

torch = pytest.importorskip("torch")
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("count", "expected"), [(32, 4.158883), (64, 4.852030)])
def test_equal_vectors_cost_the_logarithm_of_the_candidates(count, expected):
    same = torch.ones(count, 8)
    for temperature in (0.05, 0.02):
        loss, _ = contrastive_loss(same, same, same, temperature)
        assert loss.item() == pytest.approx(expected, abs=1e-6)
    assert contrastive_loss(same, same, None, 0.05)[0].item() == pytest.approx(math.log(count), abs=1e-6)


def test_known_values_of_orthonormal_vectors():
    count = 32
    axes = torch.eye(2 * count, dtype=torch.float64)
    anchors, negatives = axes[:count], axes[count:]
    loss, hits = contrastive_loss(anchors, anchors, negatives, 0.05)
    assert loss.item() == pytest.approx(1.2985267e-7, rel=1e-6)
    assert hits == count
    loss, _ = contrastive_loss(anchors, anchors, anchors, 0.05)
    assert loss.item() == pytest.approx(0.6931472, abs=1e-6)
    axes = torch.eye(128, dtype=torch.float64)
    loss, _ = contrastive_loss(axes[:64], axes[:64], axes[64:], 1 / 20)
    assert loss.item() == pytest.approx(2.6176648e-7, rel=1e-6)


def test_lengths_and_the_order_of_triples_change_nothing():
    torch.manual_seed(0)
    anchors, positives, negatives = (torch.randn(6, 5) for _ in range(3))
    loss, _ = contrastive_loss(anchors, positives, negatives, 0.05)
    for side in range(3):
        for row in range(6):
            # One vector alone: scores that were no cosines would weigh it otherwise than the rest.
            sides = [anchors.clone(), positives.clone(), negatives.clone()]
            sides[side][row] *= 9.0 if row % 2 else 0.1
            scaled, _ = contrastive_loss(*sides, 0.05)
            assert scaled.item() == pytest.approx(loss.item(), rel=1e-5)
    order = torch.randperm(6)
    mixed, _ = contrastive_loss(anchors[order], positives[order], negatives[order], 0.05)
    assert mixed.item() == pytest.approx(loss.item(), rel=1e-5)


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_a_batch_in_parts_has_the_gradient_of_the_whole(dropout):
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Linear(6, 8), torch.nn.Dropout(dropout), torch.nn.Tanh(), torch.nn.Linear(8, 4)
    )
    inputs = torch.randn(12, 6)
    calls = []

    def encode(rows):
        calls.append(len(rows))
        return network(rows)

    def gradient(vectors_of, parts):
        torch.manual_seed(1)
        network.zero_grad()
        found = vectors_of(parts)
        contrastive_loss(found[:4], found[4:8], found[8:], 0.05)[0].backward()
        return [parameter.grad.clone() for parameter in network.parameters()]

    in_parts = functools.partial(vectors_in_parts, encode)
    whole = gradient(in_parts, [(inputs,)])
    assert calls == [12]
    calls.clear()
    split = [(part,) for part in inputs.split(5)]
    parts = gradient(in_parts, split)
    # The last part's gradient is taken first, from what its forward pass left; the others are read again.
    assert calls == [5, 5, 2, 5, 5] and share_read_twice(12, 5) == 10 / 12
    assert [share_read_twice(12, size) for size in (1, 4, 6, 12, 20)] == [11 / 12, 8 / 12, 0.5, 0, 0]
    # With dropout the second pass of a part drops what the first did: else the gradient would be of another function.
    kept = gradient(lambda parts: torch.cat([network(*part) for part in parts]), split)
    for one, other in zip(parts, whole if dropout == 0 else kept, strict=True):
        torch.testing.assert_close(one, other)
    with torch.no_grad():
        calls.clear()
        in_parts(split)
        assert calls == [5, 5, 2]


def test_texts_are_read_beside_those_of_similar_length():
    lengths = torch.tensor([31, 30, 16, 15, 9, 8, 7, 3, 1])
    attention = (torch.arange(31) >= 31 - lengths[:, None]).long()
    ids = torch.arange(9)[:, None] * 100 + attention.cumsum(1)
    groups = of_similar_length({"input_ids": ids * attention, "attention_mask": attention})
    assert [tuple(group["input_ids"].shape) for group in groups] == [(3, 31), (3, 15), (1, 7), (1, 3), (1, 1)]
    for group in groups:
        found = group["attention_mask"].sum(1)
        assert found.max() == group["attention_mask"].shape[1] <= 2 * found.min()
    rows = [row[row > 0].tolist() for group in groups for row in group["input_ids"]]
    assert rows == [(n * 100 + torch.arange(1, int(length) + 1)).tolist() for n, length in enumerate(lengths)]


@pytest.mark.parametrize(("length", "tiled"), [(64, False), (65, True)])
def test_short_texts_are_attended_to_without_tiles(length, tiled):
    from transformers import LlamaConfig, LlamaModel

    sizes = {"vocab_size": 40, "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1}
    model = LlamaModel(LlamaConfig(**sizes, intermediate_size=8, max_position_embeddings=80))
    batch = {"input_ids": torch.randint(1, 40, (6, length)), "attention_mask": torch.ones(6, length, dtype=torch.long)}
    used = []

    def encoder(part):
        with torch.profiler.profile() as profile:
            found = model(**part).last_hidden_state[:, -1]
        used.extend(event.key for event in profile.key_averages())
        return found

    triple_loss(0.05, 6)(encoder, batch)[0].backward()
    assert tiled == any("flash_attention" in name for name in used)


@pytest.mark.parametrize("part_size", [3, 12])
def test_the_loss_of_a_batch_hangs_neither_on_parts_nor_on_groups(part_size):
    torch.manual_seed(0)
    table = torch.nn.Embedding(40, 6)
    lengths = torch.tensor([2, 9, 1, 3, 17, 4, 12, 1, 6, 5, 2, 8])
    attention = (torch.arange(17) >= 17 - lengths[:, None]).long()
    batch = {"input_ids": torch.randint(1, 40, (12, 17)) * attention, "attention_mask": attention}

    def encoder(part):
        weights = part["attention_mask"] / part["attention_mask"].sum(1, keepdim=True)
        return (table(part["input_ids"]) * weights[..., None]).sum(1)

    loss, sums = triple_loss(0.05, part_size)(encoder, batch)
    loss.backward()
    found, table.weight.grad = table.weight.grad, None
    expected, hits = contrastive_loss(*encoder(batch).chunk(3), 0.05)
    expected.backward()
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5) and sums["correct"] == hits
    assert sums["tokens"] == lengths.sum()
    torch.testing.assert_close(found, table.weight.grad)


def test_every_batch_is_full_and_of_one_data_set():
    sizes = {"a": 70, "b": 19, "c": 640}
    plan = plan_batches(sizes, 64, 3)
    assert len(plan) == 70 // 64 + 0 + 10
    assert set(plan.dataset) == {"a", "c"}
    for name in ("a", "c"):
        rows = plan.rows[[one == name for one in plan.dataset]].ravel()
        assert len(set(rows.tolist())) == len(rows) and rows.max() < sizes[name]
    again, other = plan_batches(sizes, 64, 3), plan_batches(sizes, 64, 4)
    assert again.dataset == plan.dataset and np.array_equal(again.rows, plan.rows)
    assert not np.array_equal(other.rows, plan.rows)
    with pytest.raises(ReprlabError, match="largest has 640 rows"):
        plan_batches(sizes, 641, 0)


def test_a_sample_of_all_data_draws_no_row_twice():
    rows = mixed_batches(1300, 64, 20, 0)
    assert rows.shape == (20, 64) and len(set(rows.ravel().tolist())) == 1280
    with pytest.raises(ReprlabError, match="1280 rows; there are 1000"):
        mixed_batches(1000, 64, 20, 0)


@pytest.mark.parametrize("mixed", [True, False])
def test_data_that_fill_no_batch_are_told(mixed):
    texts = EncodedTexts(Ragged.of([[1]] * 15), np.zeros(15, dtype=np.int64), 0)
    triples = Triples(texts, {"a": 5})
    with pytest.raises(ReprlabError, match=r"fills? a batch of 6"):
        TripleBatches(triples, 6, 0, mixed)(0, 0, 0, 1)
    assert TripleBatches(triples, 5, 0, mixed)(7, 0, 0, 1)["input_ids"].shape == (15, 1)


def test_cosines_are_in_float32_where_the_network_computes_in_bfloat16():
    """A bfloat16 product would move a cosine by 1e-3, which a temperature of 0.02 makes 0.1 (L3Prune's trap 12)."""
    torch.manual_seed(0)
    anchors = torch.randn(16, 32)
    positives, negatives = anchors + 0.3 * torch.randn(16, 32), anchors + 0.4 * torch.randn(16, 32)
    expected, _ = contrastive_loss(anchors, positives, negatives, 0.02)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found, _ = contrastive_loss(anchors, positives, negatives, 0.02)
    assert found.dtype == torch.float32 and torch.equal(found, expected)


@pytest.mark.parametrize("pooling", ["first", "last", "mean", "weighted_mean"])
def test_states_are_pooled_in_float32_where_the_network_computes_in_bfloat16(pooling):
    torch.manual_seed(0)
    states, attention = torch.randn(2, 300, 8), torch.ones(2, 300, dtype=torch.long)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = pool(states, attention, pooling)
    assert found.dtype == torch.float32 and torch.equal(found, pool(states, attention, pooling))


def test_several_processes_would_take_negatives_away():
    """A batch that is cut has fewer candidates, so that the loss would be another one on other machines."""
    batches = TripleBatches(None, 6, 0, True)
    with pytest.raises(ReprlabError, match="one process"):
        batches(0, 0, 0, 2)
    assert not STAGES["train_encoder"].torchrun, "one process, however many the others train with"
