"""Premise, entailed sentence and contradiction from one CSV file, as SimCSE publishes SNLI and MNLI."""

import csv
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict

from reprlab.data.sources import Sources
from reprlab.data.text_files import csv_rows
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError

_COLUMNS = ["sent0", "sent1", "hard_neg"]


class Settings(BaseModel):
    """Which file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str
    """Path in the repository."""
    triples: int | None = None
    """Triples of the published file; null: any number."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example of the kind `choice` a line: the entailed sentence, then the contradiction.

    Raises:
        ReprlabError: the file is not such a CSV, a sentence is missing, or the number of lines is another.
    """
    path, number = sources.archive.file(settings.file), -1
    try:
        rows = csv_rows(path)
        if (header := next(rows, [])) != _COLUMNS:
            found, place = ",".join(header)[:80], sources.archive.place(settings.file)
            raise ReprlabError(
                f"{place}: its first line is {found!r}, not {','.join(_COLUMNS)}; fetch the published file"
            )
        for number, row in enumerate(rows):
            if len(row) != len(_COLUMNS) or not all(map(str.strip, row)):
                sources.faulty.leave_out(f"{path}: triple {number} has no three sentences; fetch the published file")
                continue
            anchor, *choices = map(str.strip, row)
            about = {"id": f"train-{number}", "group": f"{number}", "split": "train"}
            yield {**about, "context": "", "question": anchor, "choices": choices, "answer": 0}
    except csv.Error as error:
        raise ReprlabError(f"{path}: no CSV in UTF-8 ({error}); fetch the published file") from None
    if settings.triples not in (None, number + 1):
        raise ReprlabError(f"{path}: {number + 1} triples, {settings.triples} are published; fetch the whole file")
