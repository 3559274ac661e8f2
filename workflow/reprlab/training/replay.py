"""Replay: in each batch blocks of other text take the place of some, so that a model forgets less of what it knew.

Ibrahim et al. 2024, section 3: a share of what is read in continued pre-training comes from the text before, at an
equal number of updates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from reprlab.objectives.objective import IGNORED
from reprlab.runtime.errors import ReprlabError
from reprlab.training.permutations import Permutation
from reprlab.training.randomness import Purpose, generator

if TYPE_CHECKING:
    import torch

    from reprlab.training.settings import EngineSettings

    Batch = dict[str, torch.Tensor]

REPLAYED = "replayed"
"""In a batch: true for its replayed examples."""
# A share times a number of examples may fall short of a whole number by what doubles round off.
_ROUNDING = 1e-6


class Replay:
    """Which examples of which batch are replayed, and the batches with them: functions of seed and step.

    After any number of updates the share is reached to within one example; a batch has the whole number below or above.
    """

    def __init__(
        self, share: float, rows: int, engine: EngineSettings, collate: Callable[[np.ndarray, np.random.Generator], Any]
    ) -> None:
        """
        Args:
            share: of all examples that are read, in 0..1.
            rows: examples of the other text, of which none comes twice before all have come once.
            engine: its batch size and seed.
            collate: the tensors of some of these examples, with the generator of all that is drawn for them.
        """
        self._share, self._rows, self._collate = share, rows, collate
        self._batch_size, self._seed = engine.batch_size, engine.seed

    def places(self, step: int) -> np.ndarray:
        """[replayed] int64, ascending: which places of the batch of a step (from 0) they take, drawn at random."""
        drawn = generator(self._seed, Purpose.REPLAY_PLACES, step).permutation(self._batch_size)
        return np.sort(drawn[: self._before(step + 1) - self._before(step)])

    def rows(self, step: int) -> np.ndarray:
        """[replayed] int64: the examples of the other text, in a new order each time that all were read."""
        numbers = np.arange(self._before(step), self._before(step + 1))
        epochs, places = np.divmod(numbers, self._rows)
        found = np.empty_like(numbers)
        for epoch in np.unique(epochs).tolist():
            order = Permutation(self._rows, generator(self._seed, Purpose.REPLAY_ORDER, epoch))
            found[epochs == epoch] = order(places[epochs == epoch])
        return found

    def batch(self, step: int, collate: Callable[[np.ndarray], Batch]) -> Batch:
        """The batch of a step, with `replayed` [rows].

        Args:
            collate: the tensors of some places of the batch that is read without replay.

        Raises:
            ReprlabError: the objective of the replayed examples makes batches of another kind.
        """
        import torch

        places = self.places(step)
        others = np.setdiff1d(np.arange(self._batch_size), places)
        parts = [(others, collate(others))] if len(others) else []
        if len(places):
            random = generator(self._seed, Purpose.REPLAY_CORRUPTION, step)
            parts.append((places, self._collate(self.rows(step), random)))
        replayed = torch.zeros(self._batch_size, dtype=torch.bool)
        replayed[torch.from_numpy(places)] = True
        return {**joined(parts), REPLAYED: replayed}

    def _before(self, step: int) -> int:
        return math.floor(self._share * self._batch_size * step + _ROUNDING)


def joined(parts: list[tuple[np.ndarray, Batch]]) -> Batch:
    """One batch of several parts, each with the places of its rows; shorter rows are padded at the end.

    Padding is 0, and -100 in `labels`.

    Raises:
        ReprlabError: the parts do not have the same tensors.
    """
    import torch

    if len(parts) == 1:
        return parts[0][1]
    first, *others = (set(part) for _, part in parts)
    if different := next((sorted(first ^ other) for other in others if other != first), None):
        raise ReprlabError(
            f"replay.objective: its batches and those of the training differ in {', '.join(different)}; name an "
            "objective of the same model"
        )
    found = {}
    for name in parts[0][1]:
        pieces = [(torch.from_numpy(places), part[name]) for places, part in parts]
        longest = (max(sizes) for sizes in zip(*(piece.shape[1:] for _, piece in pieces), strict=True))
        shape = (sum(len(places) for places, _ in pieces), *longest)
        whole = pieces[0][1].new_full(shape, IGNORED if name == "labels" else 0)
        for places, piece in pieces:
            inside: Any = (places, *(slice(size) for size in piece.shape[1:]))
            whole[inside] = piece
        found[name] = whole
    return found


def replay_counts(batch: Batch) -> dict[str, torch.Tensor]:
    """Counts of a batch, for `metrics.means_of`: its examples and tokens, and those that are replayed; {} without."""
    if REPLAYED not in batch:
        return {}
    replayed, tokens = batch[REPLAYED], batch["tokens"]
    return {
        "replayed_part": replayed.sum(),
        "replayed_whole": tokens.new_tensor(len(replayed)),
        "replayed_tokens_part": (tokens * replayed).sum(),
        "replayed_tokens_whole": tokens.sum(),
    }
