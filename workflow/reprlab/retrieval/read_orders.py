"""Orders in which a reranker reads query and document: the template's own, the other way round, and either one twice.

What a recurrent model keeps of a text depends on what it has read before. Reading all of it twice, it knows the whole
task when it meets the text again ("read twice", Arora et al. 2024, section 3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from reprlab.retrieval.rerank_inputs import PairInputs, Template, pair_inputs
from reprlab.retrieval.rerank_settings import PairSettings
from reprlab.retrieval.trec import Run
from reprlab.runtime.errors import ReprlabError
from reprlab.text.encoding import ids_behind, piece_ids

Order = Literal["once", "reversed", "twice", "reversed_twice"]
"""`once`: as the template has it; `reversed`: the other part first; `twice`: both parts, and both again;
`reversed_twice`: the same the other way round."""
ORDERS: tuple[Order, ...] = get_args(Order)
_PARTS = ("document", "query")


@dataclass(frozen=True)
class OrderedInputs(PairInputs):
    """Sequences of pairs whose parts stand in an order, each under its heading; the rest is as in `PairInputs`.

    All copies of a document have the same tokens: those that `max_length` leaves to a single one, so that reading twice
    adds no text. A sequence has at most `max_length` tokens for each copy.
    """

    words: Mapping[str, list[int]]
    """Ids of each query without its heading."""
    order: tuple[str, ...]
    """`document` and `query` as they follow each other, as often as each is read."""
    opening: list[int]
    """Before the first heading."""
    headings: tuple[list[int], ...]
    """Before each part of `order`, with what separates it from the part before."""
    closing: list[int]
    """Behind the last part, before the end token."""

    @property
    def copies(self) -> int:
        """How often a pair is read."""
        return len(self.order) // len(_PARTS)

    def ids(self, query: str, document: str, first: int = 0) -> list[int]:
        """As of `PairInputs`."""
        text = self.documents[document][first : first + self.room(query)]
        parts = {"document": text, "query": self.words[query]}
        found = [*self.opening]
        for heading, part in zip(self.headings, self.order, strict=True):
            found += [*heading, *parts[part]]
        return [*found, *self.closing, self.end]

    def room(self, query: str) -> int:
        """Tokens that are left for each copy of the document: never more than where the template's order is read once,
        and fewer where the headings of this order have more tokens."""
        return min(super().room(query), (self.copies * self.max_length - self.beside(query)) // self.copies)

    def beside(self, query: str) -> int:
        """Tokens of a sequence that are none of the document's."""
        fixed = [self.opening, *self.headings, self.closing, [self.end]]
        return sum(map(len, fixed)) + self.copies * len(self.words[query])


def inputs_in_order(
    tokenizer: Any, queries: Mapping[str, str], documents: Mapping[str, str], pairs: PairSettings, order: Order
) -> PairInputs:
    """Queries and documents for sequences in an order; `once` is `pair_inputs`.

    Raises:
        ReprlabError: as of `pair_inputs`.
    """
    lengths = {"max_length": pairs.max_length, "max_query": pairs.max_query}
    own = pair_inputs(tokenizer, queries, documents, pairs.template, **lengths)
    if order == "once":
        return own
    return ordered_inputs(tokenizer, own, queries, order, pairs.max_query)


def ordered_inputs(
    tokenizer: Any, own: PairInputs, queries: Mapping[str, str], order: Order, max_query: int
) -> OrderedInputs:
    """The sequences of `own`, made of the same queries, in an order.

    Raises:
        ReprlabError: its headings leave no room for a document.
    """
    parts = parts_of(own.template, order)
    ends = ";" if own.template == "document_first" else ""
    (first,) = piece_ids(tokenizer, [f"{parts[0]}:"])
    *then, closing = ids_behind(tokenizer, [*(f"; {part}:" for part in parts[1:]), ends], "a")
    (heading,) = piece_ids(tokenizer, ["document:"])
    # A decoder's template starts with its own first heading.
    opening = own.start[: len(own.start) - len(heading)] if own.template == "document_first" else own.start
    ids = ids_behind(tokenizer, [f" {text}" for text in queries.values()], ":")
    words = {name: one[:max_query] for name, one in zip(queries, ids, strict=True)}
    found = OrderedInputs(
        own.queries,
        own.documents,
        own.start,
        own.end,
        own.template,
        own.max_length,
        words=words,
        order=parts,
        opening=opening,
        headings=(first, *then),
        closing=closing,
    )
    if any(found.room(query) < 1 for query in queries):
        raise ReprlabError(
            f"max_length: {own.max_length} tokens leave no room for a document in the order {order}; raise max_length "
            "or lower max_query"
        )
    return found


def parts_of(template: Template, order: Order) -> tuple[str, ...]:
    """`document` and `query` as an order has them."""
    once = _PARTS if template == "document_first" else _PARTS[::-1]
    once = once[::-1] if order.startswith("reversed") else once
    return once * copies_of(order)


def copies_of(order: Order) -> int:
    """How often a pair is read."""
    return 2 if order.endswith("twice") else 1


def pair_tokens(inputs: PairInputs, run: Run) -> float:
    """Tokens of a sequence, padding apart, in the mean over the pairs of a run; NaN where it has none."""
    import numpy as np

    copies = inputs.copies if isinstance(inputs, OrderedInputs) else 1
    rows, lengths, total, pairs = inputs.documents.rows, inputs.documents.ids.lengths, 0, 0
    for query, documents in run.items():
        own = lengths[[rows[document] for document in documents]]
        beside = inputs.beside(query) if isinstance(inputs, OrderedInputs) else inputs.max_length - inputs.room(query)
        total += len(own) * beside + copies * int(np.minimum(own, inputs.room(query)).sum())
        pairs += len(own)
    return total / pairs if pairs else float("nan")
