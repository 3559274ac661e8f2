"""Documents as segments of sub-tokens, in the JSON lines that coreference code has exchanged since BERT."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.data.text_files import text_rows
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import atomic_file

SPECIAL_SPEAKER = "[SPL]"
_KEYS = ("doc_key", "sentences", "speakers", "clusters", "sentence_map", "subtoken_map")


@dataclass(frozen=True)
class Document:
    """One document; T counts its sub-tokens, [CLS] and [SEP] of each segment included."""

    key: str
    segments: tuple[tuple[str, ...], ...]
    """Sub-tokens of each segment."""
    speakers: tuple[str, ...]
    """[T] speaker of each sub-token."""
    sentence: np.ndarray
    """[T] number of its sentence."""
    word: np.ndarray
    """[T] number of its word."""
    clusters: tuple[tuple[tuple[int, int], ...], ...]
    """Gold clusters: mentions as first and last sub-token."""

    def __len__(self) -> int:
        return len(self.sentence)

    @property
    def segment(self) -> np.ndarray:
        """[T] number of the segment of each sub-token."""
        return np.repeat(np.arange(len(self.segments)), [len(segment) for segment in self.segments])

    def speaker_ids(self) -> np.ndarray:
        """[T] 1 for the special tokens, then by first appearance from 2; 0 is for unknown ones (upstream's numbers)."""
        numbers = {SPECIAL_SPEAKER: 1}
        for speaker in self.speakers:
            numbers.setdefault(speaker, len(numbers) + 1)
        return np.array([numbers[speaker] for speaker in self.speakers])

    def mentions(self) -> tuple[np.ndarray, np.ndarray]:
        """[M, 2] first and last sub-token of the gold mentions, and [M] the number of their cluster from 1."""
        spans = [mention for cluster in self.clusters for mention in cluster]
        numbers = np.repeat(np.arange(len(self.clusters)) + 1, [len(cluster) for cluster in self.clusters])
        return np.array(spans, dtype=np.int64).reshape(-1, 2), numbers.astype(np.int64)


def write_documents(path: Path, documents: Iterable[Document]) -> None:
    """Write one document a line."""
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8") as handle:
        for document in documents:
            handle.write(json.dumps(_as_json(document), ensure_ascii=False) + "\n")


def read_documents(path: Path) -> list[Document]:
    """Documents of a file of JSON lines.

    Raises:
        ReprlabError: a line is not of the format; names the line.
    """
    found = []
    try:
        lines = [(number, line) for number, line in text_rows(path) if line]
    except (OSError, ReprlabError) as error:
        raise ReprlabError(f"{path}: cannot be read ({error}); make it again with build_coreference") from None
    for number, line in lines:
        try:
            found.append(_from_json(json.loads(line)))
        except (ValueError, KeyError, TypeError) as error:
            raise ReprlabError(
                f"{path}: line {number}: not a segmented document ({error}); it needs {', '.join(_KEYS)}"
            ) from None
    return found


def _as_json(document: Document) -> dict[str, Any]:
    ends = np.cumsum([len(segment) for segment in document.segments])
    speakers = [list(part) for part in np.split(np.array(document.speakers, dtype=object), ends[:-1])]
    values = (
        document.key,
        document.segments,
        speakers,
        document.clusters,
        document.sentence.tolist(),
        document.word.tolist(),
    )
    return dict(zip(_KEYS, values, strict=True))


def _from_json(row: dict[str, Any]) -> Document:
    key, segments, speakers, clusters, sentence, word = (row[name] for name in _KEYS)
    document = Document(
        key,
        tuple(map(tuple, segments)),
        tuple(speaker for segment in speakers for speaker in segment),
        np.array(sentence, dtype=np.int64),
        np.array(word, dtype=np.int64),
        tuple(tuple((int(first), int(last)) for first, last in cluster) for cluster in clusters),
    )
    lengths = {sum(map(len, document.segments)), len(document.speakers), len(document.sentence), len(document.word)}
    if len(lengths) != 1:
        raise ValueError(f"sentences, speakers, sentence_map and subtoken_map have {sorted(lengths)} entries")
    if any(not 0 <= first <= last < len(document) for one in document.clusters for first, last in one):
        raise ValueError("a mention lies outside the text")
    return document


def clusters_of(spans: Sequence[tuple[int, int]], antecedents: Sequence[int]) -> list[list[tuple[int, int]]]:
    """Clusters of spans from the place of each span's antecedent among them (-1: none); single spans are in none."""
    cluster_of: dict[tuple[int, int], int] = {}
    clusters: list[list[tuple[int, int]]] = []
    for span, place in zip(spans, antecedents, strict=True):
        if place < 0:
            continue
        first = spans[place]
        if first not in cluster_of:
            cluster_of[first] = len(clusters)
            clusters.append([first])
        if span not in cluster_of:
            cluster_of[span] = cluster_of[first]
            clusters[cluster_of[span]].append(span)
    return [cluster for cluster in clusters if len(cluster) > 1]
