"""Whole documents as sub-tokens for an encoder: windows of sentences, and where each trigger lies in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.events.documents import EventDocument
from reprlab.runtime.errors import ReprlabError, first_line
from reprlab.text.encoding import encode, padding_id, surrounding_ids


@dataclass(frozen=True)
class EncodedDocument:
    """Windows of ids, and for each sub-token of a trigger its window, its place in it and its mention ([s] each)."""

    windows: tuple[tuple[int, ...], ...]
    window_of: np.ndarray
    place_of: np.ndarray
    mention_of: np.ndarray


def open_word_tokenizer(folder: Path) -> Any:
    """A fast tokenizer that can be given words (byte-level ones must put a space before each).

    Raises:
        ReprlabError: the folder holds none.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(
            folder, local_files_only=True, add_prefix_space=True, trust_remote_code=False
        )
    except (OSError, ValueError) as error:
        raise ReprlabError(f"{folder}: no tokenizer can be opened there ({first_line(error)})") from None
    if not tokenizer.is_fast:
        raise ReprlabError(f"{folder}: has no fast tokenizer; save one with tokenizer.json")
    return tokenizer


def encode_documents(tokenizer: Any, documents: Sequence[EventDocument], max_length: int) -> list[EncodedDocument]:
    """Every document in windows of at most `max_length` ids, special tokens included.

    Windows are runs of whole sentences. A sentence that is too long by itself is cut between words, not inside a
    trigger unless the trigger is longer than a window.
    """
    before, behind = surrounding_ids(tokenizer)
    room = max_length - len(before) - len(behind)
    return [
        _encoded(document, pieces, before, behind, room)
        for document, pieces in zip(documents, word_pieces(tokenizer, documents), strict=True)
    ]


def word_pieces(tokenizer: Any, documents: Sequence[EventDocument]) -> list[list[list[int]]]:
    """Ids of each word of each document, by a tokenizer that can be given words."""
    if not documents:
        return []
    encoded = encode(tokenizer, [list(document.tokens) for document in documents], is_split_into_words=True)
    return [
        _pieces(encoded["input_ids"][number], encoded.word_ids(number), len(document.tokens), tokenizer)
        for number, document in enumerate(documents)
    ]


def _pieces(ids: list[int], words: list[int], count: int, tokenizer: Any) -> list[list[int]]:
    """Ids of each word; a word that the tokenizer drops is the unknown token, or padding where there is none."""
    pieces: list[list[int]] = [[] for _ in range(count)]
    for index, word in zip(ids, words, strict=True):
        pieces[word].append(index)
    unknown = padding_id(tokenizer) if tokenizer.unk_token_id is None else tokenizer.unk_token_id
    return [word or [unknown] for word in pieces]


def _encoded(
    document: EventDocument, pieces: list[list[int]], before: list[int], behind: list[int], room: int
) -> EncodedDocument:
    windows: list[tuple[int, ...]] = []
    start_of: dict[int, tuple[int, int]] = {}
    for first, end in _runs(document, np.array([len(word) for word in pieces]), room):
        window = list(before)
        for word in range(first, end):
            start_of[word] = (len(windows), len(window))
            window += pieces[word][: room + len(before) - len(window)]
        windows.append((*window, *behind))
    spans = [
        (window, place + shift, mention)
        for mention, trigger in enumerate(document.triggers)
        for word in trigger
        for window, place in [start_of[word]]
        for shift in range(len(pieces[word]))
        if place + shift < len(windows[window]) - len(behind)
    ]
    table = np.array(spans, dtype=np.int64).reshape(-1, 3)
    return EncodedDocument(tuple(windows), table[:, 0], table[:, 1], table[:, 2])


def _runs(document: EventDocument, lengths: np.ndarray, room: int) -> list[tuple[int, int]]:
    """Runs of words that fit into a window: whole sentences where they fit."""
    inside = {
        word for trigger in document.triggers for word in trigger if word - 1 in trigger
    }  # words before which no cut is made
    runs: list[tuple[int, int]] = []
    for first, end in document.sentences:
        if runs and lengths[runs[-1][0] : end].sum() <= room:
            runs[-1] = (runs[-1][0], end)
            continue
        while lengths[first:end].sum() > room:
            cut = first + max(1, int(np.searchsorted(np.cumsum(lengths[first:end]), room, side="right")))
            back = cut
            while back in inside and back > first + 1:
                back -= 1
            runs.append((first, cut if back in inside else back))
            first = runs[-1][1]
        if first < end:
            runs.append((first, end))
    return runs
