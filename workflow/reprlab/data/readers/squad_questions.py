"""Questions with their answer and the words around it, from files in SQuAD's form."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.sources import Sources, expected_format, json_items
from reprlab.registry.dataset_entries import SplitSettings


class Settings(BaseModel):
    """Which file, and how much of a passage is kept."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    member: str
    """The file in the archive."""
    words: int = Field(default=30, ge=1)
    """Words of the context: the answer stands in their middle."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example a passage, its first question; the group is the passage.

    Raises:
        ReprlabError: the file is not in SQuAD's form.
    """
    path = sources.archive.member(settings.member)
    for place, article in enumerate(json_items(path, "data")):
        with expected_format(f"{path}: article {place}", "paragraphs with questions"):
            for number, paragraph in enumerate(article["paragraphs"]):
                asked = [question for question in paragraph["qas"] if question["answers"]]
                if asked:
                    yield _example(f"{place}-{number}", paragraph["context"], asked[0], settings.words)


def _example(name: str, context: str, asked: dict[str, Any], words: int) -> dict[str, Any]:
    answer = asked["answers"][0]
    before = context[: answer["answer_start"]].split()
    rest = context[answer["answer_start"] :].split()
    kept = len(answer["text"].split())
    room = max(words - kept, 0)
    start = before[-(room // 2) :] if room // 2 else []
    return {
        "id": name,
        "group": name,
        "context": " ".join([*start, *rest[: kept + room - len(start)]]),
        "question": " ".join(asked["question"].split()),
        "choices": [" ".join(answer["text"].split())],
        "answer": 0,
    }
