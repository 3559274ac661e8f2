"""Batches of one data set each, in an order drawn once (Springer et al. 2024, as L3Prune trains)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from reprlab.runtime.errors import ReprlabError


@dataclass(frozen=True)
class PlannedBatches:
    """`dataset` [batches] names the data set of each batch, `rows` [batches, size] its rows of that set."""

    dataset: tuple[str, ...]
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.dataset)


def plan_batches(sizes: Mapping[str, int], batch_size: int, seed: int) -> PlannedBatches:
    """Every data set in an order of its own, cut into full batches (the rest is dropped), and the batches mixed.

    Args:
        sizes: rows of each data set. An order depends on the seed, the name and the size, not on the other sets.

    Raises:
        ReprlabError: no data set fills a batch.
    """
    names, parts = [], []
    for name, size in sizes.items():
        order = _generator(seed, name).permutation(size)
        whole = size // batch_size
        names += [name] * whole
        parts.append(order[: whole * batch_size].reshape(whole, batch_size))
    if not names:
        largest = max(sizes.values(), default=0)
        raise ReprlabError(f"no data set fills a batch of {batch_size} (the largest has {largest} rows)")
    rows, order = np.concatenate(parts), _generator(seed, "").permutation(len(names))
    return PlannedBatches(tuple(names[place] for place in order), rows[order])


def mixed_batches(size: int, batch_size: int, batches: int, seed: int) -> np.ndarray:
    """[batches, batch_size] rows drawn over all data together, none twice.

    Raises:
        ReprlabError: there are too few rows.
    """
    if batches < 1:
        raise ReprlabError(f"batch_size: the data do not fill a batch of {batch_size}; there are {size} rows")
    if batches * batch_size > size:
        raise ReprlabError(f"{batches} batches of {batch_size} need {batches * batch_size} rows; there are {size}")
    return _generator(seed, "").permutation(size)[: batches * batch_size].reshape(batches, batch_size)


def _generator(seed: int, name: str) -> np.random.Generator:
    import hashlib

    word = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    return np.random.Generator(np.random.Philox(key=[seed, word]))
