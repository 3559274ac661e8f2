"""Pairs of texts whose likeness people rated: one pair a line, or documents with a matrix of ratings."""

import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, model_validator

from reprlab.data.sources import Sources
from reprlab.data.text_files import text_rows
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError


class Settings(BaseModel):
    """Which files."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pairs: str = ""
    """Tab-separated file in the archive: two texts and their mean rating; a line that begins with # is none."""
    documents: str = ""
    """In its place: a file with one text a line."""
    matrix: str = ""
    """The ratings of the documents, tab-separated: row i, column j; what is above the diagonal is read."""

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if bool(self.pairs) == bool(self.documents) or bool(self.documents) != bool(self.matrix):
            raise ValueError("give pairs, or documents and matrix")
        return self


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example a pair, each a group of its own.

    Raises:
        ReprlabError: a rating is not a number, or the matrix has not as many rows and columns as there are documents.
    """
    member = sources.archive.member
    if settings.pairs:
        path = member(settings.pairs)
        for number, cells in _lines(path):
            pair = None
            with sources.row():
                if len(cells) != 3:
                    raise ReprlabError(f"{path}: line {number} has {len(cells)} cells, expected 3")
                pair = _pair(str(number), cells[0], cells[1], _rating(path, number, cells[2]))
            if pair:
                yield pair
        return
    texts = [" ".join(line.split()) for _, line in text_rows(member(settings.documents), "latin-1")]
    texts, path = [text for text in texts if text], member(settings.matrix)
    rows = list(_lines(path))
    if {len(texts)} != {len(rows), *(len(cells) for _, cells in rows)}:
        raise ReprlabError(f"{path}: not a matrix of {len(texts)} x {len(texts)} ratings, one for each two documents")
    for one, other in itertools.combinations(range(len(texts)), 2):
        number, cells = rows[one]
        yield _pair(f"{one + 1}-{other + 1}", texts[one], texts[other], _rating(path, number, cells[other]))


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    for number, line in text_rows(path):
        if line.strip() and not line.startswith("#"):
            yield number, line.strip().split("\t")


def _rating(path: Path, number: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ReprlabError(f"{path}: line {number}: the rating {text!r} is not a number")
    return value


def _pair(name: str, one: str, other: str, rating: float) -> dict[str, Any]:
    return {"id": name, "group": name, "text_a": one, "text_b": other, "score": rating}
