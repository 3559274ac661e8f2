"""Texts of mentions as token ids in which the trigger is never cut off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reprlab.events.documents import EventDocument
from reprlab.events.encodings import CLOSE, OPEN, mention_parts
from reprlab.events.settings import EventSelection
from reprlab.text.encoding import encode, part_ids, surrounding_ids
from reprlab.training.finetuning_encoding import Ragged


def mention_pieces(
    tokenizer: Any, documents: Sequence[EventDocument], events: EventSelection, room: int
) -> list[list[list[int]]]:
    """Ids of each mention of each document, without special tokens; long ones are cut to `room` around the trigger."""
    texts = [mention_parts(document, events.encoding, chains=events.chains) for document in documents]
    flat = [text for group in texts for text in group]
    pieces = iter(
        [
            _cut(tokenizer, text, ids, room) if len(ids) > room else ids
            for text, ids in zip(flat, part_ids(tokenizer, flat), strict=True)
        ]
    )
    return [[next(pieces) for _ in group] for group in texts]


def _cut(tokenizer: Any, text: Sequence[str], ids: list[int], room: int) -> list[int]:
    """`room` ids with the trigger in the middle; where it is longer than the room, its beginning."""
    first, last = _trigger(tokenizer, text, ids)
    start = max(0, min(first, (first + last + 1 - room) // 2, len(ids) - room))
    return ids[start : start + room]


def _trigger(tokenizer: Any, text: Sequence[str], ids: list[int]) -> tuple[int, int]:
    """Places of the first opening and of the last closing marker among the ids."""
    known = tokenizer.get_added_vocab()
    if OPEN in known and CLOSE in known:
        return ids.index(known[OPEN]), len(ids) - 1 - ids[::-1].index(known[CLOSE])
    # An encoder that was not tuned reads markers as text.
    opens, closes = ([place for place, part in enumerate(text) if part is marker] for marker in (OPEN, CLOSE))
    encoded = encode(tokenizer, ["".join(text)])
    first, end = (len("".join(text[:place])) for place in (opens[0], closes[-1] + 1))
    return encoded.char_to_token(0, first), encoded.char_to_token(0, end - 1)


def closed_mentions(
    tokenizer: Any, documents: Sequence[EventDocument], events: EventSelection, max_length: int
) -> Ragged:
    """Ids of all mentions of all documents in one row, each with the tokenizer's own special tokens around it."""
    before, behind = surrounding_ids(tokenizer)
    pieces = mention_pieces(tokenizer, documents, events, max_length - len(before) - len(behind))
    return Ragged.of([*before, *ids, *behind] for group in pieces for ids in group)
