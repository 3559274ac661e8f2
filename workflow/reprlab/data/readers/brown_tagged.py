"""The sentences of the Brown corpus: with their parts of speech, or as passages whose sentence boundaries are known."""

import re
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from reprlab.data.passages import PassageSettings, passage_rows
from reprlab.data.readers.brown import genres_of, tagged_paragraphs, tagged_sentences
from reprlab.data.sources import Sources
from reprlab.registry.dataset_entries import SplitSettings

_MARKS = re.compile(r"(?:-(?:tl|hl|nc))+$")


class Settings(PassageSettings):
    """What is read."""

    folder: str = "package"
    """Folder of the corpus in the archive."""
    form: Literal["tags", "passages"]
    """Tagged sentences, or runs of sentences in running text."""
    most_tokens: int = Field(default=100, ge=1)
    """Longer sentences are left out of the tagged ones."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """The examples of all samples; the group is the sample.

    A tag is read without what it says of foreign words, titles, headlines, cited words, negation and clitics (`fw-`,
    `-tl`, `-hl`, `-nc`, `*`, `+`): those of the corpus are 472.

    Raises:
        ReprlabError: a token has no tag.
    """
    archive = sources.archive
    for name in sorted(genres_of(archive, settings.folder)):
        member = f"{settings.folder}/{name}"
        if settings.form == "passages":
            sentences = [one for paragraph in tagged_paragraphs(archive, member) for one in paragraph]
            yield from passage_rows(name, sentences, settings)
            continue
        for number, (_, tokens) in enumerate(tagged_sentences(archive, member)):
            if len(tokens) <= settings.most_tokens:
                words, tags = zip(*tokens, strict=True)
                row = {"id": f"{name}-{number}", "group": name, "tokens": list(words)}
                yield {**row, "tags": [base_tag(tag) for tag in tags]}


def base_tag(tag: str) -> str:
    """The part of speech alone: `bez` of `bez*`, `nn` of `nn-tl-hl`, `ppss` of `ppss+bem`; punctuation stays."""
    base = _MARKS.sub("", tag.removeprefix("fw-").partition("+")[0])
    return base.rstrip("*") or base
