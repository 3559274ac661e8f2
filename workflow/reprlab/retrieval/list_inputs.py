"""Prompts of lists: a query with some candidates, each under a letter (FIRST, Gangi Reddy et al. 2024), and batches."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reprlab.retrieval.bi_encoder import padded
from reprlab.retrieval.rerank_groups import Group
from reprlab.retrieval.rerank_inputs import DocumentIds
from reprlab.retrieval.rerank_settings import LETTERS, ListSettings
from reprlab.retrieval.trec import Run, ordered
from reprlab.runtime.errors import ReprlabError
from reprlab.text.encoding import ids_behind, piece_ids
from reprlab.text.tokenizer_folder import start_ids
from reprlab.training.finetuning_encoding import Ragged

if TYPE_CHECKING:
    import numpy as np
    import torch

_LETTERS = string.ascii_uppercase[:LETTERS]


@dataclass(frozen=True)
class ListInputs:
    """Prompts of lists, made of queries and documents that are tokenised once.

    `query: {q}`, a line `A: {d}` for each candidate, `query: {q}` once more and `most relevant:`, on whose next line
    the answer is a letter. Passages are cut at one number of tokens.
    """

    queries: Mapping[str, list[int]]
    documents: DocumentIds
    opening: list[int]
    headings: tuple[list[int], ...]
    """Before each candidate: a line end, its letter, a colon."""
    again: list[int]
    """Before the query's second time."""
    closing: list[int]
    letters: tuple[int, ...]
    """The token of each candidate's letter at the place of the answer."""
    passage_tokens: int

    def ids(self, query: str, documents: Sequence[str]) -> list[int]:
        """Ids of a list, its candidates in this order; at most as many as there are letters."""
        asked, found = self.queries[query], [*self.opening, *self.queries[query]]
        for heading, name in zip(self.headings[: len(documents)], documents, strict=True):
            found += [*heading, *self.documents[name][: self.passage_tokens]]
        return [*found, *self.again, *asked, *self.closing]


def list_inputs(
    tokenizer: Any, queries: Mapping[str, str], documents: Mapping[str, str], settings: ListSettings, max_query: int
) -> ListInputs:
    """Tokenise queries and documents for `ListInputs`; a query's own words are cut at `max_query` tokens.

    Raises:
        ReprlabError: a letter of the window is not a single token of its own.
    """
    names = _LETTERS[: settings.window]
    (opening,) = piece_ids(tokenizer, ["query:"])
    answers = ids_behind(tokenizer, list(names))
    letters = [one[0] for one in answers if len(one) == 1 and one[0] != tokenizer.unk_token_id]
    if len({*letters}) != len(names):
        raise ReprlabError(
            f"tokenizer: its letters A to {names[-1]} are not {len(names)} single tokens, by which candidates are told "
            "apart; set a smaller window, or name a model with another tokenizer"
        )
    *headings, again, closing = ids_behind(
        tokenizer, [*(f"\n{letter}:" for letter in names), "\nquery:", "\nmost relevant:\n"], "a"
    )
    asked = ids_behind(tokenizer, [f" {text}" for text in queries.values()], ":")
    return ListInputs(
        {name: ids[:max_query] for name, ids in zip(queries, asked, strict=True)},
        DocumentIds.of(tokenizer, documents),
        [*start_ids(tokenizer), *opening],
        tuple(headings),
        again,
        closing,
        tuple(letters),
        settings.passage_tokens,
    )


@dataclass(frozen=True)
class ListBatches:
    """Batches of groups as lists, whose candidates stand in an order that the seed draws anew in each pass."""

    groups: Sequence[Group]
    """The best document first, the others in the order of the first stage (`in_first_order`)."""
    inputs: ListInputs
    pad: int
    seed: int

    def __call__(self, rows: np.ndarray, step: int) -> dict[str, torch.Tensor]:
        """Prompts and mask [lists, L]; rank, 1 the best, and grade of each letter's candidate [lists, W]."""
        import numpy as np
        import torch

        ids, ranks = [], []
        for number in rows.tolist():
            rng = np.random.Generator(np.random.Philox(key=[self.seed, step * len(self.groups) + number]))
            group = self.groups[number]
            places = rng.permutation(len(group.documents))
            ids.append(self.inputs.ids(group.query, [group.documents[place] for place in places.tolist()]))
            ranks.append(places + 1)
        tokens, mask = padded(Ragged.of(ids), np.arange(len(ids)), self.pad)
        ranked = torch.from_numpy(np.stack(ranks))
        return {"input_ids": tokens, "attention_mask": mask, "ranks": ranked, "grades": (ranked == 1).long()}


def in_first_order(groups: Sequence[Group], run: Run) -> list[Group]:
    """Groups whose negatives stand as the first stage has them, which is their rank in a list."""
    found = []
    for group in groups:
        place = {name: number for number, name in enumerate(ordered(run[group.query]))}
        best, *others = group.documents
        found.append(Group(group.query, [best, *sorted(others, key=place.__getitem__)]))
    return found
