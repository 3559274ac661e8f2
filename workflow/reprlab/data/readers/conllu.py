"""Universal Dependencies in CoNLL-U: sentences with parts of speech, or passages with known sentence boundaries."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from reprlab.data.passages import PassageSettings, passage_rows
from reprlab.data.sources import Sources
from reprlab.data.text_files import text_rows
from reprlab.registry.dataset_entries import Split, SplitSettings
from reprlab.runtime.errors import ReprlabError

_COLUMNS = 10
_TEXT, _DOCUMENT = "# text = ", "# newdoc"


class Settings(PassageSettings):
    """Which files, and what is read of them."""

    files: dict[Split, str] = Field(min_length=1)
    """File of each split."""
    form: Literal["tags", "passages"]
    """Tagged sentences, or runs of sentences of one document as they were written."""
    column: int = Field(default=3, ge=2, lt=_COLUMNS)
    """Place of the tag, from 0: 3 is the universal part of speech, 4 that of the treebank."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """The examples of each file; the group is the document.

    Tokens are syntactic words: `don't` is two, while the line of the whole and nodes without a word are passed over.

    Raises:
        ReprlabError: a line has not ten columns, or a sentence no text.
    """
    for split, name in settings.files.items():
        path = sources.archive.file(name)
        texts: list[str] = []
        document = 0
        for number, (opens, text, lines) in enumerate(_sentences(path)):
            if opens:
                yield from _passages(f"{split}-{document}", split, texts, settings)
                document, texts = document + 1, []
            if settings.form == "tags":
                row = {"id": f"{split}-{number}", "group": f"{split}-{document}", "split": split}
                columns = {"tokens": [cells[1] for cells in lines], "tags": [cells[settings.column] for cells in lines]}
                yield {**row, **columns}
            elif not text:
                raise ReprlabError(f"{path}: sentence {number + 1} has no line that starts with {_TEXT!r}")
            else:
                texts.append(text)
        yield from _passages(f"{split}-{document}", split, texts, settings)


def _passages(document: str, split: str, texts: list[str], settings: Settings) -> Iterator[dict[str, Any]]:
    for row in passage_rows(document, texts, settings):
        yield {**row, "split": split}


def _sentences(path: Path) -> Iterator[tuple[bool, str, list[list[str]]]]:
    """Whether it opens a document, the text, and the cells of the words, of each sentence."""
    opens, text = False, ""
    words: list[list[str]] = []
    for number, line in chain(text_rows(path), [(0, "")]):
        if not line.strip():
            if words:
                yield opens, text, words
            opens, text, words = False, "", []
        elif line.startswith("#"):
            opens = opens or line.startswith(_DOCUMENT)
            text = line.removeprefix(_TEXT) if line.startswith(_TEXT) else text
        else:
            cells = line.split("\t")
            if len(cells) != _COLUMNS:
                raise ReprlabError(f"{path}: line {number} has {len(cells)} columns, expected {_COLUMNS}")
            if not set(cells[0]) & set("-."):
                words.append(cells)
