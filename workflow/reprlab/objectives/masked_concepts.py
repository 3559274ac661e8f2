"""Plugin `masked_concepts`: whole concepts under a budget for each batch, or random spans beside them.

Kohli, Monis and Mamidi 2025, section 3; one treatment for each occurrence as in Lee et al. 2022. The token types of the
rows are those of `concepts.marks`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.objectives.masking import MaskedObjective
from reprlab.objectives.objective import EMPTY, EMPTY_OF, Rows

if TYPE_CHECKING:
    import numpy as np
    import torch


class Settings(BaseModel):
    """Masking of concepts or of random spans."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    selection: Literal["concepts", "spans"] = "concepts"
    """concepts: occurrences of concepts; spans: as many tokens in spans of as many words, at random words."""
    budget: float = Field(default=0.2, gt=0, le=1)
    """Largest share of a batch's tokens, special ones left out, that is predicted; an occurrence is never cut."""
    mask_padding: Literal[True] = True
    """An encoder never sees padding."""


@dataclass(frozen=True)
class Spans:
    """First token and number of tokens of each, as places in the flattened batch."""

    start: np.ndarray
    length: np.ndarray

    def at(self, chosen: np.ndarray) -> Spans:
        return Spans(self.start[chosen], self.length[chosen])


class Objective(MaskedObjective[Settings]):
    """Batches and loss of an encoder that predicts spans."""

    def corrupt(self, rows: Rows) -> dict[str, np.ndarray]:
        """The batch of `masked_batch`; a batch without an occurrence has no label, and its loss is 0."""
        import numpy as np

        ids, rng, inside = rows.ids, rows.rng, rows.inside
        ordinary = inside & ~self.masks.is_special(ids)
        budget = int(self.settings.budget * ordinary.sum() + 1e-9)
        types = np.where(inside, rows.types, 0).ravel()
        concepts, words = _concepts(types)
        spans = concepts.at(take(concepts.length, budget, rng))
        if self.settings.selection == "spans":
            cut = tiles(types, ordinary, words, rng)
            spans = cut.at(take(cut.length, int(spans.length.sum()), rng))
        owner = np.repeat(np.arange(len(spans.start)), spans.length)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(spans.length) - spans.length, spans.length)
        places = np.repeat(spans.start, spans.length) + within
        chosen, fate, drawn = np.zeros(ids.size, dtype=bool), np.zeros(ids.size), np.zeros(ids.size, dtype=np.int64)
        chosen[places] = True
        fate[places] = rng.random(len(spans.start))[owner]
        drawn[places] = self.masks.draw(rng, len(places))
        return self.masked_batch(ids, inside, *(one.reshape(ids.shape) for one in (chosen, fate, drawn)))

    def loss(self, model: Any, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """That of `MaskedObjective`, with the number of batches that have no label, which are not errors here."""
        total, parts = super().loss(model, batch)
        # Counts, which add up over the parts of a batch; truth values would not.
        empty = (parts["count"] == 0).to(parts["count"].dtype)
        return total, {**parts, EMPTY: empty, EMPTY_OF: empty.new_ones(())}


def take(lengths: np.ndarray, budget: int, rng: np.random.Generator) -> np.ndarray:
    """Which occurrences are taken: in random order, each whole if it fits in what is left of the budget.

    Args:
        lengths: [occurrences] tokens of each.
        budget: tokens in all.

    Returns:
        their numbers, ascending.
    """
    import numpy as np

    order = rng.permutation(len(lengths))
    left, taken = lengths[order], np.zeros(len(order), dtype=bool)
    first = int(np.searchsorted(np.cumsum(left), budget, side="right"))
    taken[:first] = True
    budget -= int(left[:first].sum())
    # Each turn takes one and lowers what is left, so there are no more turns than tokens left of the budget.
    while budget > 0 and len(fitting := np.flatnonzero(left[first:] <= budget)):
        first += int(fitting[0])
        taken[first] = True
        budget -= int(left[first])
        first += 1
    return np.sort(order[taken])


def _concepts(types: np.ndarray) -> tuple[Spans, np.ndarray]:
    """The occurrences of concepts in a flattened batch, and the words of each."""
    import numpy as np

    from reprlab.concepts.marks import CONCEPT, FIRST, OPENS

    opens = (types & OPENS) > 0
    owner = np.cumsum(opens)
    start = np.flatnonzero(opens)
    length, words = (
        np.bincount(owner[marked] - 1, minlength=len(start))
        for marked in ((types & CONCEPT) > 0, ((types & CONCEPT) > 0) & ((types & FIRST) > 0))
    )
    return Spans(start, length), words


def tiles(types: np.ndarray, ordinary: np.ndarray, words: np.ndarray, rng: np.random.Generator) -> Spans:
    """The batch cut into consecutive spans whose numbers of words are drawn from `words`; those that hold a special
    token are left out.

    A span that would reach into the next row begins there instead: left out, the longer ones would be rarer than in
    `words`. Only one that is longer than its row is.

    Args:
        types: [B * L] token types; `ordinary` [B, L]: true at tokens that are not special.
        words: numbers of words to draw from.
        rng: draws them, and how many words of each row are left in front of its first span.
    """
    import numpy as np

    from reprlab.concepts.marks import FIRST, FURTHER

    start = np.flatnonzero(types & FIRST)
    if not len(words) or not len(start):
        return Spans(start[:0], start[:0])
    pieces = np.bincount(np.cumsum((types & FIRST) > 0)[(types & (FIRST | FURTHER)) > 0] - 1, minlength=len(start))
    drawn = rng.choice(words, size=len(start))
    first = _begins(drawn, np.bincount(start // ordinary.shape[1], minlength=len(ordinary)), rng)
    inside = first >= 0
    first = first[inside]
    last = first + drawn[inside] - 1
    opens, closes = start[first], start[last] + pieces[last]
    known = np.concatenate([[0], np.cumsum(ordinary.ravel())])
    whole = known[closes] - known[opens] == closes - opens
    return Spans(opens[whole], (closes - opens)[whole])


def _begins(drawn: np.ndarray, room: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The first word of each span of `drawn` words, -1 where it has no place, when rows of `room` words are filled."""
    import numpy as np

    ends = np.cumsum(drawn)
    begins = np.full(len(drawn), -1, dtype=np.int64)
    share, place, word = rng.random(len(room)), 0, 0
    for row, length in enumerate(room.tolist()):
        while place < len(drawn) and drawn[place] > length > 0:
            place += 1
        before = int(ends[place - 1]) if place else 0
        following = int(np.searchsorted(ends, before + length, side="right"))
        if following > place:
            slack = length - (int(ends[following - 1]) - before)
            begins[place:following] = (
                word + int(share[row] * (slack + 1)) + ends[place:following] - drawn[place:following] - before
            )
        place, word = max(place, following), word + length
    return begins
