"""Articles of a MediaWiki XML export compressed with bz2, as prose."""

import bz2
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.config.dataset_entries import SplitSettings
from reprlab.data.sources import Sources
from reprlab.data.wikitext import paragraphs
from reprlab.runtime.errors import ReprlabError


class Settings(BaseModel):
    """What to read of the export."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

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
            for _, element in ElementTree.iterparse(handle):  # noqa: S314 - its sha256 is pinned
                if _local(element.tag) != "page":
                    continue
                fields = {_local(child.tag): child for child in element.iter()}
                wikitext = fields["text"].text or ""
                is_redirect = "redirect" in fields or wikitext.lstrip().upper().startswith("#REDIRECT")
                if fields["ns"].text == "0" and not is_redirect:
                    yield element.findtext("{*}id") or "", fields["title"].text or "", wikitext
                element.clear()
    except (ElementTree.ParseError, EOFError, OSError, KeyError) as error:
        raise ReprlabError(f"{export}: not a MediaWiki export in bz2 ({error})") from None


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]
