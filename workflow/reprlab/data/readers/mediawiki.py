"""Articles of a MediaWiki XML export compressed with bz2, as prose."""

import bz2
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.sources import Sources
from reprlab.data.wikitext import paragraphs
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError

# MediaWiki saves no page beyond 2 MiB; a file made for it unpacks to any size.
_LONGEST_PAGE = 64 * 2**20


class Settings(BaseModel):
    """What to read of the export."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    member: str
    """The export in the archive."""
    min_paragraph_words: int = Field(default=8, ge=1)
    """Shorter paragraphs are captions and remains of tables."""
    min_document_words: int = Field(default=100, ge=1)
    """Shorter articles are left out."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One document for each article; redirects and pages outside the main namespace are left out.

    Raises:
        ReprlabError: the export is not bz2 or not XML.
    """
    for number, title, wikitext in _articles(sources.archive.member(settings.member)):
        prose = paragraphs(wikitext, settings.min_paragraph_words)
        text = "\n\n".join(prose)
        if len(text.split()) >= settings.min_document_words:
            yield {"id": f"article-{number}", "text": text, "source": title}


def _articles(export: Path) -> Iterator[tuple[str, str, str]]:
    """(page number, title, wikitext), read as a stream: an export does not fit in memory."""
    try:
        with bz2.open(export, "rb") as handle:
            source = _Bounded(handle, export)
            for _, element in ElementTree.iterparse(source):  # noqa: S314 - its sha256 is pinned
                if _local(element.tag) != "page":
                    continue
                fields = {_local(child.tag): child for child in element.iter()}
                wikitext = fields["text"].text or ""
                is_redirect = "redirect" in fields or wikitext.lstrip().upper().startswith("#REDIRECT")
                if fields["ns"].text == "0" and not is_redirect:
                    yield element.findtext("{*}id") or "", fields["title"].text or "", wikitext
                element.clear()
                source.since_page = 0
    # ValueError and LookupError: encodings that the parser does not know.
    except (ElementTree.ParseError, EOFError, OSError, LookupError, ValueError) as error:
        raise ReprlabError(f"{export}: not a MediaWiki export in bz2 ({error})") from None


class _Bounded:
    """A stream that ends with an error when a single page does not."""

    def __init__(self, stream: IO[bytes], export: Path) -> None:
        self._stream, self._export = stream, export
        self.since_page = 0

    def read(self, size: int = -1, /) -> bytes:
        block = self._stream.read(size)
        self.since_page += len(block)
        if self.since_page > _LONGEST_PAGE:
            raise ReprlabError(f"{self._export}: a page of more than {_LONGEST_PAGE} bytes; not an export of a wiki")
        return block


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]
