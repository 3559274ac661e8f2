"""Pairs of query and document as one sequence, cut so that neither the query nor the last token is ever lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from reprlab.runtime.errors import ReprlabError
from reprlab.text.encoding import ids_behind, piece_ids, surrounding_ids
from reprlab.text.tokenizer_folder import start_ids
from reprlab.training.finetuning_encoding import Ragged

Template = Literal["document_first", "query_first"]
# Documents that are tokenised at once.
_AT_ONCE = 2**15


@dataclass(frozen=True)
class DocumentIds(Mapping[str, list[int]]):
    """Ids of documents by name, in one array: of millions of passages lists of numbers would take tens of gigabytes."""

    rows: Mapping[str, int]
    ids: Ragged

    @classmethod
    def of(cls, tokenizer: Any, documents: Mapping[str, str]) -> DocumentIds:
        """Tokenise documents, some at a time."""
        names = list(documents)
        parts = [
            Ragged.of(_behind_colon(tokenizer, [documents[name] for name in names[start : start + _AT_ONCE]]), "int32")
            for start in range(0, max(len(names), 1), _AT_ONCE)
        ]
        return cls({name: row for row, name in enumerate(names)}, Ragged.joined(parts))

    def __getitem__(self, name: str) -> list[int]:
        row = self.rows[name]
        found: list[int] = self.ids.flat[self.ids.offsets[row] : self.ids.offsets[row + 1]].tolist()
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class PairInputs:
    """Sequences of pairs, made of queries and documents that are tokenised once.

    `document_first` (decoders): `document: {d}; query: {q};` and the end token, whose state is scored, so that the
    query's states see the document. `query_first` (encoders): first token, `query: {q}; document: {d}`, last token; the
    first one's state is scored (ssm-rerankers, section 3).
    """

    queries: Mapping[str, list[int]]
    documents: DocumentIds
    start: list[int]
    end: int
    template: Template
    max_length: int

    def ids(self, query: str, document: str, first: int = 0) -> list[int]:
        """Ids of one pair; `first` is the token of the document at which it starts (a later passage of MaxP)."""
        asked = self.queries[query]
        room = self.room(query)
        text = self.documents[document][first : first + room]
        parts = [text, asked] if self.template == "document_first" else [asked, text]
        return [*self.start, *parts[0], *parts[1], self.end]

    def room(self, query: str) -> int:
        """Tokens that are left for the document."""
        return self.max_length - len(self.start) - 1 - len(self.queries[query])

    def starts(self, query: str, document: str, stride: int) -> list[int]:
        """Where the passages of a document start that together cover it (MaxP), at most `stride` tokens apart."""
        room = self.room(query)
        last = max(len(self.documents[document]) - room, 0)
        return [*range(0, last, min(stride, room)), last]


def pair_inputs(
    tokenizer: Any,
    queries: Mapping[str, str],
    documents: Mapping[str, str],
    template: Template,
    *,
    max_length: int,
    max_query: int,
) -> PairInputs:
    """Tokenise queries and documents for `PairInputs`; a query's own words are cut at `max_query` tokens.

    Raises:
        ReprlabError: `max_length` leaves no room for a document, or the tokenizer has no end token.
    """
    end = tokenizer.sep_token_id if template == "query_first" else tokenizer.eos_token_id
    end = tokenizer.eos_token_id if end is None else end
    if end is None:
        raise ReprlabError("tokenizer: it has neither an end nor a separator token, so that no sequence can be closed")
    if template == "document_first":
        start, before, between, after = start_ids(tokenizer), "document:", "; query:", ";"
    else:
        start, before, between, after = _first(tokenizer, end), "query:", "; document:", ""
    (opening,) = piece_ids(tokenizer, [before])
    middle, closing = ids_behind(tokenizer, [between, after], "a")
    words = [ids[:max_query] for ids in _behind_colon(tokenizer, list(queries.values()))]
    if template == "document_first":
        asked = [[*middle, *ids, *closing] for ids in words]
        start = [*start, *opening]
    else:
        asked = [[*opening, *ids, *middle] for ids in words]
    longest = max((len(ids) for ids in asked), default=0) + len(start) + 1
    if longest >= max_length:
        raise ReprlabError(
            f"max_length: {max_length} tokens leave no room for a document beside a query of {longest}; raise "
            "max_length or lower max_query"
        )
    return PairInputs(
        dict(zip(queries, asked, strict=True)),
        DocumentIds.of(tokenizer, documents),
        start,
        end,
        template,
        max_length,
    )


def _first(tokenizer: Any, end: int) -> list[int]:
    """The token whose state is scored: the tokenizer's own before a text, else the end token once more (T5)."""
    before, _ = surrounding_ids(tokenizer)
    return before or [end if tokenizer.cls_token_id is None else tokenizer.cls_token_id]


def _behind_colon(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Ids of the texts behind their heading: a piece of a byte-level vocabulary holds the space before a word."""
    return ids_behind(tokenizer, [f" {text}" for text in texts], ":")


def sequences(inputs: PairInputs, pairs: list[tuple[str, str, int]]) -> Ragged:
    """The sequences of (query, document, first token) triples."""
    return Ragged.of(inputs.ids(*pair) for pair in pairs)
