"""Random numbers as functions of what they are for, so that any step can be made again without its past."""

import enum

import numpy as np


class Purpose(enum.IntEnum):
    """Streams that never overlap."""

    ORDER = 1
    CORRUPTION = 2
    EVALUATION_CHOICE = 3
    EVALUATION_CORRUPTION = 4
    REPLAY_PLACES = 5
    REPLAY_ORDER = 6
    REPLAY_CORRUPTION = 7


def generator(seed: int, purpose: Purpose, number: int) -> np.random.Generator:
    """The generator of one (seed, purpose, number): a step, an epoch or a batch."""
    # The purpose is the highest word of the counter: 2^192 draws lie between two purposes.
    return np.random.Generator(np.random.Philox(key=[seed, number], counter=[0, 0, 0, purpose]))
