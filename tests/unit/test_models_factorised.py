"""The factorised embedding: what is exact at full rank, the error below it, the numbers that it has."""

import pytest
import torch
from reprlab.models.factorised import FactorisedEmbedding, factorise_embedding, multiply_embedding
from reprlab.models.pema import PartialVocabulary, adapt_embedding
from reprlab.runtime.errors import ReprlabError
from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification

ROWS, WIDTH = 50, 8


def bert(family=BertForSequenceClassification):
    torch.manual_seed(2)
    return family(
        BertConfig(
            vocab_size=ROWS, hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
            max_position_embeddings=16, pad_token_id=0,
        )
    )  # fmt: skip


def test_full_rank_is_the_embedding():
    whole = bert().get_input_embeddings()
    product = FactorisedEmbedding(whole, WIDTH)
    ids = torch.arange(ROWS).reshape(5, 10)
    assert torch.allclose(product(ids), whole(ids), atol=1e-6)
    assert product.codes.padding_idx == 0 == product.product().padding_idx


@pytest.mark.parametrize("rank", [1, 3, 7])
def test_the_error_is_the_tail_of_the_spectrum_and_the_numbers_are_those_of_two_matrices(rank):
    whole = bert().get_input_embeddings()
    product = FactorisedEmbedding(whole, rank)
    error = (product.product().weight - whole.weight).double().pow(2).sum()
    tail = torch.linalg.svdvals(whole.weight.detach().double())[rank:].pow(2).sum()
    assert error.item() == pytest.approx(tail.item(), rel=1e-4)
    assert sum(one.numel() for one in product.parameters()) == ROWS * rank + rank * WIDTH


def test_parts_of_the_matrix_give_what_the_whole_of_it_does(monkeypatch):
    whole = bert().get_input_embeddings()
    at_once = FactorisedEmbedding(whole, 3).product().weight
    monkeypatch.setattr("reprlab.models.factorised._ROWS", 7)
    assert torch.allclose(FactorisedEmbedding(whole, 3).product().weight, at_once, atol=1e-6)


def test_a_model_answers_with_the_product_and_both_matrices_are_trained():
    model = bert().eval()
    ids = torch.arange(1, 13).reshape(2, 6)
    factorise_embedding(model, 5)
    embedding = model.get_input_embeddings()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, weight_decay=0.0)
    before = {name: value.detach().clone() for name, value in embedding.named_parameters()}
    model(input_ids=ids, labels=torch.tensor([0, 1])).loss.backward()
    optimizer.step()
    after = dict(embedding.named_parameters())
    assert all(not torch.equal(before[name], after[name]) for name in ("codes.weight", "basis"))
    assert torch.equal(before["codes.weight"][20:], after["codes.weight"][20:]), "rows that no text has stay"
    answer = model(input_ids=ids).logits
    multiply_embedding(model)
    assert type(model.get_input_embeddings()) is torch.nn.Embedding
    assert torch.allclose(model(input_ids=ids).logits, answer, atol=1e-5)


def test_what_cannot_be_factorised_is_refused():
    with pytest.raises(ReprlabError, match="rank 9 is above the 8 columns"):
        factorise_embedding(bert(), WIDTH + 1)
    with pytest.raises(ReprlabError, match="tied weights"):
        factorise_embedding(bert(BertForMaskedLM), 2)


def test_an_unknown_token_stands_for_those_without_a_row():
    import numpy as np

    vocabulary = PartialVocabulary(np.array([0, 1, 5, 9]), ROWS)
    assert vocabulary.renumber(np.array([[9, 7], [5, 0]]), unknown=1).tolist() == [[3, 1], [2, 0]]
    model = bert()
    adapt_embedding(model, vocabulary)
    assert len(model.get_input_embeddings().weight) == 4
