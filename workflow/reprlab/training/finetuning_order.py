"""Order of fine-tuning examples: those of an update are a pure function of (seed, step)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

# Batches whose examples are sorted by length together: enough to save most padding, few enough to keep batches mixed.
_GROUPED_BATCHES = 16


class TrainingOrder:
    """Shuffled passes over the examples, one after another.

    A batch may span two passes, so every batch is full and every example comes equally often. With `lengths` [n], each
    pass puts examples of similar length into one batch and shuffles the batches.
    """

    def __init__(self, examples: int, batch_size: int, seed: int, lengths: np.ndarray | None = None) -> None:
        self.examples, self.batch_size, self.seed, self.lengths = examples, batch_size, seed, lengths
        self._passes: dict[int, np.ndarray] = {}

    def rows(self, step: int) -> np.ndarray:
        """Examples [batch_size] of update `step` (from 0)."""
        import numpy as np

        places = np.arange(step * self.batch_size, (step + 1) * self.batch_size)
        turns = places // self.examples
        rows = np.empty(self.batch_size, dtype=np.int64)
        for turn in np.unique(turns).tolist():
            inside = turns == turn
            rows[inside] = self._order(turn)[places[inside] % self.examples]
        return rows

    def _order(self, turn: int) -> np.ndarray:
        import numpy as np

        if turn not in self._passes:
            rng = np.random.Generator(np.random.Philox(key=[self.seed, turn]))
            order = rng.permutation(self.examples)
            self._passes = {turn: order if self.lengths is None else self._grouped(order, rng)}
        return self._passes[turn]

    def _grouped(self, order: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        import numpy as np

        assert self.lengths is not None
        group = np.arange(self.examples) // (self.batch_size * _GROUPED_BATCHES)
        order = order[np.lexsort((self.lengths[order], group))]
        whole = self.examples // self.batch_size
        batches = order[: whole * self.batch_size].reshape(whole, self.batch_size)
        return np.concatenate([batches[rng.permutation(whole)].ravel(), order[whole * self.batch_size :]])
