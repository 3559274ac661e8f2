"""Encodings of an event mention, as a model reads it (Li et al. 2025, section 3.1 and equations 1 and 2)."""

from __future__ import annotations

from reprlab.data.event_rows import NO_CHAIN
from reprlab.events.documents import EventDocument
from reprlab.events.settings import Encoding
from reprlab.text.encoding import Control

OPEN, CLOSE, SEPARATOR, COREFERENCE = map(Control, ("<m>", "</m>", "<sep>", "<coref>"))
MARKERS = (OPEN, CLOSE, SEPARATOR, COREFERENCE)
PAIR_FRAME: tuple[tuple[str, ...], ...] = (("Classify: Mention 1: ",), (" ", SEPARATOR, " Mention 2: "))
"""The parts before each of the two mentions of `pair_text`."""


def mention_texts(document: EventDocument, encoding: Encoding, *, chains: bool = False) -> list[str]:
    """One text for each mention; see `mention_parts`."""
    return ["".join(parts) for parts in mention_parts(document, encoding, chains=chains)]


def mention_parts(document: EventDocument, encoding: Encoding, *, chains: bool = False) -> list[list[str]]:
    """One text for each mention, in parts: markers are `Control`, so that none comes out of a document's own words.

    `wrapped`: its sentence with the trigger between markers, one pair of markers around each run of adjacent tokens.
    `trigger`: the trigger alone between markers. `chains` appends the triggers of the other mentions of its chain
    (our reading: the paper says no more than that chains are supplementary inputs).
    """
    if encoding == "graph":
        raise ValueError("a tree is not a text")
    return [
        _spaced(
            (_wrapped(document, mention) if encoding == "wrapped" else [OPEN, document.trigger(mention), CLOSE])
            + (_chain(document, mention) if chains else [])
        )
        for mention in range(len(document))
    ]


def _spaced(parts: list[str]) -> list[str]:
    """The parts with a space between each two."""
    return [part for one in parts for part in (one, " ")][:-1]


def _wrapped(document: EventDocument, mention: int) -> list[str]:
    trigger = set(document.triggers[mention])
    parts: list[str] = []
    for token in range(*document.around(mention)):
        inside = token in trigger
        if inside and token - 1 not in trigger:
            parts.append(OPEN)
        parts.append(document.tokens[token])
        if inside and token + 1 not in trigger:
            parts.append(CLOSE)
    return parts


def _chain(document: EventDocument, mention: int) -> list[str]:
    chain = document.chains[mention]
    if chain == NO_CHAIN:
        return []
    members = [other for other, number in enumerate(document.chains) if number == chain and other != mention]
    return [COREFERENCE, ", ".join(map(document.trigger, members))] if members else []


def pair_text(head: str, tail: str) -> str:
    """The generative classifier's input for two mention texts (section 3.2, with spaces inside both markers)."""
    before, between = PAIR_FRAME
    return "".join([*before, head, *between, tail])
