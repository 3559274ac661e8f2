"""A permutation of any size that is computed place by place: nothing of the size of the data is kept."""

from __future__ import annotations

import numpy as np

_ROUNDS = 6


class Permutation:
    """A keyed bijection of 0 … size - 1.

    A Feistel network permutes the numbers of the smallest even count of bits that holds `size`; a value beyond `size`
    is sent through again until it falls inside (cycle walking; Black and Rogaway 2002), at most four times on average.
    """

    def __init__(self, size: int, random: np.random.Generator) -> None:
        """
        Args:
            size: how many numbers, from 1 to 2^62.
            random: draws the keys.
        """
        self._size = size
        self._half = np.uint64(max(1, ((size - 1).bit_length() + 1) // 2))
        self._mask = np.uint64((1 << int(self._half)) - 1)
        self._keys = random.integers(0, 2**64, _ROUNDS, dtype=np.uint64)

    def __call__(self, places: np.ndarray) -> np.ndarray:
        """[n] int64: the numbers at `places`, each place from 0 to size - 1."""
        found = self._through(places.astype(np.uint64))
        while (outside := found >= self._size).any():
            found[outside] = self._through(found[outside])
        return found.astype(np.int64)

    def _through(self, values: np.ndarray) -> np.ndarray:
        left, right = values >> self._half, values & self._mask
        for key in self._keys:
            left, right = right, left ^ (_mixed(right + key) & self._mask)
        return (left << self._half) | right


def _mixed(values: np.ndarray) -> np.ndarray:
    """The finaliser of splitmix64: every bit of the result depends on every bit of the value."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
