"""Coreference chains in the columns of CoNLL-2012: one word a line, the chains in the last column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel, ConfigDict

from reprlab.coreference.rows import Mention, chain_row
from reprlab.data.sources import Sources, read_text
from reprlab.data.text_files import blank_cells
from reprlab.registry.dataset_entries import Split, SplitSettings
from reprlab.runtime.errors import ReprlabError

# A name in brackets or not, and a part or none: SemEval-2010's files and others have documents without parts.
_BEGIN = re.compile(r"#begin document\s+(?:\((?P<name>.+)\)|(?P<bare>\S.*?))\s*;?\s*(?:part\s+(?P<part>\d+))?\s*")
_MARK = re.compile(r"(\()?(\d+)(\))?")
_NONE = {"-", "_", ""}
_ESCAPED = {"/.": ".", "/?": "?", "/-": "-"}


class Settings(BaseModel):
    """Which files, and where a line has what."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    files: dict[str, Split | None]
    """Pattern of paths (`*` matches any text) to the split of their documents; null: by hash of the document."""
    speaker: int = 9
    """Place of the speaker among the columns, from 0."""
    columns: int = 12
    """Fewest columns of a line; CoNLL-2012 has 12 and one more for each predicate of the sentence."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example for each part of a document; the group is the document, all parts of which are in one split.

    Raises:
        ReprlabError: a file is not of the format, or no file fits a pattern.
    """
    archive = sources.archive
    for pattern, split in settings.files.items():
        names = [one.file for one in archive.files if PurePosixPath(one.file).match(pattern)]
        if not names:
            raise ReprlabError(f"{archive.name}: no file fits {pattern!r}; change the reader's option files")
        for name in sorted(names):
            for row in documents(archive.file(name), settings):
                yield {**row, "split": split} if split else row


def documents(path: Path, settings: Settings) -> Iterator[dict[str, Any]]:
    """The documents of one file.

    Raises:
        ReprlabError: names the line that is not of the format.
    """
    for name, lines in parts(path, settings.columns):
        yield _document(path, name, lines, settings)


def parts(path: Path, columns: int) -> Iterator[tuple[str, list[tuple[int, list[str]]]]]:
    """Name and lines of each part of a document: line numbers with their cells, none for an empty line.

    A name ends in the part's number, 0 where the file gives none.

    Raises:
        ReprlabError: names the line that is not of the format.
    """
    name, lines = "", list[tuple[int, list[str]]]()
    # Only "\n" ends a line: words may hold other characters that str.splitlines would cut at.
    for place, line in enumerate(read_text(path).split("\n"), start=1):
        line = line.rstrip("\r")
        if begin := _BEGIN.fullmatch(line):
            if name:
                raise ReprlabError(f"{path}: line {place} begins a document, and {name} has no '#end document'")
            name, lines = f"{begin['name'] or begin['bare']}_{int(begin['part'] or 0)}", []
        elif line.startswith("#end document"):
            if not name:
                raise ReprlabError(f"{path}: line {place} ends a document that did not begin")
            yield name, lines
            name = ""
        elif not line.strip():
            lines.append((place, []))
        elif name:
            # Columns between tabs may be empty, as LitBank's last one is; those of CoNLL-2012 are padded with spaces.
            cells = [cell.strip(" ") for cell in line.split("\t")]
            cells = cells if len(cells) >= columns else blank_cells(line)
            if len(cells) < columns:
                raise ReprlabError(f"{path}: line {place} has {len(cells)} columns, expected {columns} or more")
            lines.append((place, cells))
        else:
            raise ReprlabError(f"{path}: line {place} stands outside a document; expected '#begin document'")
    if name:
        raise ReprlabError(f"{path}: the document {name} has no '#end document'; the file is cut off")


def _marks(cells: list[str]) -> list[str]:
    """Beginnings and ends of mentions of a word: of the last column that is not empty, which a tab behind it leaves."""
    last = next((cell for cell in reversed(cells) if cell), "")
    marks = [] if last in _NONE else last.split("|")
    # Where the column of chains itself is empty, the one before it says something else.
    return marks if cells[-1] or all(map(_MARK.fullmatch, marks)) else []


def _document(path: Path, name: str, lines: list[tuple[int, list[str]]], settings: Settings) -> dict[str, Any]:
    sentences: list[list[str]] = [[]]
    speakers: list[str] = []
    chains: dict[int, list[Mention]] = {}
    opened: dict[int, list[int]] = {}
    for place, cells in lines:
        if not cells:
            sentences.append([])
            continue
        word = len(speakers)
        sentences[-1].append(_ESCAPED.get(cells[3], cells[3]))
        speakers.append(cells[settings.speaker])
        for mark in _marks(cells):
            parts = _MARK.fullmatch(mark)
            if parts is None or not (parts[1] or parts[3]):
                raise ReprlabError(f"{path}: line {place}: {mark!r} does not begin or end a mention")
            chain = int(parts[2])
            if parts[1]:
                opened.setdefault(chain, []).append(word)
            if parts[3]:
                if not opened.get(chain):
                    raise ReprlabError(f"{path}: line {place}: a mention of chain {chain} ends that did not begin")
                chains.setdefault(chain, []).append((opened[chain].pop(), word))
    if unclosed := [chain for chain, starts in opened.items() if starts]:
        raise ReprlabError(f"{path}: document {name}: a mention of chain {unclosed[0]} does not end")
    group = name.rpartition("_")[0]
    return chain_row(name, group, [one for one in sentences if one], speakers, chains.values(), str(path))
