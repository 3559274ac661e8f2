"""Rows of documents with coreference chains: what their readers share, and reading them back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reprlab.coreference.scores import partition
from reprlab.data.schema import read_rows
from reprlab.runtime.errors import ReprlabError

Mention = tuple[int, int]


@dataclass(frozen=True)
class AnnotatedText:
    """One document in words; a mention is its first and last word."""

    key: str
    split: str
    sentences: list[list[str]]
    speakers: list[str]
    clusters: list[list[Mention]]

    @property
    def words(self) -> list[str]:
        """All words in order."""
        return [word for sentence in self.sentences for word in sentence]


def chain_row(
    key: str,
    group: str,
    sentences: Sequence[Sequence[str]],
    speakers: Sequence[str],
    clusters: Iterable[Iterable[Mention]],
    where: str,
) -> dict[str, Any]:
    """The row of one document, of the kind `coreference`; chains that share a mention are one chain.

    Args:
        speakers: the speaker of each word.

    Raises:
        ReprlabError: a mention lies outside the text, or there is no word.
    """
    words = [word for sentence in sentences for word in sentence]
    starts = [sum(map(len, sentences[:number])) for number in range(len(sentences))]
    if not words:
        raise ReprlabError(f"{where}: the document {key} has no word")
    # The order of a set of mentions is not that of another run; chains are listed by their first mention.
    found: Any = partition(clusters)
    chains = sorted(sorted(chain) for chain in found)
    mentions = [(*mention, number) for number, chain in enumerate(chains) for mention in chain]
    for first, last, _ in mentions:
        if not 0 <= first <= last < len(words):
            raise ReprlabError(f"{where}: the mention {first} to {last} lies outside the document {key}")
    columns = [list(column) for column in zip(*mentions, strict=True)] or [[], [], []]
    return {
        "id": key,
        "group": group,
        "tokens": words,
        "sentence_starts": starts,
        "speakers": list(speakers),
        **dict(zip(("mention_starts", "mention_ends", "chains"), columns, strict=True)),
    }


def read_texts(path: Path) -> list[AnnotatedText]:
    """The documents of a table of examples of the kind `coreference`.

    Raises:
        ReprlabError: the table is of another kind.
    """
    table, _ = read_rows(path, "coreference")
    return [_text(row) for row in table.to_pylist()]


def _text(row: dict[str, Any]) -> AnnotatedText:
    ends = [*row["sentence_starts"][1:], len(row["tokens"])]
    sentences = [row["tokens"][start:end] for start, end in zip(row["sentence_starts"], ends, strict=True)]
    clusters: list[list[Mention]] = [[] for _ in range(max(row["chains"], default=-1) + 1)]
    for first, last, chain in zip(row["mention_starts"], row["mention_ends"], row["chains"], strict=True):
        clusters[chain].append((first, last))
    return AnnotatedText(row["id"], row["split"], sentences, row["speakers"], clusters)
