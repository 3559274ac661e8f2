"""From documents and an encoder to rankings: one forward for each mention, then exact search in each document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.events.documents import EventDocument
from reprlab.events.draws import draws_of
from reprlab.events.mention_inputs import closed_mentions
from reprlab.events.pairs import Ranking
from reprlab.events.settings import EventSelection, Retrieval
from reprlab.models.pooling import Pooling
from reprlab.retrieval.bi_encoder import embed
from reprlab.retrieval.pair_training import PairSet
from reprlab.retrieval.search import rank_by_score, rank_partners
from reprlab.runtime.errors import ReprlabError
from reprlab.text.encoding import padding_id


def mention_vectors(
    documents: Sequence[EventDocument], settings: Retrieval, encoder: Any, tokenizer: Any, batch_size: int
) -> list[np.ndarray]:
    """[n, d] vectors of the mentions of each document: one forward pass for each mention."""
    ids = closed_mentions(tokenizer, documents, settings.events, settings.max_length)
    pooling: Pooling = "first" if settings.pooling == "first" else "mean"
    vectors = embed(encoder, ids, padding_id(tokenizer), pooling, batch_size=batch_size, dtype=settings.dtype)
    return np.split(vectors, np.cumsum([len(document) for document in documents])[:-1])


def rank_mentions(documents: Sequence[EventDocument], vectors: Sequence[np.ndarray]) -> dict[str, Ranking]:
    """The ranking of each document by dot product; of equal scores the earlier mention comes first."""
    return {document.name: Ranking(*rank_partners(found)) for document, found in zip(documents, vectors, strict=True)}


def rank_at_random(documents: Sequence[EventDocument], seed: int) -> dict[str, Ranking]:
    """A ranking of each document in which every order of the other mentions is as likely, for each mention apart.

    It depends on the seed and the name of the document, and not on the documents that are before it.
    """
    found = {}
    for document in documents:
        scores = draws_of(seed, document.name).random((len(document), len(document)))
        np.fill_diagonal(scores, -np.inf)
        found[document.name] = Ranking(rank_by_score(scores, max(len(document) - 1, 0)), scores)
    return found


def rank_by_distance(documents: Sequence[EventDocument]) -> dict[str, Ranking]:
    """A ranking of each document by how few mentions lie between; of two at one distance the earlier comes first."""
    found = {}
    for document in documents:
        places = np.arange(len(document))
        scores = -np.abs(places[:, None] - places).astype(float)
        np.fill_diagonal(scores, -np.inf)
        found[document.name] = Ranking(rank_by_score(scores, max(len(document) - 1, 0)), scores)
    return found


def rank_by_chain(documents: Sequence[EventDocument], seed: int) -> dict[str, Ranking]:
    """A ranking of each document by the size of the others' coreference chains, no text read; ties as by chance.

    Where chains are annotated of mentions in a relation alone, it is what the annotation gives away.
    """
    found = {}
    for document in documents:
        chains = np.asarray(document.chains)
        sizes = np.where(chains >= 0, (chains[:, None] == chains).sum(1), 0)
        # Draws are below 1: they decide between equal sizes.
        scores = sizes + draws_of(seed, document.name).random((len(document), len(document)))
        np.fill_diagonal(scores, -np.inf)
        found[document.name] = Ranking(rank_by_score(scores, max(len(document) - 1, 0)), scores)
    return found


def pair_sets(documents: Sequence[EventDocument]) -> list[PairSet]:
    """The mentions of each document as a set, by their rows among all mentions."""
    starts = np.cumsum([0, *(len(document) for document in documents)])
    return [
        PairSet(np.arange(start, start + len(document)), document.related)
        for document, start in zip(documents, starts, strict=False)
    ]


def selected(documents: Sequence[EventDocument], events: EventSelection) -> dict[str, list[EventDocument]]:
    """Documents of each split: folded where asked for, at most `limit` of each."""
    from reprlab.events.documents import split_events

    return {split: found[: events.limit] for split, found in split_events(documents, events.folds, events.fold).items()}


def of_seed(folder: Path, seed: int, suffix: str = "") -> Path:
    """The file or folder of this seed in `folder`; the only one, where there is one for all seeds.

    Raises:
        ReprlabError: there is neither.
    """
    wanted = folder / f"seed-{seed}{suffix}"
    found = [path for path in folder.iterdir() if path.name.startswith("seed-")] if folder.is_dir() else []
    if wanted in found or len(found) == 1:
        return wanted if wanted in found else found[0]
    raise ReprlabError(f"{folder}: nothing of seed {seed} is there; it has {len(found)} seeds")
