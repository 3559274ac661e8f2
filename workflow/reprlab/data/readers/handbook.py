"""The Debian Administrator's Handbook: paragraphs of HTML pages made from DocBook."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.sources import Sources, read_text
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError

_BLOCKS = {"div", "ul", "ol", "dl", "table", "pre", "p"}


class Settings(BaseModel):
    """Which pages."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pages: str
    """Pattern of the pages in the archive."""
    min_document_words: int = Field(default=100, ge=1)
    """Pages with less prose are tables of contents."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One document for each page.

    Raises:
        ReprlabError: a page is not HTML.
    """
    for page in sources.archive.members(settings.pages):
        text = "\n\n".join(_paragraphs_of(page))
        if len(text.split()) >= settings.min_document_words:
            yield {"id": f"handbook-{page.stem}", "text": text, "source": page.stem}


def _paragraphs_of(page: Path) -> list[str]:
    try:
        return page_paragraphs(read_text(page))
    # The standard library's parser says so when a marked section (`<![...`) has no end or no known name.
    except AssertionError as error:
        raise ReprlabError(f"{page}: not readable as HTML ({error}); the data or its reader is wrong") from None


def page_paragraphs(page: str) -> list[str]:
    """The text of each `<div class="para">`, without the blocks (lists, listings) inside it."""
    parser = _Paragraphs()
    parser.feed(page)
    parser.close()
    return [text for text in (" ".join("".join(parts).split()) for parts in parser.paragraphs) if text]


class _Paragraphs(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.paragraphs: list[list[str]] = []
        # One entry for each open block: the paragraph that it is, or None.
        self._open: list[tuple[str, list[str] | None]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in _BLOCKS:
            return
        paragraph: list[str] | None = None
        if tag == "div" and "para" in (dict(attributes).get("class") or "").split():
            paragraph = []
            self.paragraphs.append(paragraph)
        self._open.append((tag, paragraph))

    def handle_endtag(self, tag: str) -> None:
        if any(name == tag for name, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1][1] is not None:
            self._open[-1][1].append(data)
