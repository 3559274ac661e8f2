"""Beam search in which every beam is to hold one word of a set (as constrained beam search in transformers 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Beam:
    """A continuation: the sum of its log-probabilities, its tokens, and how much of a word is at its end."""

    score: float
    tokens: tuple[int, ...]
    parent: int
    progress: int


class ForcedBeams:
    """The search of one prompt.

    At each step a beam may go on with its likeliest tokens, or with the next token of a word. Beams with equal
    progress on a word form a bank; the banks take turns, the furthest first, in giving their best beam to the next
    step, so that beams with a word begun are not crowded out by likelier ones without. A beam that ends with a word is
    done. Hypotheses compare by the mean log-probability of their tokens.
    """

    def __init__(self, words: Sequence[Sequence[int]], beams: int, steps: int, end: int) -> None:
        """
        Args:
            words: token ids of each word.
            beams: beams that go on.
            steps: tokens of a hypothesis at most.
            end: the end token, which no beam takes before it holds a word.
        """
        self._words = [tuple(word) for word in words]
        self._size, self._steps, self._end = beams, steps, end
        self._beams = [Beam(0.0, (), 0, 0)]
        self._done: list[tuple[float, int]] = []
        self._length = 0

    @property
    def is_done(self) -> bool:
        """Whether no step follows: the steps are used up, or no open beam can beat the hypotheses found."""
        if self._length >= self._steps:
            return True
        if len(self._done) < self._size:
            return False
        # The mean can only fall: log-probabilities are at most 0, and a longer beam divides by more.
        highest = max((beam.score for beam in self._beams), default=float("-inf")) / self._steps
        return sorted(score for score, _ in self._done)[-self._size] >= highest

    def advance(self, scores: torch.Tensor) -> list[tuple[int, int]]:
        """Take a step; returns for each beam that goes on its place among the present ones and its new token.

        Args:
            scores: [beams, V] log-probabilities of the next token of each present beam.
        """
        if self.is_done:
            return [(0, self._end)] * self._size
        self._length += 1
        # More than `beams`, so that each bank has its best.
        values, tokens = scores[: len(self._beams)].topk(min(2 * self._size, scores.shape[1]))
        candidates: dict[tuple[int, ...], Beam] = {}
        for place, beam in enumerate(self._beams):
            likely = dict(zip(tokens[place].tolist(), values[place].tolist(), strict=True))
            forced = {token: float(scores[place, token]) for token in self._forced(beam)}
            for token, value in {**likely, **forced}.items():
                if token != self._end:
                    text = (*beam.tokens, token)
                    candidates[text] = Beam(beam.score + value, text, place, self._progress(text))
        going = []
        for beam in candidates.values():
            word = next((place for place, ids in enumerate(self._words) if beam.tokens[-len(ids) :] == ids), None)
            if word is None:
                going.append(beam)
            else:
                self._done.append((beam.score / len(beam.tokens), word))
        self._beams = self._selected(going)
        chosen = [(beam.parent, beam.tokens[-1]) for beam in self._beams]
        return chosen + [(0, self._end)] * (self._size - len(chosen))

    def best(self) -> int:
        """Place of the word that the best hypothesis holds."""
        return max(self._done, key=lambda item: (item[0], -item[1]))[1]

    def _forced(self, beam: Beam) -> set[int]:
        """Tokens that begin a word or go on with the one at the end of the beam, where it still fits in."""
        room = self._steps - self._length + 1
        starts = {word[0] for word in self._words if len(word) <= room}
        if not beam.progress:
            return starts
        begun = beam.tokens[-beam.progress :]
        return starts | {word[beam.progress] for word in self._words if word[: beam.progress] == begun}

    def _progress(self, text: tuple[int, ...]) -> int:
        """Length of the longest beginning of a word at the end of the text."""
        longest = max(map(len, self._words))
        for length in range(min(longest, len(text)), 0, -1):
            if any(word[:length] == text[-length:] for word in self._words):
                return length
        return 0

    def _selected(self, beams: Sequence[Beam]) -> list[Beam]:
        banks: dict[int, list[Beam]] = {}
        for beam in sorted(beams, key=lambda beam: (-beam.score, beam.tokens)):
            banks.setdefault(beam.progress, []).append(beam)
        order = sorted(banks, reverse=True)
        chosen: list[Beam] = []
        turn = 0
        while len(chosen) < self._size and any(banks.values()):
            bank = banks[order[turn % len(order)]]
            if bank:
                chosen.append(bank.pop(0))
            turn += 1
        return chosen
