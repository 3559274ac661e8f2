"""Sentences with a mean rating of sentiment from -4 to +4 (Hutto and Gilbert 2014), as a two-way task."""

import html
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict

from reprlab.data.sources import Sources, tab_rows
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError


class Settings(BaseModel):
    """Which of the four domains."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    member: str
    """The tab-separated file in the archive: id, mean rating, text; latin-1."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example for each sentence: positive or negative by the sign of the mean; a mean of 0 is left out.

    Sentences of one document (the id before the underscore) form a group.

    Raises:
        ReprlabError: a rating is not a number from -4 to 4.
    """
    path = sources.archive.member(settings.member)
    for number, (name, rating, text) in tab_rows(path, 3, "latin-1"):
        value = 0.0
        with sources.row():
            value = _rating(rating, f"{path}: line {number}")
        if value != 0:
            yield {
                "id": name,
                "group": name.partition("_")[0],
                "text": " ".join(html.unescape(text).split()),
                "label": "positive" if value > 0 else "negative",
            }


def _rating(text: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ReprlabError(f"{place}: the rating {text!r} is not a number") from None
    if not -4 <= value <= 4:
        raise ReprlabError(f"{place}: the rating {value} is outside -4 to 4")
    return value
