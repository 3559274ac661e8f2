"""The Brown corpus: 500 documents of `word/tag` tokens, one sentence a line, put back into running text."""

import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict

from reprlab.data.archives import Archive
from reprlab.data.sources import Sources
from reprlab.data.text_files import blank_cells, text_rows
from reprlab.registry.dataset_entries import SplitSettings
from reprlab.runtime.errors import ReprlabError

_BEFORE = re.compile(r" +([,.;:!?)\]}]|'(?!\w))")
_AFTER = re.compile(r"([(\[{]) +")
_QUOTED = re.compile(r'"\s*([^"]*?)\s*"')
_DOUBLE_STOP = re.compile(r"(?<=\w)\. \.(?= |$)")
_REPEATED = re.compile(r"([;:!?])(?: \1)+(?= |$)")


class Settings(BaseModel):
    """Which genres."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: str = "package"
    """Folder of the corpus in the archive."""
    genres: list[str] = []
    """Genres to read (news, fiction, …); none named means all 15."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One document for each sample of the corpus; `source` is the genre.

    Raises:
        ReprlabError: a genre does not exist, or a token has no tag.
    """
    archive = sources.archive
    genres = genres_of(archive, settings.folder)
    unknown = sorted(set(settings.genres) - set(genres.values()))
    if unknown:
        raise ReprlabError(
            f"{archive.name}: no genre {unknown[0]!r}; there are {', '.join(sorted(set(genres.values())))}"
        )
    for name, genre in sorted(genres.items()):
        if not settings.genres or genre in settings.genres:
            paragraphs = [" ".join(sentences) for sentences in tagged_paragraphs(archive, f"{settings.folder}/{name}")]
            yield {"id": f"brown-{name}", "text": "\n\n".join(paragraphs), "source": genre}


def genres_of(archive: Archive, folder: str) -> dict[str, str]:
    """Sample to genre of the corpus in `folder`."""
    lines = text_rows(archive.member(f"{folder}/cats.txt"), "latin-1")
    return {name: genre for name, _, genre in (line.strip().partition(" ") for _, line in lines) if genre}


def tagged_paragraphs(archive: Archive, member: str) -> Iterator[list[str]]:
    """The paragraphs of a sample, each a list of sentences in running text. A tab at its start opens a paragraph."""
    current: list[str] = []
    for opens, tokens in tagged_sentences(archive, member):
        if opens and current:
            yield current
            current = []
        current.append(running_text([word for word, _ in tokens]))
    if current:
        yield current


def tagged_sentences(archive: Archive, member: str) -> Iterator[tuple[bool, list[tuple[str, str]]]]:
    """Whether it opens a paragraph, and the words with their tags, of each sentence of a sample.

    Raises:
        ReprlabError: a token has no tag.
    """
    path = archive.member(member)
    for number, line in text_rows(path, "latin-1"):
        if not line.strip():
            continue
        tokens = [token.rpartition("/") for token in blank_cells(line)]
        if any(not separator for _, separator, _ in tokens):
            raise ReprlabError(f"{path}: line {number} holds a token without a tag")
        yield line.startswith("\t"), [(word, tag) for word, _, tag in tokens]


def running_text(tokens: list[str]) -> str:
    """Tokens as ordinary text: typographic quotation marks made plain, no space around punctuation."""
    text = " ".join(tokens).replace("``", '"').replace("''", '"')
    # A sentence that ends in an abbreviation has the full stop twice.
    text = _DOUBLE_STOP.sub(".", _REPEATED.sub(r"\1", text))
    text = _QUOTED.sub(r'"\1"', text)
    return _AFTER.sub(r"\1", _BEFORE.sub(r"\1", text))
