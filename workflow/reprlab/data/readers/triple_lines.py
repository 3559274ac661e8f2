"""Triples in JSON lines: query, positive and hard negative (the E5 mixture of Springer et al. 2024)."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict

from reprlab.data.json_lines import json_lines
from reprlab.data.sources import Sources, expected_format
from reprlab.registry.dataset_entries import SplitSettings


class Settings(BaseModel):
    """Which file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str
    """File of the archive."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One triple a line, all in the train split, in the order of the file: instructions are given by row.

    Raises:
        ReprlabError: a line is not an object with the three texts.
    """
    path = sources.archive.file(settings.file)
    for number, row in json_lines(path):
        texts: list[str] = []
        with (
            sources.row(),
            expected_format(f"{path}: line {number}", "an object with the texts query, positive and negative"),
        ):
            texts = [row[name].strip() for name in ("query", "positive", "negative")]
        if texts:
            about = {"id": f"{number}", "group": f"{number}", "split": "train", "context": ""}
            yield {**about, "question": texts[0], "choices": texts[1:], "answer": 0}
