"""Relations between two marked entities of a sentence, from Parquet of tokens, entities and relations (CoNLL-2004)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.published_tables import published_table
from reprlab.data.sources import Sources, expected_format
from reprlab.registry.dataset_entries import Split, SplitSettings

_COLUMNS = ["tokens", "entities", "relations"]


class Settings(BaseModel):
    """Which files."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    files: dict[Split, str] = Field(min_length=1)
    """File of each split."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example for each relation, its two entities between `<e1> </e1>` and `<e2> </e2>`; the group is the sentence.

    Raises:
        ReprlabError: a file has other columns, or a row other values.
    """
    for split, name in settings.files.items():
        path = sources.archive.file(name)
        for number, row in enumerate(published_table(sources.archive, name, _COLUMNS).to_pylist()):
            with sources.row(), expected_format(f"{path}: row {number}", "a sentence with entities and relations"):
                for place, relation in enumerate(row["relations"]):
                    head, tail = (dict(enumerate(row["entities"]))[relation[end]] for end in ("head", "tail"))
                    yield {
                        "id": f"{split}-{number}-{place}",
                        "group": f"{split}-{number}",
                        "split": split,
                        "text": _marked(row["tokens"], head, tail),
                        "heads": [_words(row["tokens"], head)],
                        "predicates": [relation["type"]],
                        "tails": [_words(row["tokens"], tail)],
                    }


def _words(tokens: list[str], entity: dict[str, int]) -> str:
    return " ".join(tokens[entity["start"] : entity["end"]])


def _marked(tokens: list[str], head: dict[str, int], tail: dict[str, int]) -> str:
    marked = list(tokens)
    for name, entity in (("e1", head), ("e2", tail)):
        start, end = entity["start"], entity["end"]
        if not 0 <= start < end <= len(tokens):
            raise ValueError(f"an entity from token {start} to {end}")
        marked[start] = f"<{name}> {marked[start]}"
        marked[end - 1] = f"{marked[end - 1]} </{name}>"
    return " ".join(marked)
