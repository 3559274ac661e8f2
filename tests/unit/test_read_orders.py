"""Orders of query and document: the sequences id by id, their lengths, and what a recurrent model makes of them."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from reprlab.retrieval.read_orders import ORDERS, OrderedInputs, copies_of, inputs_in_order, ordered_inputs, pair_tokens
from reprlab.retrieval.rerank_inputs import pair_inputs
from reprlab.retrieval.rerank_settings import PairSettings
from reprlab.retrieval.reranker import group_loss, reranker
from reprlab.runtime.errors import ReprlabError
from rerank_fixtures import Words, tiny_reranker
from test_rerank_templates import DOCUMENT, QUERY, byte_level, word_piece

TEMPLATES = ("document_first", "query_first")
D, Q = f"document: {DOCUMENT}", f"query: {QUERY}"
READ = {
    ("document_first", "once"): f"{D}; {Q};", ("query_first", "once"): f"{Q}; {D}",
    ("document_first", "reversed"): f"{Q}; {D};", ("query_first", "reversed"): f"{D}; {Q}",
    ("document_first", "twice"): f"{D}; {Q}; {D}; {Q};", ("query_first", "twice"): f"{Q}; {D}; {Q}; {D}",
    ("document_first", "reversed_twice"): f"{Q}; {D}; {Q}; {D};",
    ("query_first", "reversed_twice"): f"{D}; {Q}; {D}; {Q}",
}  # fmt: skip


def tokenizer_of(template: str) -> Any:
    return byte_level("</s> $A") if template == "document_first" else word_piece()


def inputs_of(tokenizer, template, order, document=DOCUMENT, query=QUERY, max_length=64, max_query=8):
    pairs = PairSettings(template=template, max_length=max_length, max_query=max_query)
    return inputs_in_order(tokenizer, {"q": query}, {"d": document}, pairs, order)


@pytest.mark.parametrize(("template", "order"), READ)
def test_a_sequence_is_that_of_the_text_in_its_order(template, order):
    tokenizer = tokenizer_of(template)
    own, text = inputs_of(tokenizer, template, order).ids("q", "d"), READ[template, order]
    # The tokenizer's own around it; a decoder's has no end, which is an id that is appended.
    assert own == [*tokenizer(text)["input_ids"], *([2] if template == "document_first" else [])]


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("max_length", [16, 24, 64])
def test_once_is_the_template_of_the_paper_to_the_bit(template, max_length):
    tokenizer, queries, documents = tokenizer_of(template), {"q": QUERY, "r": "cat"}, {"d": DOCUMENT * 9, "e": "sat"}
    lengths = {"max_length": max_length, "max_query": 2}
    plain = pair_inputs(tokenizer, queries, documents, template, **lengths)
    pairs = PairSettings(template=template, **lengths)
    assert type(inputs_in_order(tokenizer, queries, documents, pairs, "once")) is type(plain)
    for order in ("once", "reversed"):
        # The general form: with nothing changed in it, and the other way round.
        general = ordered_inputs(tokenizer, plain, queries, order, 2)
        for query, document, first in [("q", "d", 0), ("r", "d", 3), ("q", "e", 0)]:
            own, other = (inputs.ids(query, document, first) for inputs in (plain, general))
            assert len(other) <= max_length and general.room(query) <= plain.room(query)
            assert own != other if order == "reversed" else own == other


@pytest.mark.parametrize("template", TEMPLATES)
def test_scores_of_the_general_form_read_once_are_the_paper_s_to_the_bit(template):
    words = Words()
    queries, documents = {"q": "who is it"}, {f"d{n}": f"w{n} sat there w{n + 1}" for n in range(6)}
    plain = pair_inputs(words, queries, documents, template, max_length=24, max_query=8)
    model = tiny_reranker("mamba2" if template == "document_first" else "bert")
    scores = [
        torch.stack([model(torch.tensor([ids]), torch.ones(1, len(ids), dtype=torch.long))[0] for ids in found])
        for found in (
            [inputs.ids("q", name) for name in documents]
            for inputs in (plain, *(ordered_inputs(words, plain, queries, order, 8) for order in ("once", "twice")))
        )
    ]
    assert torch.equal(scores[0], scores[1]) and not torch.equal(scores[0], scores[2])


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("order", ["twice", "reversed_twice"])
def test_the_tokens_of_the_text_double_exactly_and_both_copies_are_cut_alike(template, order):
    words, query = Words(), " ".join(f"q{number}" for number in range(9))
    for count in (3, 400):
        document = " ".join(f"d{number}" for number in range(count))
        once, twice = (
            inputs_of(words, template, name, document, query, max_length=32, max_query=5) for name in ("once", order)
        )
        one, two = (inputs.ids("q", "d") for inputs in (once, twice))
        text = {index for word, index in words.known.items() if word[0] in "dq" and word[1:].isdigit()}
        own, both = ([index for index in ids if index in text] for ids in (one, two))
        assert len(own) == len(set(own)) and sorted(both) == sorted([*own, *own])
        assert both[: len(own)] == both[len(own) :], "the copies are one and the same"
        assert len(two) <= 2 * 32 and (len(one) == 32) == (count == 400)


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("order", ORDERS)
def test_a_long_document_takes_neither_query_nor_end(template, order):
    tokenizer = tokenizer_of(template)
    inputs = inputs_of(tokenizer, template, order, document="cat " * 5000, max_length=24)
    ids = inputs.ids("q", "d")
    assert 24 * copies_of(order) - 2 <= len(ids) <= 24 * copies_of(order)
    asked = tokenizer(f" {QUERY}", add_special_tokens=False)["input_ids"]
    found = sum(ids[place : place + len(asked)] == asked for place in range(len(ids)))
    assert found == copies_of(order) and ids[-1] == inputs.end


def test_headings_that_have_more_tokens_in_an_order_leave_less_of_the_document():
    """Before a text `query` may be several pieces where it is one behind a space."""

    class Spaced(Words):
        def __call__(self, texts, **options):
            split = [text.replace("query:", "q u e r y :") if text.startswith("query:") else text for text in texts]
            return super().__call__(split if texts else texts, **options)

    words, document = Spaced(), " ".join(f"d{number}" for number in range(99))
    lengths = {order: len(inputs_of(words, "document_first", order, document).ids("q", "d")) for order in ORDERS}
    assert lengths["once"] == 64 == lengths["reversed"] and max(lengths.values()) <= 128
    with pytest.raises(ReprlabError, match=r"max_length: 16 tokens leave no room .* in the order reversed; raise"):
        inputs_of(words, "document_first", "reversed", document, "a b c d e f g", max_length=16)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("template", TEMPLATES)
def test_tokens_of_a_pair_are_the_mean_over_the_sequences_of_a_run(template, order):
    words = Words()
    documents = {f"d{n}": " ".join(f"w{m}" for m in range(n * n)) for n in range(9)}
    pairs = PairSettings(template=template, max_length=32, max_query=3)
    inputs = inputs_in_order(words, {"q": "a b c d", "r": "a"}, documents, pairs, order)
    run = {"q": dict.fromkeys(documents, 1.0), "r": {"d2": 1.0, "d8": 0.5}}
    lengths = [len(inputs.ids(query, name)) for query, found in run.items() for name in found]
    assert pair_tokens(inputs, run) == pytest.approx(np.mean(lengths), rel=1e-12)
    assert isinstance(inputs, OrderedInputs) == (order != "once") and np.isnan(pair_tokens(inputs, {"q": {}}))


class Recurrent(torch.nn.Module):
    """A drawn recurrent language model: embeddings and one gated layer, which keeps a dozen numbers of what it read."""

    def __init__(self, vocabulary: int, width: int = 12):
        super().__init__()
        self.config = SimpleNamespace(hidden_size=width)
        self.words = torch.nn.Embedding(vocabulary, width)
        self.layer = torch.nn.GRU(width, width, batch_first=True)

    @property
    def base_model(self) -> "Recurrent":
        return self

    def forward(self, input_ids, attention_mask):
        return SimpleNamespace(last_hidden_state=self.layer(self.words(input_ids))[0])


KEYS, VALUES = 2, 8


def recall(order: str, updates: int) -> float:
    """How often a drawn model, after so many updates, finds the one document of four that gives a key the asked value.

    A document gives each of two keys, in any order, one of eight values; the query is a key and a value.
    """
    rng, words = torch.Generator().manual_seed(0), Words()
    slots = [f"slot{number}" for number in range(2 * KEYS)]
    inputs = inputs_of(words, "document_first", order, " ".join(slots), "key value", max_length=40, max_query=4)
    sequence = torch.tensor(inputs.ids("q", "d"))
    filled = [words.known[slot] for slot in (*slots, "key", "value")]
    size = 10 + len(words.known)

    def batch(groups: int) -> dict[str, torch.Tensor]:
        keys = torch.rand(groups, 4, KEYS, generator=rng).argsort(-1)
        values = torch.randint(VALUES, (groups, 4, KEYS), generator=rng)
        asked, right = (torch.randint(most, (groups, 1), generator=rng) for most in (KEYS, VALUES))
        given = (right + torch.randint(1, VALUES, (groups, 4), generator=rng)) % VALUES
        given[:, 0] = right[:, 0]
        values = torch.where(keys == asked[..., None], given[..., None], values)
        about = torch.stack([size + keys, size + KEYS + values], -1).flatten(2)
        query = torch.stack([size + asked, size + KEYS + right], -1).expand(-1, 4, -1)
        table = torch.arange(size).repeat(groups, 4, 1)
        table[..., filled] = torch.cat([about, query], -1)
        ids = table[..., sequence].flatten(0, 1)
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "groups": torch.arange(groups)}

    torch.manual_seed(0)
    model = reranker(Recurrent(size + KEYS + VALUES), "last", 0.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    for _ in range(updates):
        optimizer.zero_grad()
        group_loss(model, batch(32))[0].backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    with torch.no_grad():
        parts = group_loss(model, batch(500))[1]
    return float(parts["correct"] / parts["total"])


@pytest.mark.usefixtures("one_thread")
def test_recall_of_a_drawn_recurrent_model_depends_on_the_order():
    """Chance is 0.25. With the question last it soon asks what it has kept; with the question first it has to compare
    all along, and learns that later."""
    found = {order: recall(order, 300) for order in ("once", "reversed")}
    assert found["once"] > found["reversed"] + 0.1 and found["reversed"] > 0.4
