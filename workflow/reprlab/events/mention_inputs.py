"""Texts of mentions as token ids in which the trigger is never cut off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reprlab.events.documents import EventDocument
from reprlab.events.encodings import CLOSE, OPEN, mention_texts
from reprlab.events.settings import EventSelection
from reprlab.training.finetuning_encoding import Ragged


def mention_pieces(
    tokenizer: Any, documents: Sequence[EventDocument], events: EventSelection, room: int
) -> list[list[list[int]]]:
    """Ids of each mention of each document, without special tokens; long ones are cut to `room` around the trigger."""
    texts = [mention_texts(document, events.encoding, chains=events.chains) for document in documents]
    flat = [text for group in texts for text in group]
    if not flat:
        return [[] for _ in documents]
    encoded = tokenizer(flat, add_special_tokens=False)
    pieces = []
    for number, (text, ids) in enumerate(zip(flat, encoded["input_ids"], strict=True)):
        if len(ids) > room:
            first = encoded.char_to_token(number, text.index(OPEN))
            last = encoded.char_to_token(number, text.rindex(CLOSE) + len(CLOSE) - 1)
            # The trigger in the middle; where it is longer than the room, its beginning.
            start = max(0, min(first, (first + last + 1 - room) // 2, len(ids) - room))
            ids = ids[start : start + room]
        pieces.append(ids)
    found, start = [], 0
    for group in texts:
        found.append(pieces[start : start + len(group)])
        start += len(group)
    return found


def closed_mentions(
    tokenizer: Any, documents: Sequence[EventDocument], events: EventSelection, max_length: int
) -> Ragged:
    """Ids of all mentions of all documents in one row, each with the tokenizer's own special tokens around it."""
    around = tokenizer("")["input_ids"]
    pieces = mention_pieces(tokenizer, documents, events, max_length - len(around))
    return Ragged.of([*around[:-1], *ids, *around[-1:]] for group in pieces for ids in group)
