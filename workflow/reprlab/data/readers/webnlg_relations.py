"""Relations of two things that a text names, from the triples of WebNLG, as text to classify."""

from collections.abc import Iterator
from typing import Any

from pydantic import ConfigDict, Field

from reprlab.data.readers import webnlg
from reprlab.data.sources import Sources
from reprlab.registry.dataset_entries import SplitSettings


class Settings(webnlg.Settings):
    """Which task, and which relations."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    relations: list[str] = Field(min_length=2)
    """Predicates that are kept."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example for each triple whose subject and object stand in the text word by word, marked there once.

    The group is the subject, so that no subject is in two splits.

    Raises:
        ReprlabError: an item is not a list of triples with texts.
    """
    for row in webnlg.read(sources, settings, splits):
        for place, (head, predicate, tail) in enumerate(
            zip(row["heads"], row["predicates"], row["tails"], strict=True)
        ):
            text = row["text"]
            apart = head not in tail and tail not in head and text.count(head) == text.count(tail) == 1
            if predicate in settings.relations and apart:
                text = text.replace(head, f"[SUBJ] {head} [/SUBJ]").replace(tail, f"[OBJ] {tail} [/OBJ]")
                yield {"id": f"{row['id']}-{place}", "group": head, "text": text, "label": predicate}
