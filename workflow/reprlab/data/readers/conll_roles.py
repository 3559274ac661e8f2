"""Semantic roles in the columns of CoNLL-2012 (`*.gold_conll`), one word a line and one column for each verb."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.sources import Sources
from reprlab.data.text_files import blank_cells, text_rows
from reprlab.registry.dataset_entries import Split, SplitSettings
from reprlab.runtime.errors import ReprlabError

# Document, part, number, word, part of speech, parse, lemma, frameset, sense, speaker, name; roles; coreference.
_WORD, _FIRST_ROLE, _AROUND = 3, 11, 12
_CELL = re.compile(r"(?:\(([A-Za-z0-9-]+))?\*(\))?")


class Settings(BaseModel):
    """Which files. The corpus is licensed: its entry has a `local:` origin."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    members: dict[Split, str] = Field(min_length=1)
    """File of each split, or pattern of members of an archive."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example for each sentence that has a verb with roles; the group is the document.

    Raises:
        ReprlabError: a line has another number of columns than the first of its sentence, or a role is not written as
            `(ARG0*`, `*` or `*)`.
    """
    archive = sources.archive
    for split, pattern in settings.members.items():
        for path in [archive.file(pattern)] if archive.has_file(pattern) else archive.members(pattern):
            for number, lines in enumerate(_sentences(path)):
                verbs, tags = [], []
                for column in range(_FIRST_ROLE, len(lines[0][1]) - 1):
                    found = [_tag(path, place, cells[column]) for place, cells in lines]
                    own = list(_bio(found))
                    if "B-V" not in own:
                        raise ReprlabError(f"{path}: line {lines[0][0]} opens a sentence with roles of no verb")
                    verbs.append(own.index("B-V"))
                    tags += own
                if verbs:
                    tokens = [cells[_WORD] for _, cells in lines]
                    row = {"id": f"{split}-{path.stem}-{number}", "group": f"{split}-{path.stem}", "split": split}
                    yield {**row, "tokens": tokens, "verbs": verbs, "tags": tags}


def _sentences(path: Path) -> Iterator[list[tuple[int, list[str]]]]:
    """Line number and cells of each word, sentence by sentence."""
    lines: list[tuple[int, list[str]]] = []
    for number, line in chain(text_rows(path), [(0, "")]):
        cells = blank_cells(line)
        if not cells or line.startswith("#"):
            if lines:
                yield lines
                lines = []
        elif len(cells) < _AROUND or (lines and len(cells) != len(lines[0][1])):
            raise ReprlabError(f"{path}: line {number} has {len(cells)} columns, other than its sentence or below 12")
        else:
            lines.append((number, cells))


def _tag(path: Path, number: int, cell: str) -> tuple[str, bool]:
    """The role that opens at a word, and whether one ends there."""
    found = _CELL.fullmatch(cell)
    if not found:
        raise ReprlabError(f"{path}: line {number} has the role {cell!r}, expected (ARG0*, * or *)")
    return found.group(1) or "", bool(found.group(2))


def _bio(cells: list[tuple[str, bool]]) -> Iterator[str]:
    role = ""
    for opened, ends in cells:
        role = opened or role
        yield f"{'B' if opened else 'I'}-{role}" if role else "O"
        if ends:
            role = ""
