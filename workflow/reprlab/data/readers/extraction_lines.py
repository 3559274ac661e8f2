"""Open information extraction in lines of sentence, predicate and arguments: CaRB, and OIE2016 (`all.oie`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from reprlab.data.sources import FaultyRows, Sources
from reprlab.data.text_files import text_rows
from reprlab.registry.dataset_entries import Split, SplitSettings


class Settings(BaseModel):
    """Which files, and what their columns are."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    files: dict[Split, str] = Field(min_length=1)
    """File or member of each split."""
    predicate: int = Field(default=1, ge=1)
    """Column of the predicate, from 0; the sentence is first."""
    arguments: int = Field(default=2, ge=2)
    """Column of the first argument; all behind it are arguments."""

    @model_validator(mode="after")
    def _arguments_follow(self) -> Self:
        if self.predicate >= self.arguments:
            raise ValueError(f"predicate ({self.predicate}) must be below arguments ({self.arguments})")
        return self


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example for each sentence with all its extractions as triples, in the order of their first lines.

    The first argument is the head; the others are joined to one tail, as CaRB compares them, which is empty where there
    is none.

    Raises:
        ReprlabError: a line has no argument.
    """
    archive = sources.archive
    for split, name in settings.files.items():
        path = archive.file(name) if archive.has_file(name) else archive.member(name)
        for number, (sentence, triples) in enumerate(_extractions(path, settings, sources.faulty).items()):
            heads, predicates, tails = map(list, zip(*triples, strict=True))
            row = {"id": f"{split}-{number}", "group": f"{split}-{number}", "split": split, "text": sentence}
            yield {**row, "heads": heads, "predicates": predicates, "tails": tails}


def _extractions(path: Path, settings: Settings, faulty: FaultyRows) -> dict[str, list[tuple[str, str, str]]]:
    found: dict[str, list[tuple[str, str, str]]] = {}
    for number, line in text_rows(path):
        if not line.strip():
            continue
        cells = [" ".join(cell.split()) for cell in line.split("\t")]
        # A few lines of CaRB have no predicate; they stay as they were published.
        if len(cells) <= settings.arguments or not cells[0]:
            faulty.leave_out(f"{path}: line {number} has not a sentence, a predicate and an argument between tabs")
            continue
        first, *others = cells[settings.arguments :]
        found.setdefault(cells[0], []).append((first, cells[settings.predicate], " ".join(filter(None, others))))
    return found
