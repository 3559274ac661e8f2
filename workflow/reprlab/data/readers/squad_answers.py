"""Questions on passages with the answers as spans of them, from SQuAD's JSON or from the hub's Parquet of it."""

from collections.abc import Iterator
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, model_validator

from reprlab.data.published_tables import published_table
from reprlab.data.sources import Sources, expected_format, json_items
from reprlab.registry.dataset_entries import Split, SplitSettings

# Fifteen of the 34,680 answers of the development set of version 1.1 begin with a space and stand one place further on.
_OFF = 2
_COLUMNS = ["id", "title", "context", "question", "answers"]


class Settings(BaseModel):
    """Which file or files."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    member: str = ""
    """The file in the archive, in SQuAD's JSON."""
    files: dict[Split, str] = {}
    """Parquet of each split, as the hub has it."""

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if bool(self.member) == bool(self.files):
            raise ValueError("give either member or files")
        return self


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example a question, its answers none or several; the group is the article.

    Raises:
        ReprlabError: a file is not in the form.
    """
    for split, name in settings.files.items():
        path = sources.archive.file(name)
        with expected_format(str(path), "a table of questions with answers"):
            rows = published_table(sources.archive, name, _COLUMNS).to_pylist()
        for number, row in enumerate(rows):
            with expected_format(f"{path}: row {number}", "a question with answers"):
                answers = (row["answers"]["text"], row["answers"]["answer_start"])
                yield {"split": split, **_example(row["id"], row["title"], row["question"], row["context"], *answers)}
    if settings.member:
        path = sources.archive.member(settings.member)
        for place, article in enumerate(json_items(path, "data")):
            with expected_format(f"{path}: article {place}", "paragraphs with questions"):
                for paragraph in article["paragraphs"]:
                    for asked in paragraph["qas"]:
                        found = asked["answers"]
                        texts, starts = [one["text"] for one in found], [one["answer_start"] for one in found]
                        yield _example(
                            asked["id"], f"article {place}", asked["question"], paragraph["context"], texts, starts
                        )


def _example(name: str, group: str, question: str, context: str, texts: list[str], starts: list[int]) -> dict[str, Any]:
    placed = [_placed(name, context, text, start) for text, start in zip(texts, starts, strict=True)]
    return {
        "id": name,
        "group": group,
        "question": question,
        "context": context,
        "answers": [text for text, _ in placed],
        "starts": [start for _, start in placed],
    }


def _placed(name: str, context: str, text: str, start: int) -> tuple[str, int]:
    """An answer without white space around it, and its place: a few of SQuAD's are a place or two off."""
    words = text.strip()
    place = context.find(words, max(start - _OFF, 0), max(start + len(text) + _OFF, 0))
    if not words or place < 0:
        raise ValueError(f"an answer to {name} is not where it is said to be")
    return words, place
