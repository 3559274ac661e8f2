"""Candidate pairs of events: the ranking file, and which pairs a classifier is trained and used on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from reprlab.artifacts.tables import read_parquet, write_parquet
from reprlab.events.documents import EventDocument
from reprlab.events.settings import PairClassification, PairTask
from reprlab.retrieval.search import kept_pairs
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import torch

_TYPES = {"document": "string", "head": "int32", "tail": "int32", "rank": "int32", "score": "float32"}


@dataclass(frozen=True)
class Ranking:
    """The other mentions of a document for each mention, best first [n, n-1], and all scores [n, n]."""

    ranked: np.ndarray
    scores: np.ndarray


@dataclass(frozen=True)
class LabelledPairs:
    """Pairs of mentions of one document [P, 2] with their label numbers [P]; 0 is not a relation."""

    pairs: np.ndarray
    labels: np.ndarray


def write_candidates(path: Path, rankings: dict[str, Ranking]) -> None:
    """One row for each ordered pair of mentions of a document, by document, head and rank (from 0)."""
    import pyarrow

    columns: dict[str, list[np.ndarray]] = {name: [] for name in _TYPES if name != "document"}
    documents: list[str] = []
    for name, ranking in rankings.items():
        size, width = ranking.ranked.shape
        heads = np.repeat(np.arange(size), width)
        tails = ranking.ranked.ravel()
        documents += [name] * len(heads)
        for column, values in zip(
            columns, (heads, tails, np.tile(np.arange(width), size), ranking.scores[heads, tails]), strict=True
        ):
            columns[column].append(values)
    arrays = {"document": documents, **{name: np.concatenate([[], *parts]) for name, parts in columns.items()}}
    table = {name: pyarrow.array(arrays[name]).cast(kind) for name, kind in _TYPES.items()}
    write_parquet(path, pyarrow.table(table))


def read_candidates(path: Path, documents: Sequence[EventDocument]) -> dict[str, Ranking]:
    """The rankings of these documents.

    Raises:
        ReprlabError: the file is not such a table, or does not rank a document's mentions.
    """
    table = read_parquet(path, list(_TYPES))
    columns = {name: table[name].to_numpy() for name in _TYPES}
    names, starts, counts = np.unique(columns["document"].astype(str), return_index=True, return_counts=True)
    rows = {name: slice(start, start + count) for name, start, count in zip(names, starts, counts, strict=True)}
    found = {}
    for document in documents:
        size, part = len(document), rows.get(document.name, slice(0, 0))
        if part.stop - part.start != size * max(size - 1, 0):
            raise ReprlabError(f"{path}: does not rank the {size} mentions of {document.name}; delete it and run again")
        scores = np.full((size, size), -np.inf, dtype=np.float32)
        scores[columns["head"][part], columns["tail"][part]] = columns["score"][part]
        found[document.name] = Ranking(columns["tail"][part].reshape(size, max(size - 1, 0)), scores)
    return found


def pair_weights(labels: torch.Tensor, relation: float) -> torch.Tensor:
    """[pairs] weights of label numbers in the loss: 1 for no relation, `relation` for every relation."""
    return 1.0 + (relation - 1.0) * (labels > 0).float()


def label_numbers(settings: PairTask) -> dict[str, int]:
    """Number of each relation, from 1."""
    return {label: number for number, label in enumerate(settings.labels, start=1)}


def known_pairs(document: EventDocument, settings: PairTask) -> LabelledPairs:
    """Every pair of the document but those with a relation outside the label set."""
    directed = settings.events.directed
    pairs = document.pairs(directed)
    labels = document.labels(pairs, label_numbers(settings), directed)
    return LabelledPairs(pairs[labels >= 0], labels[labels >= 0])


def training_pairs(
    document: EventDocument, ranking: Ranking, settings: PairClassification, rng: np.random.Generator
) -> LabelledPairs:
    """All positives, retrieved or not, and negatives (section 3.2).

    Negatives are the retrieved ones (hard), as many drawn from all of them, or all.
    """
    known = known_pairs(document, settings)
    negative = known.labels == 0
    hard = negative & _kept(ranking, settings.k, known.pairs)
    if settings.negatives == "all":
        hard = negative
    elif settings.negatives == "random":
        drawn = rng.permutation(np.flatnonzero(negative))[: int(hard.sum())]
        hard = np.isin(np.arange(len(negative)), drawn)
    chosen = ~negative | hard
    return LabelledPairs(known.pairs[chosen], known.labels[chosen])


def inference_pairs(document: EventDocument, ranking: Ranking, settings: PairTask) -> LabelledPairs:
    """The pairs that are classified: retrieved by either end, or all. Gold positives are never added here."""
    known = known_pairs(document, settings)
    if settings.inference == "all":
        return known
    kept = _kept(ranking, settings.k, known.pairs)
    return LabelledPairs(known.pairs[kept], known.labels[kept])


def _kept(ranking: Ranking, k: int, pairs: np.ndarray) -> np.ndarray:
    return kept_pairs(ranking.ranked, k)[pairs[:, 0], pairs[:, 1]]
