"""Texts, questions with choices and conversations from Parquet files of the hub, by the names of their columns."""

from collections.abc import Callable, Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.data.published_tables import published_table
from reprlab.data.sources import Sources, expected_format
from reprlab.registry.dataset_entries import SplitFile, SplitSettings

_STRICT = ConfigDict(extra="forbid", frozen=True)


class Settings(BaseModel):
    """Files and columns."""

    model_config = _STRICT

    files: list[SplitFile] = Field(min_length=1)
    """The files."""
    form: Literal["text_to_text", "choice", "chat"]
    """Kind of the examples."""
    source: str = ""
    """text_to_text: column of the input."""
    target: str = ""
    """text_to_text: column of the output."""
    context: str = ""
    """choice: column of the text that the question is about; empty: there is none."""
    question: str = ""
    """choice: column of the question; empty: there is none."""
    choices: list[str] = []
    """choice: a column each, or one column with a list, or with texts and their letters (`text`, `label`)."""
    fixed_choices: list[str] = []
    """choice: the same choices for every question, in the order of the answers 0, 1, and so on."""
    answer: str = ""
    """choice: column of the right answer: its place, its letter, or false and true; empty: the first choice."""
    first_place: int = 0
    """choice: number of the first place."""
    first_choice_only: bool = False
    """choice: keep the first choice alone."""
    messages: str = "messages"
    """chat: column with a list of messages of a `role` and a `content`."""


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """One example a row, in the published splits.

    Raises:
        ReprlabError: a column is missing, a right answer is none of the choices, or a conversation is not in turns.
    """
    row_of: dict[str, Callable[[dict[str, Any], Settings], dict[str, Any] | None]] = {
        "text_to_text": _text, "choice": _choice, "chat": _chat,
    }  # fmt: skip
    for source in settings.files:
        path = sources.archive.file(source.file)
        for number, row in enumerate(published_table(sources.archive, source.file, _columns(settings)).to_pylist()):
            where = f"{path}: row {number}"
            found = None
            with sources.row(), expected_format(where, f"an example of the kind {settings.form}"):
                found = row_of[settings.form](row, settings)
            if found is None:
                continue
            if settings.form == "choice" and not 0 <= found["answer"] < len(found["choices"]):
                sources.faulty.leave_out(f"{where}: the answer {row.get(settings.answer)!r} is none of its choices")
                continue
            name = f"{source.split}-{number}"
            yield {"id": name, "group": name, "split": source.split, **found}


def _columns(settings: Settings) -> list[str]:
    if settings.form == "text_to_text":
        return [settings.source, settings.target]
    if settings.form == "chat":
        return [settings.messages]
    named = [settings.context, settings.question, *settings.choices, settings.answer]
    return [name for name in named if name]


def _text(row: dict[str, Any], settings: Settings) -> dict[str, Any]:
    return {"source": row[settings.source].strip(), "targets": [row[settings.target].strip()], "task": settings.target}


def _choice(row: dict[str, Any], settings: Settings) -> dict[str, Any]:
    letters: list[str] = []
    if settings.fixed_choices:
        choices = list(settings.fixed_choices)
    elif len(settings.choices) > 1:
        choices = [row[name] for name in settings.choices]
    else:
        value = row[settings.choices[0]]
        choices = list(value["text"] if isinstance(value, dict) else value)
        letters = list(value["label"]) if isinstance(value, dict) else []
    right: Any = row[settings.answer] if settings.answer else settings.first_place
    answer = letters.index(right) if letters else int(right) - settings.first_place
    if settings.first_choice_only:
        choices, answer = choices[:1], 0
    return {
        "context": row[settings.context].strip() if settings.context else "",
        "question": row[settings.question].strip() if settings.question else "",
        "choices": [choice.strip() for choice in choices],
        "answer": answer,
    }


def _chat(row: dict[str, Any], settings: Settings) -> dict[str, Any] | None:
    """A system message goes before the first turn of the user; a question without an answer is cut off at the end."""
    turns: list[str] = []
    opening = ""
    for message in row[settings.messages]:
        role, content = message["role"], message["content"].strip()
        if role == "system" and not turns:
            opening = f"{content}\n\n"
        elif role == ("user", "assistant")[len(turns) % 2]:
            turns.append(opening + content)
            opening = ""
        else:
            raise ValueError(f"a message of {role!r} as turn {len(turns) + 1}")
    turns = turns[: len(turns) // 2 * 2]
    return {"turns": turns} if turns else None
