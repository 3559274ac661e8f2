"""Examples as prompts with completions: training texts, and questions with solved examples."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reprlab.artifacts.tables import read_parquet, write_parquet
from reprlab.data.schema import METADATA_KEY, read_metadata
from reprlab.data.splits import position
from reprlab.runtime.errors import ReprlabError
from reprlab.text.completion_settings import CompletionSettings, EvaluationTextSettings, Format, TrainingTextSettings
from reprlab.text.prompt_formats import LABELS, answer_fields, render

Row = dict[str, Any]

COLUMNS = {
    "id": "string",
    "role": "string",
    "fmt": "string",
    "prompt": "string",
    "completion": "string",
    "turns": "strings",
    "choices": "strings",
    "answer": "int64",
}
"""Columns of a file of prompts; `role` is train or held_out, shot or test."""
_LARGEST_SCORE = 5.0


def training_rows(rows: Sequence[Row], kind: str, settings: TrainingTextSettings, where: str) -> list[Row]:
    """Prompts and completions of the training split: first those to train on, then those held out.

    Raises:
        ReprlabError: too few rows, or labels outside the set.
    """
    found = _ordered(_chosen(rows, ["train"], settings), settings.seed)
    wanted = settings.rows if settings.rows is not None else int(settings.share * len(found)) - settings.held_out
    if wanted < 1 or wanted + settings.held_out > len(found):
        raise ReprlabError(
            f"{where}: {wanted} training rows and {settings.held_out} held-out rows are asked for and the training "
            f"split has {len(found)}; lower rows or held_out"
        )
    parts = [("train", row) for row in found[:wanted]]
    parts += [("held_out", row) for row in found[wanted : wanted + settings.held_out]]
    made = []
    for role, row in parts:
        prompt, completion, more = _example(row, kind, settings, "default", where)
        turns = more["turns"] or ([prompt.strip(), completion] if settings.chat else [])
        made.append({"id": row["id"], "role": role, "fmt": "default", "prompt": prompt, "completion": completion}
                    | more | {"turns": turns})  # fmt: skip
    return made


def evaluation_rows(rows: Sequence[Row], kind: str, settings: EvaluationTextSettings, where: str) -> list[Row]:
    """Shots and questions in every format; the shots and their order are the same in all of them.

    Raises:
        ReprlabError: too few rows, or labels outside the set.
    """
    scored = _ordered(_chosen(rows, settings.splits, settings), settings.seed)
    shots: list[Row] = []
    if settings.shots and settings.shots_source == "train":
        pool = [] if "train" in settings.splits else _ordered(_chosen(rows, ["train"], settings), settings.seed)
        if len(pool) >= settings.shots:
            shots = pool[: settings.shots]
        else:
            shots, scored = scored[: settings.shots], scored[settings.shots :]
    if settings.rows is not None:
        scored = scored[: settings.rows]
    if len(scored) < max(1, settings.shots if settings.shots_source == "eval_head" else 1):
        raise ReprlabError(f"{where}: {len(scored)} rows are left to score; lower shots or take other splits")
    made = []
    for form in settings.formats:
        for role, row in [*(("shot", row) for row in shots), *(("test", row) for row in scored)]:
            prompt, completion, more = _example(row, kind, settings, form, where)
            if settings.gold_as_no and role == "test":
                completion = "no"
            made.append({"id": row["id"], "role": role, "fmt": form, "prompt": prompt, "completion": completion} | more)
    return made


def _chosen(rows: Sequence[Row], splits: Sequence[str], settings: CompletionSettings) -> list[Row]:
    subset = settings.subset
    # A subset is scored, and training rows are those of the one that has some: MNLI's are all matched.
    return [row for row in rows if row["split"] in splits and (not subset or row.get("subset", "") in ("", subset))]


def _ordered(rows: list[Row], seed: int) -> list[Row]:
    return sorted(rows, key=lambda row: (position(seed, f"completion {row['id']}"), row["id"]))


def _example(row: Row, kind: str, settings: CompletionSettings, form: Format, where: str) -> tuple[str, str, Row]:
    """Prompt, completion, and the columns of conversations and choices."""
    more: Row = {"turns": [], "choices": [], "answer": -1}
    if kind == "chat":
        return "", "", {**more, "turns": row["turns"]}
    fields, completion = _fields(row, kind, settings, where)
    prompt = render(settings.template, form, fields, settings.spacing)
    if settings.end == "stripped":
        prompt = prompt.rstrip()
    if settings.template == "choice":
        more |= {"choices": row["choices"], "answer": row["answer"]}
        completion = f" {row['choices'][row['answer']]}"
    return prompt, completion, more


def _fields(row: Row, kind: str, settings: CompletionSettings, where: str) -> tuple[dict[str, str], str]:
    def cut(text: str) -> str:
        return text if settings.input_words is None else " ".join(text.split()[: settings.input_words])

    if kind == "text_to_text" and settings.template == "summary":
        return {"document": cut(row["source"])}, row["targets"][0]
    if kind == "choice" and settings.template in ("question", "choice"):
        fields = {"context": cut(row["context"]), **answer_fields(row["choices"], settings.spacing)}
        return {**fields, "question": row["question"]}, row["question"]
    if kind in ("pair", "similarity") and settings.template in LABELS:
        return {"first": cut(row["text_a"]), "second": cut(row["text_b"])}, _word(row, kind, settings, where)
    raise ReprlabError(f"{where}: examples of the kind {kind} do not fit the template {settings.template}")


def _word(row: Row, kind: str, settings: CompletionSettings, where: str) -> str:
    """The label word.

    Raises:
        ReprlabError: a label outside the set, or a score outside the scale: unlabelled rows carry -1.
    """
    if kind == "similarity":
        if settings.threshold is None or not 0 <= row["score"] <= _LARGEST_SCORE:
            raise ReprlabError(
                f"{where}: row {row['id']} has the score {row['score']}, expected 0 to 5 and a threshold"
            )
        return "yes" if row["score"] > settings.threshold else "no"
    word = settings.words.get(row["label"], row["label"])
    if word not in LABELS[settings.template]:
        raise ReprlabError(
            f"{where}: row {row['id']} has the label {row['label']!r}, expected one of "
            f"{', '.join(LABELS[settings.template])}; name its word in `words`"
        )
    return word


def write_completions(path: Path, rows: Sequence[Row], about: dict[str, str]) -> None:
    """Write the rows with what `about` says of them."""
    import pyarrow

    types = {"string": pyarrow.string(), "strings": pyarrow.list_(pyarrow.string()), "int64": pyarrow.int64()}
    schema = pyarrow.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    text = json.dumps(about, sort_keys=True, ensure_ascii=False).encode()
    write_parquet(path, pyarrow.Table.from_pylist(list(rows), schema=schema.with_metadata({METADATA_KEY: text})))


def read_completions(path: Path) -> tuple[list[Row], dict[str, str]]:
    """Rows and what is said of them.

    Raises:
        ReprlabError: the file is missing or not one of prompts.
    """
    table = read_parquet(path, list(COLUMNS))
    return table.to_pylist(), read_metadata(path, table)
