"""Richer Event Description (LDC2016T23): Anafora XML beside raw text, spans in characters."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.event_rows import Chains, Mention, event_row
from reprlab.data.sources import Sources, expected_format, read_text
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.log import get_logger

_TOKEN = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)]*\s+|\n\s*\n")


class Settings(BaseModel):
    """Where the files lie and which relations count."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    annotation: str = "annotation"
    """Folder of the annotation, one XML file a document; the text lies under `source` in its place."""
    source: str = "source"
    """Folder of the raw texts."""
    suffix: str = ".RED-Relation.gold.completed.xml"
    """What the name of an annotation file adds to that of its text."""
    links: list[str] = Field(default=["TLINK"], min_length=1)
    """Types of relations between events: TLINK has the temporal and, behind a slash, the causal ones."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One document for each annotation file; the group is the document.

    Labels are lower case (`before/causes`). Identity chains (IDENT) make the coreference chains; a relation with an end
    that is not an event (a time expression) is left out, and the log says how many. Tokens are words and marks of
    punctuation, sentences end at `.!?` or an empty line: the corpus has neither.

    Raises:
        ReprlabError: a file is not in the format, or a text is missing.
    """
    archive, dropped = sources.archive, 0
    for path in archive.members(f"*/{settings.annotation}/*{settings.suffix}"):
        name = path.name.removesuffix(settings.suffix)
        text = _beside(path, settings) / name
        if not text.is_file():
            raise ReprlabError(f"{path}: its text {text} is missing")
        with expected_format(str(path), "an annotation of RED"):
            row, timed = _document(name, read_text(text), _root(path), settings, str(path))
        dropped += timed
        yield row
    get_logger().info("%s: %d relations with a time expression are left out", archive.name, dropped)


def _beside(path: Path, settings: Settings) -> Path:
    """The folder of the text: that of the annotation with the last `annotation` in it replaced by `source`."""
    parts = list(path.parent.parts)
    for place in range(len(parts) - 1, -1, -1):
        if parts[place] == settings.annotation:
            parts[place] = settings.source
            break
    return Path(*parts)


def _document(
    name: str, text: str, root: ElementTree.Element, settings: Settings, place: str
) -> tuple[dict[str, Any], int]:
    """The row, and how many relations have an end that is not an event."""
    sentences, spans = _tokens(text)
    events = {}
    for entity in root.iterfind("annotations/entity"):
        if _text(entity, "type") == "EVENT":
            ranges = [tuple(map(int, span.split(","))) for span in _text(entity, "span").split(";")]
            tokens = [n for n, (first, end) in enumerate(spans) if any(first < b and a < end for a, b in ranges)]
            kind = entity.findtext("properties/Type", default="")
            events[_text(entity, "id")] = (tuple(tokens), kind)
    chains, relations, dropped = Chains(), [], 0
    for relation in root.iterfind("annotations/relation"):
        kind = _text(relation, "type")
        if kind == "IDENT":
            members = relation.iterfind("properties/*")
            chains.join([key for member in members if (key := (member.text or "").strip()) in events])
        elif kind in settings.links:
            head, tail = _text(relation, "properties/Source"), _text(relation, "properties/Target")
            if head in events and tail in events:
                relations.append((head, tail, _text(relation, "properties/Type").lower()))
            else:
                dropped += 1
    numbers = chains.numbers(events)
    mentions = [Mention(key, tokens, kind, numbers[key]) for key, (tokens, kind) in events.items()]
    return event_row(name, name, sentences, mentions, relations, place), dropped


def _tokens(text: str) -> tuple[list[list[str]], list[tuple[int, int]]]:
    """Sentences of tokens, and the characters [first, end) of each token."""
    sentences: list[list[str]] = []
    spans = []
    bounds = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
    for first, end in itertools.pairwise(bounds):
        found = list(_TOKEN.finditer(text, first, end))
        if found:
            sentences.append([match.group() for match in found])
            spans += [match.span() for match in found]
    return sentences, spans


def _text(element: ElementTree.Element, path: str) -> str:
    found = element.findtext(path)
    if found is None:
        raise ValueError(f"no {path}")
    return found.strip()


def _root(path: Path) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(read_text(path))  # noqa: S314 - expat bounds the growth of entities
    except ElementTree.ParseError as error:
        raise ReprlabError(f"{path}: not well-formed XML ({error})") from None
