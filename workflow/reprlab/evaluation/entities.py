"""Entities of tags, and what two sequences have in common, as conlleval counts (Tjong Kim Sang and De Meulder)."""

from __future__ import annotations

from collections.abc import Sequence

from reprlab.data.tag_schemes import iob2

Entity = tuple[int, int, str]


def entities(tags: Sequence[str]) -> set[Entity]:
    """(first, one behind the last, type) of each entity, by tags of any scheme that `tag_schemes` knows.

    An I that follows no tag of its type opens an entity.

    Raises:
        ReprlabError: a tag is of no scheme that is known.
    """
    found, start, kind = set(), -1, ""
    for place, tag in enumerate([*iob2(tags), "O"]):
        prefix, _, own = tag.partition("-")
        if start >= 0 and (prefix != "I" or own != kind):
            found.add((start, place, kind))
            start = -1
        if prefix == "B" or (prefix == "I" and start < 0):
            start, kind = place, own
    return found


def entity_counts(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> list[tuple[int, int, int]]:
    """(in both, in gold, predicted) of each sentence; type and both ends must be equal."""
    pairs = [(entities(g), entities(p)) for g, p in zip(gold, predicted, strict=True)]
    return [(len(g & p), len(g), len(p)) for g, p in pairs]
