"""Batches that are read in parts of similar length give what one pass gives, with less padding."""

import itertools

import pytest
import torch
from reprlab.models.pooling import pool
from reprlab.models.similar_lengths import read_by_length
from reprlab.retrieval.pair_training import text_vectors
from rerank_fixtures import POOLED, tiny, tiny_reranker

LENGTHS = torch.tensor([3, 30, 9, 30, 4, 17, 8, 5] * 5)


def batch(lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Random ids [B, 30] and their mask; id 0 pads."""
    mask = (torch.arange(30) < lengths[:, None]).long()
    return torch.randint(5, 60, mask.shape, generator=torch.Generator().manual_seed(0)) * mask, mask


def gradients(model: torch.nn.Module, values: torch.Tensor) -> dict[str, torch.Tensor]:
    """Of the sum of the squares, by parameter."""
    model.zero_grad()
    values.square().sum().backward()
    return {name: one.grad.clone() for name, one in model.named_parameters() if one.grad is not None}


@pytest.mark.parametrize("architecture", POOLED)
def test_a_reranker_that_trains_scores_as_in_one_pass(architecture):
    model = tiny_reranker(architecture)
    ids, mask = batch(LENGTHS)
    found = model(ids, mask)
    in_parts = gradients(model, found)
    states = model.backbone(input_ids=ids, attention_mask=mask).last_hidden_state
    whole = model.head(pool(states, mask, POOLED[architecture])).squeeze(-1)
    at_once = gradients(model, whole)
    assert torch.allclose(found, whole, atol=1e-5)
    assert in_parts.keys() == at_once.keys() and len(at_once) > 10
    for name, gradient in at_once.items():
        scale = float(gradient.abs().max())
        assert torch.allclose(in_parts[name], gradient, atol=1e-5 * max(scale, 1.0)), name


def test_a_bi_encoder_that_trains_gives_the_vectors_of_one_pass():
    encoder = tiny("bert").eval()
    ids, mask = batch(LENGTHS)
    found = text_vectors(encoder, "mean")({"input_ids": ids, "attention_mask": mask})
    whole = pool(encoder(input_ids=ids, attention_mask=mask).last_hidden_state, mask, "mean")
    assert torch.allclose(found, whole, atol=1e-5)


@pytest.mark.parametrize(
    ("lengths", "parts", "computed"),
    [
        (LENGTHS, 2, 20 * 30 + 20 * 8),
        (torch.full((64,), 30), 1, 64 * 30),
        (LENGTHS[:31], 1, 31 * 30),
        (torch.arange(300) % 30 + 1, 8, None),
    ],
)
def test_parts_have_texts_of_similar_length_and_each_once(lengths, parts, computed):
    seen = []

    def read(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        assert ids.shape == mask.shape and ids.shape[1] == mask.sum(1).max()
        seen.append(mask.sum(1))
        return ids.sum(1)

    ids, mask = batch(lengths)
    assert torch.equal(read_by_length(read, ids, mask), ids.sum(1))
    assert len(seen) == parts and torch.equal(torch.cat(seen).sort()[0], lengths.sort()[0])
    assert all(one.min() >= other.max() for one, other in itertools.pairwise(seen))
    used = sum(len(one) * int(one.max()) for one in seen)
    assert used < 1.2 * int(lengths.sum()) if computed is None else used == computed


def test_a_batch_that_is_scored_is_not_cut_again():
    seen = []

    def read(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        seen.append(len(ids))
        return ids.sum(1)

    ids, mask = batch(LENGTHS)
    with torch.inference_mode():
        read_by_length(read, ids, mask)
    assert seen == [len(LENGTHS)]
