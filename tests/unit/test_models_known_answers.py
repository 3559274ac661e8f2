"""Parts of models by hand: poolings, what a classifier is made of, positions, and batches cut by length."""

import stat

import pytest
import torch
from reprlab.models.build import build_from_config, save_model
from reprlab.models.counted_models import split_parameters
from reprlab.models.learned_positions import refuse_longer_texts
from reprlab.models.pema import kept_always
from reprlab.models.pooling import pool
from reprlab.models.scan_cost import selective_scan_flops, state_space_dual_flops
from reprlab.models.similar_lengths import of_similar_length, read_by_length
from reprlab.models.span_pairs import span_pair_classifier
from reprlab.registry.models import ModelEntry
from reprlab.runtime.errors import ReprlabError
from transformers import BertConfig, BertModel, OPTConfig, OPTModel, RobertaConfig, RobertaModel

SMALL = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "vocab_size": 20}


def test_poolings_by_hand():
    states = torch.arange(24, dtype=torch.float32).view(2, 4, 3)
    attention = torch.tensor([[1, 1, 1, 0], [0, 1, 1, 1]])
    text = torch.tensor([[0, 1, 1, 0], [0, 0, 0, 0]])
    one, two = states
    wanted = {
        "first": (one[1], two[3]), "last": (one[2], two[3]), "mean": ((one[1] + one[2]) / 2, two[3]),
        "weighted_mean": ((one[1] + 2 * one[2]) / 3, two[3]),
    }  # fmt: skip
    for how, rows in wanted.items():
        assert torch.allclose(pool(states, attention, how, text), torch.stack(rows))
    assert torch.allclose(pool(states, attention, "first"), torch.stack([one[0], two[1]]))
    assert torch.allclose(pool(states, attention, "weighted_mean")[1], (two[1] + 2 * two[2] + 3 * two[3]) / 6)


def test_flops_of_scans_by_hand():
    assert selective_scan_flops(8, 2, 3) == 7 * 48
    # A chunk of 4: 2 * 4 * (5 + 6) a token inside it, and 4 * 30 between chunks.
    assert state_space_dual_flops(8, 2, 3, 1, 5, 4) == 8 * (88 + 120)


def test_parameters_that_are_added_are_those_that_train_beside_frozen_ones():
    network = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 1))
    network[0].requires_grad_(False)
    assert split_parameters(network, adapted=True) == (16, 5)
    assert split_parameters(network, adapted=False) == (21, 0)


@pytest.mark.parametrize(
    ("model", "longest"),
    [
        (BertModel(BertConfig(**SMALL, intermediate_size=8, max_position_embeddings=6)), 6),
        (RobertaModel(RobertaConfig(**SMALL, intermediate_size=8, max_position_embeddings=8, pad_token_id=1)), 6),
        (OPTModel(OPTConfig(**SMALL, ffn_dim=8, word_embed_proj_dim=8, max_position_embeddings=6)), 6),
    ],
    ids=["bert", "roberta", "opt"],
)
def test_the_longest_text_is_read_and_a_longer_one_is_refused(model, longest):
    refuse_longer_texts(model)
    ids = torch.full((1, longest), 5)
    assert model(input_ids=ids).last_hidden_state.shape[1] == longest
    with pytest.raises(ReprlabError, match=f"a text of {longest + 1} tokens .* {longest} learned positions"):
        model(input_ids=torch.full((1, longest + 1), 5))


class Tokens:
    """What a vocabulary says of its special tokens."""

    def __init__(self, special, pad):
        self.all_special_ids, self.pad_token_id = special, pad


def test_rows_that_are_kept_always():
    assert kept_always(Tokens([7, 5], 2)) == [0, 1, 2, 5, 7]
    assert kept_always(Tokens([7, 5], None)) == [5, 7]


@pytest.mark.parametrize(("texts", "parts"), [(31, 1), (32, 2), (47, 2), (48, 3), (300, 8)])
def test_a_batch_is_read_in_parts_of_sixteen_texts_and_gives_the_same(texts, parts):
    lengths = torch.randint(1, 9, (texts,), generator=torch.Generator().manual_seed(0))
    lengths[0] = 8
    mask = (torch.arange(8) < lengths[:, None]).long()
    ids = torch.arange(texts * 8).view(texts, 8) * mask
    seen = []

    def read(some, own):
        seen.append(some.shape)
        assert own.shape == some.shape
        return (some * own).sum(1, keepdim=True).double()

    found = read_by_length(read, ids, mask)
    assert torch.equal(found[:, 0], ids.sum(1).double()) and len(seen) == parts
    assert [width for _, width in seen] == sorted((width for _, width in seen), reverse=True)
    with torch.no_grad():
        read_by_length(read, ids, mask)
    assert len(seen) == parts + 1


def test_groups_of_texts_are_as_wide_as_their_longest():
    lengths = torch.tensor([9, 8, 7, 4, 3, 1])
    mask = (torch.arange(9) >= 9 - lengths[:, None]).long()
    groups = of_similar_length({"input_ids": mask * 5, "attention_mask": mask})
    assert [tuple(group["input_ids"].shape) for group in groups] == [(2, 9), (2, 7), (1, 3), (1, 1)]
    assert sum(int(group["attention_mask"].sum()) for group in groups) == int(lengths.sum())


def test_pairs_of_spans_are_scored_each_by_its_own_vectors():
    torch.manual_seed(0)
    encoder = BertModel(BertConfig(**SMALL, intermediate_size=8, max_position_embeddings=16)).eval()
    model = span_pair_classifier(encoder, 3, 0.5, 7.0).eval()
    assert {parameter.rate_factor for parameter in model.head.parameters()} == {7.0}
    batch = {
        "input_ids": torch.tensor([[3, 4, 5, 6], [7, 8, 0, 0]]),
        "attention_mask": torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]]),
        "span_place": torch.tensor([1, 2, 5]), "span_owner": torch.tensor([0, 0, 1]), "span_count": torch.tensor(2),
        "pairs": torch.tensor([[0, 1], [1, 0]]),
    }  # fmt: skip
    with torch.no_grad():
        states = encoder(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).last_hidden_state
        one, two = (states[0, 1] + states[0, 2]) / 2, states[1, 1]
        known = model.head(torch.stack([torch.cat([one, two]), torch.cat([two, one])]))
        assert torch.allclose(model(batch), known, atol=1e-6)


def test_weights_are_as_readable_as_their_config(tmp_path):
    entry = ModelEntry(
        architecture="llama",
        config={"vocab_size": 9, "hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1,
                "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 8},
        source="ours", tie_output=True, origin={"kind": "scratch"},
    )  # fmt: skip
    model = build_from_config(entry, seed=0)
    model.config._name_or_path = "somewhere"
    save_model(model, tmp_path / "m")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "m").iterdir() if path.suffix != ".md"}
    assert len(modes) == 1 and "somewhere" not in (tmp_path / "m/config.json").read_text()
