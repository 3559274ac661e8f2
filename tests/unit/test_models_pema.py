"""PEMA: the partial matrix, what stays the same and what does not, and what is refused."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from reprlab.models.pema import (
    PartialVocabulary,
    adapt_embedding,
    keep_states_whole,
    kept_always,
    merged_matrix,
    restore_embedding,
)
from reprlab.runtime.errors import ReprlabError
from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification

ROWS, WIDTH = 320, 32
USED = np.unique(np.concatenate([[0], np.arange(5, 320, 7)]))


def bert(family=BertForSequenceClassification):
    torch.manual_seed(3)
    return family(
        BertConfig(
            vocab_size=ROWS, hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
            max_position_embeddings=32, pad_token_id=0,
        )
    )  # fmt: skip


def batches(steps):
    rng = np.random.Generator(np.random.Philox(key=1))
    return [(rng.choice(USED[1:], size=(8, 12)), torch.from_numpy(rng.integers(0, 2, size=8))) for _ in range(steps)]


def trained(pema, *, weight_decay=0.0, clip=True, steps=12):
    """Losses and the model after some AdamW steps with dropout, whole again."""
    model = bert()
    original = model.get_input_embeddings().weight.detach().clone()
    vocabulary = PartialVocabulary(USED, ROWS)
    if pema:
        adapt_embedding(model, vocabulary)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=weight_decay, fused=True)
    losses = []
    for step, (ids, labels) in enumerate(batches(steps)):
        torch.manual_seed(step)
        shown = vocabulary.renumber(ids) if pema else ids
        loss = model(input_ids=torch.from_numpy(shown), labels=labels).loss
        loss.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    slots = sum(value.numel() for state in optimizer.state.values() for name, value in state.items() if name != "step")
    if pema:
        restore_embedding(model, vocabulary, original)
    return losses, model, original, slots


@pytest.mark.parametrize("clip", [True, False])
def test_losses_and_all_weights_are_bitwise_equal_without_weight_decay(clip):
    losses, whole, _, slots = trained(False, clip=clip)
    partial_losses, restored, original, partial_slots = trained(True, clip=clip)
    assert partial_losses == losses
    assert all(
        torch.equal(a, b) for a, b in zip(whole.state_dict().values(), restored.state_dict().values(), strict=True)
    )
    assert not torch.equal(restored.get_input_embeddings().weight, original)
    assert slots - partial_slots == 2 * (ROWS - len(USED)) * WIDTH


def test_weight_decay_differs_in_the_rows_of_unused_tokens_and_nowhere_else():
    losses, whole, original, _ = trained(False, weight_decay=0.01)
    partial_losses, restored, _, _ = trained(True, weight_decay=0.01)
    assert partial_losses == losses
    unused = np.setdiff1d(np.arange(ROWS), USED)
    one, other = (model.get_input_embeddings().weight for model in (whole, restored))
    assert torch.equal(one[USED], other[USED])
    assert torch.equal(other[unused], original[unused])
    shrunk = original[unused] * (1 - 1e-3 * 0.01) ** 12
    assert torch.allclose(one[unused], shrunk, rtol=1e-5) and not torch.equal(one[unused], other[unused])
    rest = [name for name in whole.state_dict() if "word_embeddings" not in name]
    assert all(torch.equal(whole.state_dict()[name], restored.state_dict()[name]) for name in rest)


def test_logits_are_the_same_before_and_after_and_the_config_is_untouched():
    model, vocabulary = bert().eval(), PartialVocabulary(USED, ROWS)
    ids, original = batches(1)[0][0], model.get_input_embeddings().weight.detach().clone()
    with torch.no_grad():
        whole = model(torch.from_numpy(ids)).logits
        adapt_embedding(model, vocabulary)
        assert model.get_input_embeddings().num_embeddings == len(USED)
        assert torch.equal(model(torch.from_numpy(vocabulary.renumber(ids))).logits, whole)
        restore_embedding(model, vocabulary, original)
        assert torch.equal(model(torch.from_numpy(ids)).logits, whole)
    assert torch.equal(model.get_input_embeddings().weight, original)
    assert model.config.vocab_size == ROWS


def test_the_restored_model_opens_with_plain_from_pretrained(tmp_path):
    _, restored, _, _ = trained(True)
    restored.save_pretrained(tmp_path)
    again = BertForSequenceClassification.from_pretrained(tmp_path, local_files_only=True)
    assert torch.equal(again.get_input_embeddings().weight, restored.get_input_embeddings().weight)
    assert again.get_input_embeddings().num_embeddings == again.config.vocab_size == ROWS


def test_the_known_answer_of_the_released_tests():
    full = torch.arange(1.0, 5.0)[:, None].expand(4, 4).clone()
    vocabulary = PartialVocabulary(np.array([3, 1]), 4)
    assert full[vocabulary.selected].tolist() == [[4.0] * 4, [2.0] * 4]
    learned = torch.tensor([[5.0] * 4, [6.0] * 4])
    assert merged_matrix(learned, vocabulary, full)[:, 0].tolist() == [1, 6, 3, 5]
    assert full[:, 0].tolist() == [1, 2, 3, 4], "the original must stay as it is"
    assert (full + 4)[vocabulary.selected][:, 0].tolist() == [8, 6]


class _Toy(torch.nn.Module):
    """The four rows of the released tests as the input embedding of a model."""

    config = None

    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding.from_pretrained(torch.arange(1.0, 5.0)[:, None].expand(4, 4).clone(), False)

    def get_input_embeddings(self):
        return self.words

    def get_output_embeddings(self):
        return None


@pytest.mark.parametrize("wrapped", [False, True])
def test_states_of_an_adapted_model_are_whole(wrapped):
    model, vocabulary = _Toy(), PartialVocabulary(np.array([3, 1]), 4)
    original = model.words.weight.detach().clone()
    adapt_embedding(model, vocabulary)
    take_off = keep_states_whole(model, vocabulary, lambda: original)
    seen, name = (torch.nn.Sequential(model), "0.words.weight") if wrapped else (model, "words.weight")
    with torch.no_grad():
        model.words.weight.copy_(torch.tensor([[5.0] * 4, [6.0] * 4]))
    assert seen.state_dict()[name][:, 0].tolist() == [1, 6, 3, 5]
    seen.load_state_dict({name: torch.arange(5.0, 9.0)[:, None].expand(4, 4)})
    assert model.words.weight[:, 0].tolist() == [8, 6]
    assert seen.state_dict()[name][:, 0].tolist() == [1, 6, 3, 8], "other rows are those before training"
    take_off()
    assert len(seen.state_dict()[name]) == 2


def test_a_checkpoint_while_training_opens_with_plain_from_pretrained(tmp_path):
    model, vocabulary = bert(), PartialVocabulary(USED, ROWS)
    original = model.get_input_embeddings().weight.detach().clone()
    adapt_embedding(model, vocabulary)
    keep_states_whole(model, vocabulary, lambda: original)
    with torch.no_grad():
        model.get_input_embeddings().weight.add_(1)
    model.save_pretrained(tmp_path)
    again = BertForSequenceClassification.from_pretrained(tmp_path, local_files_only=True)
    moved = (again.get_input_embeddings().weight - original).round().int()
    assert moved[USED].eq(1).all() and moved.sum() == len(USED) * WIDTH


def test_tied_output_layers_are_refused():
    with pytest.raises(ReprlabError, match="tied weights"):
        adapt_embedding(bert(BertForMaskedLM), PartialVocabulary(USED, ROWS))


def test_a_padding_token_that_would_move_is_refused():
    model = bert()
    model.config.pad_token_id = 5
    with pytest.raises(ReprlabError, match="padding token 5 would move"):
        adapt_embedding(model, PartialVocabulary(USED, ROWS))


def test_a_vocabulary_of_another_size_is_refused():
    with pytest.raises(ReprlabError, match="320 rows"):
        adapt_embedding(bert(), PartialVocabulary(USED, ROWS - 1))


def test_tokens_without_a_row_raise_and_never_read_the_last_one():
    vocabulary = PartialVocabulary(USED, ROWS)
    with pytest.raises(ReprlabError, match="token 6 has no row"):
        vocabulary.renumber(np.array([[5, 6]]))


def test_ids_outside_the_matrix_are_refused():
    with pytest.raises(ReprlabError, match="outside 0 to 3"):
        PartialVocabulary.of_ids([np.array([4])], 4)


class _Tokenizer:
    all_special_ids = (0, 7, 9)

    def __init__(self, pad):
        self.pad_token_id = pad


def test_special_tokens_and_all_up_to_padding_are_kept():
    assert kept_always(_Tokenizer(2)) == [0, 1, 2, 7, 9]
    assert kept_always(_Tokenizer(None)) == [0, 7, 9]


@given(st.lists(st.integers(0, 49), max_size=40), st.sets(st.integers(0, 49), max_size=5), st.randoms())
def test_the_map_is_a_bijection_in_ascending_order(ids, always, shuffler):
    array = np.array(ids, dtype=np.int64)
    vocabulary = PartialVocabulary.of_ids([array], 50, always)
    assert vocabulary.selected.tolist() == sorted({*ids, *always})
    assert vocabulary.token_map[vocabulary.selected].tolist() == list(range(len(vocabulary.selected)))
    assert np.array_equal(vocabulary.selected[vocabulary.renumber(array)], array)
    shuffled = list(ids)
    shuffler.shuffle(shuffled)
    again = PartialVocabulary.of_ids([np.array(shuffled, dtype=np.int64)], 50, always)
    assert np.array_equal(again.selected, vocabulary.selected)


def test_a_vocabulary_that_is_used_whole_maps_to_itself():
    vocabulary = PartialVocabulary.of_ids([np.arange(50)], 50)
    assert np.array_equal(vocabulary.token_map, np.arange(50))
