"""Baselines of prompts with completions: fitted on training prompts, they answer the questions of an evaluation set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reprlab.baselines.declared import AnswerKind, declared
from reprlab.baselines.examples import predict_baseline, seen_in_training
from reprlab.baselines.words import commonest
from reprlab.evaluation.examples import ExampleTable

Row = dict[str, Any]
ANSWERS: dict[str, AnswerKind] = {"generation": "text", "classification": "class", "choice": "choice"}
"""The kind of answer of each kind of evaluation set."""


def answered(
    path: Path, kind: str, training: Sequence[Row], tests: Sequence[Row]
) -> tuple[dict[str, list[str]], int | None]:
    """The answers of each declared baseline, and how many right answers training has (texts alone).

    Args:
        path: of the evaluation set, for messages.
        kind: of the evaluation set; of `choice` an answer is the place of a choice.
        training, tests: prompts with completions.
    """
    if kind == "choice":
        return {name: _choices(name, training, tests) for name in declared("choice")}, None
    first, second = (_table(path, kind, rows) for rows in (training, tests))
    found = {name: predict_baseline(name, first, second, (), 0) for name in declared(ANSWERS[kind])}
    return found, seen_in_training(first, second)


def _table(path: Path, kind: str, rows: Sequence[Row]) -> ExampleTable:
    prompts, answers = [row["prompt"] for row in rows], [row["completion"] for row in rows]
    columns: dict[str, list[Any]] = {"id": [row["id"] for row in rows]}
    if kind == "generation":
        columns |= {"source": prompts, "targets": [[answer] for answer in answers]}
        return ExampleTable(path, "text_to_text", (), columns)
    return ExampleTable(path, "single", tuple(sorted(set(answers))), columns | {"text": prompts, "label": answers})


def _choices(name: str, training: Sequence[Row], tests: Sequence[Row]) -> list[str]:
    if name == "majority":
        return [commonest((str(row["answer"]) for row in training), "0")] * len(tests)
    if name == "longest":
        return [str(_largest(map(len, row["choices"]))) for row in tests]
    asked = [set(row["prompt"].lower().split()) for row in tests]
    shared = [
        [len(words & set(choice.lower().split())) for choice in row["choices"]]
        for words, row in zip(asked, tests, strict=True)
    ]
    return [str(_largest(one)) for one in shared]


def _largest(values: Any) -> int:
    listed = list(values)
    return listed.index(max(listed))
