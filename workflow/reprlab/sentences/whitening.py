"""Whitening of texts' vectors: no mean, and covariance one (WhiteningBERT, Huang et al. 2021; Su et al. 2021)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.evaluation import Encode, Row
from reprlab.sentences.settings import Whitening
from reprlab.sentences.triples import open_triples

# Of the largest variance; below it a direction is rounding.
_LEAST = 1e-10


@dataclass(frozen=True)
class Whitened:
    """x -> (x - m) W."""

    mean: np.ndarray
    """m [d] float64."""
    matrix: np.ndarray
    """W [d, k] float64; the columns are ordered by the variance that they had."""

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        """[n, k] float32 of vectors [n, d]."""
        return ((vectors - self.mean) @ self.matrix).astype(np.float32)

    @property
    def size(self) -> int:
        """Numbers that it consists of."""
        return self.mean.size + self.matrix.size


def fit_whitening(vectors: np.ndarray, dimensions: int | None) -> Whitened:
    """The map after which the covariance of vectors [n, d], divided by n, is the identity on the k kept directions.

    No more texts than dimensions have a covariance without inverse: it is shrunk to a multiple of the identity then, as
    Ledoit and Wolf (2004) do, and that of the whitened vectors is no identity. What still has no variance becomes 0.

    Args:
        dimensions: k; None, or more than d: all.
    """
    given = np.asarray(vectors, dtype=np.float64)
    mean = given.mean(axis=0)
    centred = given - mean
    covariance = centred.T @ centred / len(given)
    if len(given) <= len(mean) and covariance.any():
        from sklearn.covariance import ledoit_wolf

        covariance, _ = ledoit_wolf(centred, assume_centered=True)
    directions, variances, _ = np.linalg.svd(covariance)
    varies = variances > _LEAST * variances[0]
    scales = np.where(varies, 1 / np.sqrt(np.where(varies, variances, 1)), 0)
    return Whitened(mean, (directions * scales)[:, :dimensions])


def fit_on_triples(
    settings: Whitening | None, folder: Path | None, embed: Callable[[Any], np.ndarray]
) -> Whitened | None:
    """The map that is fitted on texts drawn from tokenised triples; None where the settings want none, or that of a
    task.

    Args:
        embed: vectors [n, d] of encoded texts.

    Raises:
        ReprlabError: there are no triples to fit it on.
    """
    if settings is None or settings.fit_on == "test":
        return None
    if folder is None:
        raise ReprlabError("whitening.fit_on: train needs the tokenised triples (--fitting), or name test")
    texts = open_triples(folder).texts
    rng = np.random.Generator(np.random.Philox(key=settings.seed))
    rows = np.sort(rng.choice(len(texts), min(settings.texts, len(texts)), replace=False))
    return fit_whitening(embed(texts.chosen(rows)), settings.dimensions)


def scored_on_itself(score: Callable[[Encode], Row], encode: Encode, dimensions: int | None) -> Row:
    """The score of a task whose texts, each once with its instruction, are whitened by the map fitted on them.

    It is transductive: the map has seen what is scored, though no label of it.

    Args:
        score: the score by a function that encodes; asked twice, for its texts and then for the score.
    """
    known: dict[tuple[str, str], np.ndarray] = {}

    def kept(texts: Sequence[str], instruction: str) -> np.ndarray:
        new = [text for text in dict.fromkeys(texts) if (instruction, text) not in known]
        if new:
            known.update(zip([(instruction, text) for text in new], encode(new, instruction), strict=True))
        return np.stack([known[instruction, text] for text in texts])

    score(kept)
    white = fit_whitening(np.stack([*known.values()]), dimensions)
    return score(lambda texts, instruction: white(kept(texts, instruction)))
