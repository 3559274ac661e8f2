"""The columns of documents and of each kind of example, and the check of every row."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.tables import read_parquet
from reprlab.registry.dataset_entries import LABELLED_KINDS, SPLITS
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import atomic_file

if TYPE_CHECKING:
    import pyarrow

METADATA_KEY = b"reprlab"
_BATCH_ROWS = 20_000

# Column to type; a trailing "?" marks a column that may be null.
DOCUMENT_COLUMNS = {"id": "string", "text": "string", "source": "string", "split": "string"}
COMMON_COLUMNS = {"id": "string", "group": "string", "split": "string"}
KIND_COLUMNS = {
    "single": {"text": "string", "label": "string", "subset": "string"},
    "pair": {"text_a": "string", "text_b": "string", "label": "string", "subset": "string"},
    "similarity": {"text_a": "string", "text_b": "string", "score": "float64"},
    "span_qa": {"question": "string", "context": "string", "answers": "strings", "starts": "int64s"},
    "tags": {"tokens": "strings", "tags": "strings"},
    "ranking": {
        "query_id": "string", "query": "string", "passage_id": "string", "passage": "string", "relevance": "int64",
    },
    "text_to_text": {
        "source": "string", "targets": "strings", "task": "string", "definition": "string?",
        "positive_inputs": "strings?", "positive_outputs": "strings?",
    },
    "sentences": {"sentences": "strings", "label": "string"},
    # `answer` is the place of the right choice.
    "choice": {"context": "string", "question": "string", "choices": "strings", "answer": "int64"},
    # The turns of a conversation, the user's first and then in alternation.
    "chat": {"turns": "strings"},
    # `triggers` are token numbers joined by "_", `chains` numbers of coreference chains (-1: none); `heads` and `tails`
    # are numbers of mentions, which are in textual order.
    "events": {
        "tokens": "strings", "sentence_starts": "int64s", "mentions": "strings", "triggers": "strings",
        "classes": "strings", "chains": "int64s", "heads": "int64s", "tails": "int64s", "relations": "strings",
    },
    # Mentions are numbers of their first and last token, and of their chain; `speakers` has one for each token.
    "coreference": {
        "tokens": "strings", "sentence_starts": "int64s", "speakers": "strings", "mention_starts": "int64s",
        "mention_ends": "int64s", "chains": "int64s",
    },
    # The sentences of one text, in order.
    "passages": {"sentences": "strings"},
    # What a sentence says, each as head, predicate and tail.
    "triples": {"text": "string", "heads": "strings", "predicates": "strings", "tails": "strings"},
    # A recording as it was published, in the format `kind`, with what is said in it.
    "speech": {"text": "string", "seconds": "float64", "rate": "int64", "kind": "string", "audio": "binary"},
    # `verbs` are numbers of tokens; `tags` has the BIO tags of the roles of each verb, one verb after the other.
    "roles": {"tokens": "strings", "verbs": "int64s", "tags": "strings"},
}  # fmt: skip
# Columns that readers may leave out.
DEFAULTS = {"subset": ""}
# The columns that make two examples the same example.
TEXT_COLUMNS = {
    "single": ("text",),
    "pair": ("text_a", "text_b"),
    "similarity": ("text_a", "text_b"),
    "span_qa": ("question", "context"),
    "tags": ("tokens",),
    "ranking": ("query", "passage"),
    "text_to_text": ("task", "source"),
    "sentences": ("sentences",),
    "choice": ("context", "question"),
    "chat": ("turns",),
    "events": ("tokens",),
    "coreference": ("tokens",),
    "passages": ("sentences",),
    "triples": ("text",),
    # One sentence may be recorded twice.
    "speech": ("id",),
    "roles": ("tokens",),
}
_LABEL_LISTS = {"tags": "tags", "events": "relations"}
_PYTHON = {"string": str, "float64": float, "int64": int, "binary": bytes, "strings": str, "int64s": int}


def columns_of(kind: str) -> dict[str, str]:
    """Column to type of the examples of `kind`; "documents" is a kind too."""
    return DOCUMENT_COLUMNS if kind == "documents" else {**COMMON_COLUMNS, **KIND_COLUMNS[kind]}


def schema_of(kind: str) -> pyarrow.Schema:
    """The declared Arrow schema of documents or of the examples of `kind`."""
    import pyarrow

    types = {
        "string": pyarrow.string(),
        "float64": pyarrow.float64(),
        "int64": pyarrow.int64(),
        "binary": pyarrow.binary(),
        "strings": pyarrow.list_(pyarrow.string()),
        "int64s": pyarrow.list_(pyarrow.int64()),
    }
    return pyarrow.schema(
        [
            pyarrow.field(name, types[kind_of.rstrip("?")], nullable=kind_of.endswith("?"))
            for name, kind_of in columns_of(kind).items()
        ]
    )


def check_row(row: dict[str, Any], kind: str, labels: list[str], where: str) -> None:
    """Check one row against the columns of `kind` and the label set.

    Raises:
        ReprlabError: names `where` (data set and row number), the column and what is wrong with it.
    """
    columns = columns_of(kind)
    unknown = set(row) - set(columns)
    if unknown:
        raise ReprlabError(f"{where}: unknown column {sorted(unknown)[0]!r}")
    for name, kind_of in columns.items():
        _check_value(row.get(name), name, kind_of, where)
    if row["split"] not in SPLITS:
        raise ReprlabError(f"{where}: split {row['split']!r} is none of {', '.join(SPLITS)}")
    _check_labels(row, kind, labels, where)


def _check_value(value: Any, name: str, kind_of: str, where: str) -> None:
    if value is None:
        if not kind_of.endswith("?"):
            raise ReprlabError(f"{where}: column {name!r} has no value")
        return
    kind_of = kind_of.rstrip("?")
    is_list = kind_of.endswith("s")
    items = value if is_list else [value]
    if is_list and not isinstance(value, list):
        raise ReprlabError(f"{where}: column {name!r} is a {type(value).__name__}, not a list")
    for item in items:
        if type(item) is not _PYTHON[kind_of]:
            raise ReprlabError(f"{where}: column {name!r} holds a {type(item).__name__}, expected {kind_of}")


def _check_labels(row: dict[str, Any], kind: str, labels: list[str], where: str) -> None:
    if kind not in LABELLED_KINDS:
        return
    given = row[_LABEL_LISTS[kind]] if kind in _LABEL_LISTS else [row["label"]]
    outside = [label for label in given if label not in labels]
    if outside:
        raise ReprlabError(f"{where}: label {outside[0]!r} is outside the label set {labels}")
    if kind == "tags" and len(row["tags"]) != len(row["tokens"]):
        raise ReprlabError(f"{where}: {len(row['tokens'])} tokens but {len(row['tags'])} tags")


def write_rows(path: Path, rows: Iterable[dict[str, Any]], kind: str, metadata: dict[str, Any]) -> None:
    """Write checked rows as Parquet of the declared schema, with `metadata` as JSON under the key `reprlab`.

    Rows are written as they come, a batch at a time, so that a corpus need not fit in memory.
    """
    import pyarrow
    import pyarrow.parquet

    text = json.dumps(metadata, sort_keys=True, ensure_ascii=False).encode("utf-8")
    schema = schema_of(kind).with_metadata({METADATA_KEY: text})
    with atomic_file(path) as temporary, pyarrow.parquet.ParquetWriter(temporary, schema, compression="zstd") as writer:
        remaining = iter(rows)
        while batch := list(itertools.islice(remaining, _BATCH_ROWS)):
            writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))


def read_rows(path: Path, kind: str) -> tuple[pyarrow.Table, dict[str, Any]]:
    """Table and metadata of a file that `write_rows` wrote.

    Raises:
        ReprlabError: the columns are not those of `kind`.
    """
    table = read_parquet(path)
    expected = schema_of(kind)
    if table.schema.remove_metadata() != expected:
        raise ReprlabError(f"{path}: its columns are not those of {kind}; delete it and run again")
    return table, read_metadata(path, table)


def read_metadata(path: Path, table: pyarrow.Table, needed: Iterable[str] = ()) -> dict[str, Any]:
    """The metadata that `write_rows` stored with `table`.

    Raises:
        ReprlabError: there is none, or none that has the names of `needed`.
    """
    text = (table.schema.metadata or {}).get(METADATA_KEY, b"")
    try:
        about = json.loads(text)
    except (ValueError, RecursionError):
        about = None
    if not isinstance(about, dict) or not set(needed) <= set(about):
        raise ReprlabError(f"{path}: has no readable metadata of this workflow; delete it and run again")
    return about
