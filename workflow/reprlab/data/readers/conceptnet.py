"""ConceptNet's dump of assertions (Speer et al. 2017): English terms that are related."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict

from reprlab.data.sources import Sources
from reprlab.data.text_files import streamed_rows
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError

_CELLS = 5


class Settings(BaseModel):
    """Which language."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    language: str = "en"
    """Both terms of an assertion are of this language."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One text for each assertion, in the form of `ConceptGraph.of_assertions`, all in the train split.

    A line has the assertion, relation, start, end and further facts, with tabs between them; a term is
    `/c/<language>/<term>[/<part of speech>...]`, of which the third part is read.

    Raises:
        ReprlabError: a line is not of the dump, or the file is not a gzip or not UTF-8.
    """
    path = sources.archive.file()
    try:
        for number, line in streamed_rows(path, zipped=True):
            cells = line.split("\t")
            if len(cells) != _CELLS:
                sources.faulty.leave_out(f"{path}: line {number} has {len(cells)} cells, expected {_CELLS}")
                continue
            terms = [_term(cell, settings.language) for cell in cells[2:4]]
            if all(terms):
                yield {"id": f"a{number}", "text": "\n".join(terms), "source": cells[1], "split": "train"}
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise ReprlabError(f"{path}: not ConceptNet's gzipped dump ({error}); download it again") from None


def _term(uri: str, language: str) -> str:
    """The term in words; empty where it is of another language, or no term."""
    parts = uri.split("/")
    if len(parts) < 4 or parts[1] != "c" or parts[2] != language:
        return ""
    return " ".join(parts[3].lower().replace("_", " ").split())
