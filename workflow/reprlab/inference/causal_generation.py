"""Texts of decoders: greedy, and by beams that are made to hold one of a set of words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from reprlab.inference.causal_batches import PaddedBatch
from reprlab.inference.forced_beams import ForcedBeams

if TYPE_CHECKING:
    import torch


def greedy(model: Any, batches: Iterable[PaddedBatch], max_new_tokens: int, rows: int, end: int) -> list[list[int]]:
    """The likeliest token at each step, up to and without the end token: ids of each of `rows` texts."""
    import torch

    found: list[list[int]] = [[] for _ in range(rows)]
    with torch.inference_mode():
        for batch in batches:
            state = _State(model, batch)
            open_rows = torch.ones(len(batch.rows), dtype=torch.bool, device=batch.ids.device)
            columns = []
            for _ in range(max_new_tokens):
                chosen = state.logits.argmax(-1)
                chosen = torch.where(open_rows, chosen, end)
                columns.append(chosen)
                open_rows = open_rows & (chosen != end)
                if not bool(open_rows.any()) or len(columns) == max_new_tokens:
                    break
                state.advance(chosen)
            for row, ids in zip(batch.rows.tolist(), torch.stack(columns, 1).tolist(), strict=True):
                found[row] = ids[: ids.index(end)] if end in ids else ids
    return found


def constrained(
    model: Any,
    batches: Iterable[PaddedBatch],
    words: Sequence[Sequence[int]],
    *,
    beams: int,
    max_new_tokens: int,
    rows: int,
    end: int,
) -> list[int]:
    """For each of `rows` prompts, the place in `words` of the word that the best beam holds.

    Args:
        words: token ids of each allowed word; a beam is done when it ends with one of them.
        beams: beams of each prompt.
        max_new_tokens: tokens of a beam at most, longer only where a word needs it.
    """
    import torch

    found = [0] * rows
    steps = max(max_new_tokens, max(map(len, words)))
    with torch.inference_mode():
        for batch in batches:
            state = _State(model, batch, copies=beams)
            searches = [ForcedBeams(words, beams, steps, end) for _ in batch.rows]
            while True:
                scores = state.logits.float().log_softmax(-1).view(len(searches), beams, -1)
                parents, tokens = [], []
                for number, search in enumerate(searches):
                    chosen = search.advance(scores[number])
                    parents += [number * beams + parent for parent, _ in chosen]
                    tokens += [token for _, token in chosen]
                if all(search.is_done for search in searches):
                    break
                device = batch.ids.device
                state.reorder(torch.tensor(parents, device=device))
                state.advance(torch.tensor(tokens, device=device))
            for row, search in zip(batch.rows.tolist(), searches, strict=True):
                found[row] = search.best()
    return found


class _State:
    """Cached keys and values of a batch, and the logits of its next tokens [B x copies, V]."""

    def __init__(self, model: Any, batch: PaddedBatch, copies: int = 1) -> None:
        self.model = model
        output = batch.forward(model, use_cache=True)
        self.cache = output.past_key_values
        if copies > 1:
            self.cache.batch_repeat_interleave(copies)
        self.mask = batch.mask.repeat_interleave(copies, 0)
        self.position = batch.positions[:, -1].repeat_interleave(copies, 0)
        self.logits: torch.Tensor = output.logits[:, -1].repeat_interleave(copies, 0)

    def reorder(self, parents: torch.Tensor) -> None:
        """Go on from the rows `parents`."""
        self.cache.reorder_cache(parents)

    def advance(self, tokens: torch.Tensor) -> None:
        """Append a token to each row."""
        import torch

        self.position = self.position + 1
        self.mask = torch.cat([self.mask, self.mask.new_ones(len(self.mask), 1)], 1)
        output = self.model(
            input_ids=tokens[:, None],
            attention_mask=self.mask,
            position_ids=self.position[:, None],
            past_key_values=self.cache,
            use_cache=True,
        )
        self.cache, self.logits = output.past_key_values, output.logits[:, -1]
