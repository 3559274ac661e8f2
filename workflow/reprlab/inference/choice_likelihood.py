"""Log-likelihood of continuations: which of several choices a decoder finds likeliest.

A question runs through the model once, with all of its choices behind it: each token of a choice sees the question and
its own choice, and is at the position that it would have alone. The first token of every choice is read from one
row of logits, so that choices of one token cost nothing but the question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from reprlab.inference.generation import sorted_batches
from reprlab.inference.shared_start import SharedStart, shared_start
from reprlab.text.encoding import ids_behind

if TYPE_CHECKING:
    import torch

Normalisation = Literal["none", "tokens", "characters"]
# Segments of a row: the padding, the question, and from 1 on its choices.
_PADDING, _QUESTION = -1, 0


@dataclass(frozen=True)
class Question:
    """Ids of a prompt, and of each of its choices (at least one token each)."""

    prompt: list[int]
    choices: list[list[int]]

    @property
    def length(self) -> int:
        """Tokens that run through the model: the last one of a choice is only looked up."""
        return len(self.prompt) + sum(len(choice) - 1 for choice in self.choices)


def choice_ids(tokenizer: Any, choices: Sequence[str]) -> list[list[int]]:
    """Ids of each choice behind a prompt.

    A choice begins with a space and the prompt ends without one, so that every tokenizer which keeps words apart cuts
    between them.
    """
    return ids_behind(tokenizer, [f" {choice}" for choice in choices])


def log_likelihoods(model: Any, questions: Sequence[Question], size: int, pad: int, device: Any) -> list[np.ndarray]:
    """For each question [choices] float64: sum of the log-probabilities of a choice's tokens.

    Args:
        size: choices at once; it does not change the result but for rounding.
    """
    import torch

    found: list[np.ndarray] = [np.zeros(0)] * len(questions)
    with torch.inference_mode():
        start = shared_start(model, [question.prompt for question in questions], device)
        lengths = np.array([question.length for question in questions])
        most = max(len(question.choices) for question in questions)
        for rows in sorted_batches(lengths, max(1, size // most)):
            batch = _batch([questions[row] for row in rows.tolist()], pad, start)
            for row, sums in zip(rows.tolist(), batch.sums(model, device), strict=True):
                found[row] = sums
    return found


def normalised(sums: np.ndarray, tokens: np.ndarray, characters: np.ndarray, how: Normalisation) -> np.ndarray:
    """Log-likelihoods divided by the length of their continuation, or as they are."""
    if how == "none":
        return sums
    return sums / np.maximum(tokens if how == "tokens" else characters, 1)


@dataclass(frozen=True)
class _Batch:
    """Questions padded at the left, so that the last tokens of all prompts and choices lie in the last columns.

    Attributes:
        ids, positions, segments: [B, L], without the start.
        places: for each scored token, its row, the column whose logits foretell it, and its id [3, tokens].
        owners: the choice that each scored token belongs to, counted over the batch [tokens].
        choices: number of choices of each row.
    """

    ids: np.ndarray
    positions: np.ndarray
    segments: np.ndarray
    places: np.ndarray
    owners: np.ndarray
    choices: list[int]
    start: SharedStart | None

    def sums(self, model: Any, device: Any) -> Iterator[np.ndarray]:
        """[choices] of each row."""
        import torch

        row, column, token = torch.from_numpy(self.places).to(device)
        kept = self.ids.shape[1] - int(column.min())
        output = model(
            input_ids=torch.from_numpy(self.ids).to(device),
            attention_mask=self._mask(model, device),
            position_ids=torch.from_numpy(self.positions).to(device),
            past_key_values=self.start.to_read() if self.start is not None else None,
            use_cache=self.start is not None,
            logits_to_keep=kept,
        )
        # Only what foretells a token: the window holds padding and the ends of shorter questions too.
        logits = output.logits[row, column - self.ids.shape[1] + kept].float()
        scores = logits.gather(1, token[:, None])[:, 0].double() - logits.logsumexp(1).double()
        sums = np.bincount(self.owners, weights=scores.cpu().numpy(), minlength=sum(self.choices))
        yield from np.split(sums, np.cumsum(self.choices)[:-1])

    def _mask(self, model: Any, device: Any) -> torch.Tensor:
        """[B, 1, L, S + L]: 0 where a token sees another, else the least number; padding sees padding."""
        import torch

        segments = torch.from_numpy(self.segments).to(device)
        own = (segments[:, None, :] == segments[:, :, None]) | (segments[:, None, :] == _QUESTION)
        seen = own.tril()
        if self.start is not None:
            seen = torch.cat([seen.new_ones(*seen.shape[:2], self.start.length), seen], 2)
        mask = torch.zeros(seen.shape, dtype=model.dtype, device=device)
        return mask.masked_fill_(~seen, torch.finfo(model.dtype).min)[:, None]


def _batch(questions: Sequence[Question], pad: int, start: SharedStart | None) -> _Batch:
    before = start.length if start is not None else 0
    width = max(question.length for question in questions) - before
    ids = np.full((len(questions), width), pad, dtype=np.int64)
    positions = np.full_like(ids, before)
    segments = np.full_like(ids, _PADDING)
    places, owners, owner = [], [], 0
    for row, question in enumerate(questions):
        prompt = question.prompt[before:]
        first = width - (question.length - before)
        asked = first + len(prompt)
        ids[row, first:asked] = prompt
        positions[row, first:asked] = np.arange(before, before + len(prompt))
        segments[row, first:asked] = _QUESTION
        column = asked
        for number, choice in enumerate(question.choices, start=1):
            end = column + len(choice) - 1
            ids[row, column:end] = choice[:-1]
            positions[row, column:end] = np.arange(len(question.prompt), len(question.prompt) + len(choice) - 1)
            segments[row, column:end] = number
            foretelling = [asked - 1, *range(column, end)]
            places.append(np.array([[row] * len(choice), foretelling, choice]))
            owners.append(np.full(len(choice), owner))
            column, owner = end, owner + 1
    counts = [len(question.choices) for question in questions]
    return _Batch(ids, positions, segments, np.concatenate(places, 1), np.concatenate(owners), counts, start)
