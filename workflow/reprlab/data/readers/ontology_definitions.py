"""Definitions of an ontology in OBO format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict

from reprlab.data.sources import Sources, read_text
from reprlab.registry.dataset_entries import SplitSettings

# The text of a definition; what is in brackets behind it are its sources.
_DEFINITION = re.compile(r'^def: "((?:[^"\\]|\\.)*)"', re.MULTILINE)
_NAME = re.compile(r"^id: (\S+)", re.MULTILINE)
_ESCAPED = re.compile(r"\\(.)")


class Settings(BaseModel):
    """Which file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    member: str
    """The ontology in the archive."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One document for each term that has a definition; `source` is the part of its id before the colon."""
    for stanza in read_text(sources.archive.member(settings.member)).split("\n[")[1:]:
        name, definition = _NAME.search(stanza), _DEFINITION.search(stanza)
        text = _ESCAPED.sub(r"\1", definition[1]).strip() if definition else ""
        if stanza.startswith("Term]") and name and text:
            yield {"id": name[1], "text": text, "source": name[1].partition(":")[0]}
