"""mteb's data in JSON lines: a line is an example, a set of examples, or a query with its candidates."""

from collections.abc import Iterator
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from reprlab.data.json_lines import json_lines
from reprlab.data.published_tables import require_fields, require_label
from reprlab.data.sources import Sources, expected_format
from reprlab.registry.dataset_entries import SplitFile, SplitSettings

_STRICT = ConfigDict(extra="forbid", frozen=True)


class Settings(BaseModel):
    """Files and fields. A field that holds a list has the examples of one set: each set is a subset."""

    model_config = _STRICT

    files: list[SplitFile] = Field(min_length=1)
    """The files, gzipped or not."""
    texts: list[str] = Field(min_length=1, max_length=3)
    """Fields of the text, of two texts, or of a query with its relevant candidates and the others."""
    label: str = ""
    """Field of the label, a name or a number."""
    label_names: list[str] = []
    """Names of labels that are numbers; empty: the numbers are their names."""
    score: str = ""
    """In its place: field of the score."""

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if [bool(self.label), bool(self.score)].count(True) != (len(self.texts) < 3):
            raise ValueError("one or two texts have a label or a score, candidates have neither")
        return self


def read(sources: Sources, settings: Settings, splits: SplitSettings) -> Iterator[dict[str, Any]]:
    """The examples of each line, in the published splits; queries are left out that have no candidates of one kind.

    Raises:
        ReprlabError: a line lacks a field, names a label otherwise than the entry, or its lists are not of one length.
    """
    examples = _candidates if len(settings.texts) == 3 else _labelled
    for source in settings.files:
        path = sources.archive.file(source.file)
        for place, (number, row) in enumerate(json_lines(path)):
            if not place and isinstance(row, dict):
                wanted = [*settings.texts, *(one for one in (settings.label, settings.score) if one)]
                require_fields(sources.archive, source.file, list(row), wanted)
            if settings.label_names and isinstance(row, dict):
                require_label(sources.archive, source.file, settings.label, row, settings.label_names)
            found: list[dict[str, Any]] = []
            with sources.row(), expected_format(f"{path}: line {number}", "an example of mteb"):
                found = examples(row, settings, f"{source.split}-{number}", str(number))
            for example in found:
                yield {"split": source.split, **example}


def _candidates(row: dict[str, Any], settings: Settings, name: str, number: str) -> list[dict[str, Any]]:
    query, relevant, others = (row[field] for field in settings.texts)
    if not relevant or not others:
        return []
    # Some queries are there twice: they are told apart by their lines.
    about = {"group": name, "query_id": number, "query": query}
    return [
        {"id": f"{name}-{place}", **about, "passage_id": f"{number}-{place}", "passage": text,
         "relevance": int(place < len(relevant))}
        for place, text in enumerate([*relevant, *others])
    ]  # fmt: skip


def _labelled(row: dict[str, Any], settings: Settings, name: str, number: str) -> list[dict[str, Any]]:
    fields = [row[field] for field in (*settings.texts, settings.label or settings.score)]
    in_set = isinstance(fields[0], list)
    columns = ["text"] if len(settings.texts) == 1 else ["text_a", "text_b"]
    found = []
    for place, (*texts, value) in enumerate(zip(*fields, strict=True) if in_set else [fields]):
        own = f"{name}-{place}" if in_set else name
        example = {"id": own, "group": own, **dict(zip(columns, texts, strict=True))}
        if settings.score:
            found.append({**example, "score": float(value)})
        else:
            found.append({**example, "subset": number if in_set else "", "label": _label(value, settings.label_names)})
    return found


def _label(value: Any, names: list[str]) -> str:
    if not names:
        return str(value)
    if not 0 <= value < len(names):
        raise ValueError(f"the label {value} is outside 0 to {len(names) - 1}")
    return names[value]
