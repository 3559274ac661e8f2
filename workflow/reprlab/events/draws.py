"""Random numbers of a document, which depend neither on other documents nor on their order."""

import hashlib

import numpy as np


def draws_of(seed: int, document: str, *purpose: object) -> np.random.Generator:
    """The generator of a seed, the name of a document, and what is drawn for it."""
    digest = hashlib.sha256("\x00".join(map(str, (seed, document, *purpose))).encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "big")))
