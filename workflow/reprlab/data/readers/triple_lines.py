"""Triples in JSON lines: query, positive and hard negative (the E5 mixture of Springer et al. 2024)."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict

from reprlab.data.sources import Sources, expected_format, parse_json
from reprlab.registry.dataset_entries import SplitSettings


class Settings(BaseModel):
    """Which file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str
    """File of the archive."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One triple a line, all in the train split, in the order of the file: instructions are given by row.

    Raises:
        ReprlabError: a line is no object with the three texts.
    """
    path = sources.archive.file(settings.file)
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            place = f"{path}: line {number}"
            with expected_format(place, "an object with the texts query, positive and negative"):
                row = parse_json(line.decode("utf-8"), place)
                query, positive, negative = (row[name].strip() for name in ("query", "positive", "negative"))
            name = f"{number}"
            about = {"id": name, "group": name, "split": "train", "context": ""}
            yield {**about, "question": query, "choices": [positive, negative], "answer": 0}
