"""WebNLG in BIG-bench, turned round: a text in, the triples that it was written from out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict

from reprlab.data.sources import Sources, expected_format, json_items
from reprlab.registry.dataset_entries import SplitSettings


class Settings(BaseModel):
    """Which task."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    member: str
    """Task file in the archive."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example for each reference text; those of one set of triples are a group.

    Underscores of names become spaces and their quotation marks go; predicates are the property names of DBpedia.

    Raises:
        ReprlabError: an item is not a list of triples with texts.
    """
    path = sources.archive.member(settings.member)
    for number, item in enumerate(json_items(path)):
        with sources.row(), expected_format(f"{path}: item {number}", "triples in parentheses with reference texts"):
            triples = [
                _triple(text) for text in item["input"].strip().removeprefix("(").removesuffix(")").split("), (")
            ]
            heads, predicates, tails = map(list, zip(*triples, strict=True))
            for place, text in enumerate(item["target"]):
                yield {
                    "id": f"webnlg-{number}-{place}",
                    "group": f"webnlg-{number}",
                    "text": " ".join(text.split()),
                    "heads": heads,
                    "predicates": predicates,
                    "tails": tails,
                }


def _triple(text: str) -> tuple[str, str, str]:
    head, predicate, tail = (" ".join(part.strip().strip('"').replace("_", " ").split()) for part in text.split(" | "))
    return head, predicate, tail
