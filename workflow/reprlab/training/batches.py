"""Batches of a step: which examples it sees, and what an objective makes of them, both functions of (seed, step)."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from reprlab.runtime.errors import ReprlabError
from reprlab.text.token_store import RowLengths, TokenStore
from reprlab.training.objective import load_objective
from reprlab.training.permutations import Permutation
from reprlab.training.randomness import Purpose, generator
from reprlab.training.replay import Replay

if TYPE_CHECKING:
    import torch

    from reprlab.training.settings import PretrainSettings

# Lengths are sorted within this many batches: enough that a batch holds nearly equal lengths, few enough that the
# batches of an epoch stay random.
_POOL = 64
# Examples whose order is drawn at once: 32 MB, and a second or two of sorting, per epoch.
_IN_MEMORY = 1 << 22


class Lengths(Protocol):
    """Tokens of examples, looked up by number; an array is one."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: np.ndarray) -> np.ndarray: ...


class BatchOrder:
    """A permutation per epoch, cut into batches of similar length whose order is random.

    The examples that do not fill a batch are left out of that epoch; another permutation leaves out others.
    """

    def __init__(self, lengths: Lengths, batch_size: int, seed: int, *, in_memory: int = _IN_MEMORY) -> None:
        """
        Args:
            lengths: tokens of each example.
            batch_size: examples in a batch.
            seed: seed of all epochs.
            in_memory: the order of more examples than this is not kept in memory but computed for each step.

        Raises:
            ReprlabError: there are fewer examples than a batch holds.
        """
        self._lengths, self._batch_size, self._seed = lengths, batch_size, seed
        self._batches = len(lengths) // batch_size
        if self._batches == 0:
            raise ReprlabError(
                f"training: {len(lengths)} training examples do not fill one batch of {batch_size}; "
                "lower batch_size or take a larger corpus"
            )
        self._large = len(lengths) > in_memory
        self._epoch = -1
        self._order = np.empty((0, 0), dtype=np.int64)

    def indices(self, step: int) -> np.ndarray:
        """[batch_size] int64: the examples of a step (from 0)."""
        epoch, batch = divmod(step, self._batches)
        if self._large:
            return self._computed(epoch, batch)
        if epoch != self._epoch:
            self._epoch, self._order = epoch, self._permute(epoch)
        return self._order[batch]

    def _permute(self, epoch: int) -> np.ndarray:
        random = generator(self._seed, Purpose.ORDER, epoch)
        order = random.permutation(len(self._lengths))[: self._batches * self._batch_size]
        pool = np.arange(len(order)) // (_POOL * self._batch_size)
        order = order[np.lexsort((self._lengths[order], pool))]
        return order.reshape(self._batches, self._batch_size)[random.permutation(self._batches)]

    def _computed(self, epoch: int, batch: int) -> np.ndarray:
        """The same kind of order, of which only the pool of one batch is worked out."""
        random = generator(self._seed, Purpose.ORDER, epoch)
        examples, batches = Permutation(len(self._lengths), random), Permutation(self._batches, random)
        pool, place = divmod(int(batches(np.array([batch]))[0]), _POOL)
        end = min((pool + 1) * _POOL, self._batches)
        order = examples(np.arange(pool * _POOL * self._batch_size, end * self._batch_size))
        order = order[np.argsort(self._lengths[order], kind="stable")]
        return order.reshape(-1, self._batch_size)[place]


class PretrainingBatches:
    """`batch_of` of the training loop: the collated batch of a step, cut into equal parts for parts and ranks.

    The whole batch is collated once per process and cut afterwards, so that corruption does not depend on the cut.
    """

    def __init__(
        self,
        store: TokenStore,
        objective: Any,
        settings: PretrainSettings,
        *,
        replay: Replay | None = None,
        ahead: bool = False,
    ) -> None:
        """
        Args:
            store: training examples.
            objective: its `collate` makes the batch.
            settings: lengths and engine.
            replay: examples of other text that take the place of some.
            ahead: collate the next batch in a thread while a GPU works on this one.

        Raises:
            ReprlabError: the settings ask for replay, and the stage gives none.
        """
        if settings.replay is not None and replay is None:
            raise ReprlabError("replay: this stage reads one text; leave it null")
        self._store, self._objective, self._settings, self._replay = store, objective, settings, replay
        engine = settings.engine
        self._order = BatchOrder(RowLengths(store, settings.input_length), engine.batch_size, engine.seed)
        self._step = -1
        self._batch: dict[str, torch.Tensor] = {}
        self._worker = ThreadPoolExecutor(max_workers=1) if ahead else None
        self._coming: dict[int, Future[dict[str, torch.Tensor]]] = {}

    def __call__(self, step: int, part: int, rank: int, world: int) -> dict[str, torch.Tensor]:
        """The rows of (part, rank); `tokens` is [rows], the text tokens of each example.

        Raises:
            ReprlabError: the batch cannot be cut into equal parts.
        """
        engine = self._settings.engine
        if engine.batch_size % (engine.accumulation * world):
            raise ReprlabError(
                f"engine.batch_size ({engine.batch_size}) must be a multiple of accumulation ({engine.accumulation}) "
                f"times the number of processes ({world})"
            )
        if step != self._step:
            self._step, self._batch = step, self._take(step)
        rows = engine.batch_size // (engine.accumulation * world)
        first = (rank * engine.accumulation + part) * rows
        return {name: value[first : first + rows] for name, value in self._batch.items()}

    def _take(self, step: int) -> dict[str, torch.Tensor]:
        if self._worker is None:
            return self._collate(step)
        coming = self._coming.pop(step, None) or self._worker.submit(self._collate, step)
        self._coming = {step + 1: self._worker.submit(self._collate, step + 1)}
        return coming.result()

    def _collate(self, step: int) -> dict[str, torch.Tensor]:
        random = generator(self._settings.engine.seed, Purpose.CORRUPTION, step)
        indices = self._order.indices(step)

        def of(places: np.ndarray | slice) -> dict[str, torch.Tensor]:
            return collate(self._store, indices[places], self._objective, self._settings.input_length, random)

        return of(slice(None)) if self._replay is None else self._replay.batch(step, of)


def replay_of(settings: PretrainSettings, tokens: Path | None, tokenizer: Path) -> Replay | None:
    """What a run replays of the training split of `tokens`, cut and packed as its own; None where it asks for nothing.

    Raises:
        ReprlabError: replay is asked for without tokens, or tokens are given without it.
    """
    asked = settings.replay
    if (asked is None) != (tokens is None):
        raise ReprlabError("replay: the settings and the tokens of the other text go together; give both or neither")
    if asked is None or tokens is None:
        return None
    store = TokenStore.open(tokens, "train", packing=settings.packed_length)
    own = {"objective": asked.objective, "objective_settings": asked.objective_settings}
    objective = load_objective(settings.model_copy(update=own), tokenizer)

    def corrupted(rows: np.ndarray, random: np.random.Generator) -> dict[str, torch.Tensor]:
        return collate(store, rows, objective, settings.input_length, random)

    return Replay(asked.share, len(store), settings.engine, corrupted)


def collate(
    store: TokenStore,
    indices: np.ndarray,
    objective: Any,
    input_length: int,
    random: np.random.Generator,
    shuffled: bool | None = None,
) -> dict[str, torch.Tensor]:
    """Gather examples and corrupt them by the objective; adds `tokens`, [rows] tokens of text in each example."""
    import torch

    ids, types, lengths = store.batch(indices, input_length)
    # Padding that attention sees is part of the model's input; hidden padding is not, and is cut to the longest row.
    fixed = not objective.settings.mask_padding
    arrays = objective.collate(ids, types, lengths, random, shuffled=shuffled, fixed_length=fixed)
    return {name: torch.from_numpy(array) for name, array in {**arrays, "tokens": lengths}.items()}
