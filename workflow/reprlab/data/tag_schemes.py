"""Schemes of tags for chunks and entities, and the one that all of them are read as: IOB2.

A tag is `O`, or a letter for the place of its token in a chunk, mostly with the chunk's type behind a hyphen. IOB1 and
IOB2 have B and I; IOBES adds the end E and the single S, BILOU the last L and the unit U, BMES and BMEWO the middle M
and the whole W. Here B opens a chunk, I is every further token.
"""

from collections.abc import Sequence

from reprlab.runtime.errors import ReprlabError

OUTSIDE = "O"
_ALONE, _END, _FURTHER = set("SUW"), set("EL"), set("IM")
_PLACES = {"B"} | _ALONE | _END | _FURTHER
SCHEMES = "IOB, IOBES, BILOU or BMES"


def iob2(tags: Sequence[str]) -> list[str]:
    """Tags of any of the schemes as IOB2; a further token without a chunk of its type before it opens one.

    Raises:
        ReprlabError: a tag is of none of the schemes.
    """
    found, inside = [], None
    for tag in tags:
        place, hyphen, kind = tag.partition("-")
        if tag == OUTSIDE:
            found.append(tag)
            inside = None
            continue
        if place not in _PLACES:
            raise ReprlabError(f"the tag {tag!r} is not of {SCHEMES}; rename the tags of the data, or leave them out")
        further = place in _FURTHER or place in _END
        found.append(("I" if further and inside == kind else "B") + hyphen + kind)
        inside = None if place in _ALONE or place in _END else kind
    return found


def as_iob2(sentences: Sequence[list[str]], where: str) -> list[list[str]]:
    """The tags of a file as IOB2, where they mark chunks in another scheme; IOB and parts of speech stay as they are.

    Raises:
        ReprlabError: they mark chunks, and one is of no scheme that is known.
    """
    tags = {tag for own in sentences for tag in own}
    places = {tag.partition("-")[0] for tag in tags - {OUTSIDE}}
    if places <= {"B", "I"} or not _of_chunks(tags):
        return list(sentences)
    try:
        return [iob2(own) for own in sentences]
    except ReprlabError as error:
        raise ReprlabError(f"{where}: {error}") from None


def _of_chunks(tags: set[str]) -> bool:
    """Whether tags mark chunks: besides `O` or a B there are letters of the schemes alone, or a letter with a type."""
    parts = [tag.partition("-") for tag in tags - {OUTSIDE}]
    opened = OUTSIDE in tags or any(place == "B" for place, _, _ in parts)
    known = all(place in _PLACES for place, _, _ in parts)
    return opened and (known or any(len(place) == 1 and bool(kind) for place, _, kind in parts))
