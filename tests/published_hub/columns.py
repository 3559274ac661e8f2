"""Rows of made-up text in the published columns and types, and the files that hold them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from collections.abc import Callable
from typing import Any

import pyarrow
import pyarrow.parquet

from tests.published_hub import texts

ROWS = 50

Column = str | list[Any] | dict[str, Any]
"""A column as the table has it: a word of `_VALUES` with its arguments, a list of one such word and the number of its
items, `{one_of: [...]}`, `{exactly: ...}`, a conversation of `{turns: N}`, numbers of labels `{class: [...]}`, whose
names stand in the metadata of Parquet, or a mapping, which is a structure."""


def _class(rng: random.Random, number: int, count: str) -> int:
    # Each label comes as often as any other.
    return number % int(count)


_VALUES: dict[str, tuple[Callable[..., Any], pyarrow.DataType]] = {
    "sentence": (lambda rng, number: texts.sentence(rng), pyarrow.string()),
    "passage": (lambda rng, number: texts.passage(rng), pyarrow.string()),
    "abstract": (lambda rng, number: texts.abstract(rng), pyarrow.string()),
    "long": (lambda rng, number: "\n\n".join(texts.passage(rng, 12) for _ in range(4)), pyarrow.string()),
    "word": (lambda rng, number: rng.choice(texts.WORDS[2:]), pyarrow.string()),
    "words": (lambda rng, number: " ".join(rng.choices(texts.WORDS[2:], k=3)), pyarrow.string()),
    "code": (lambda rng, number: _code(rng), pyarrow.string()),
    "name": (lambda rng, number, stem="row": f"{stem}-{number}", pyarrow.string()),
    "constant": (lambda rng, number, text="": text, pyarrow.string()),
    "none": (lambda rng, number: None, pyarrow.string()),
    "class": (_class, pyarrow.int64()),
    "text_class": (lambda rng, number, count, first="0": str(int(first) + number % int(count)), pyarrow.string()),
    "row": (lambda rng, number: number, pyarrow.int64()),
    "row32": (lambda rng, number: number, pyarrow.int32()),
    "int": (lambda rng, number, low, high: rng.randint(int(low), int(high)), pyarrow.int64()),
    "int32": (lambda rng, number, low, high: rng.randint(int(low), int(high)), pyarrow.int32()),
    "float": (lambda rng, number, low, high: round(rng.uniform(float(low), float(high)), 2), pyarrow.float64()),
    "float32": (lambda rng, number, low, high: round(rng.uniform(float(low), float(high)), 2), pyarrow.float32()),
    "yes_no": (lambda rng, number: number % 2 == 0, pyarrow.bool_()),
}


def _code(rng: random.Random) -> str:
    name, other = rng.sample(texts.WORDS[2:], 2)
    lines = [f"def {name}({other}):", f'    """{texts.sentence(rng)}"""']
    lines += [f"    {rng.choice(texts.WORDS[2:])} = {other} + {rng.randint(0, 9)}" for _ in range(6)]
    return "\n".join([*lines, f"    return {other}", ""])


def _message(role: str, rng: random.Random) -> dict[str, str]:
    return {"role": role, "content": texts.passage(rng, 2)}


def value(column: Column, rng: random.Random, number: int) -> Any:
    """The value of a column in a row."""
    if isinstance(column, list):
        kind, count = column
        return [value(kind, rng, number * int(count) + place) for place in range(int(count))]
    if isinstance(column, dict):
        if "one_of" in column:
            return column["one_of"][number % len(column["one_of"])]
        if "exactly" in column:
            return column["exactly"]
        if "class" in column:
            return number % len(column["class"])
        if "turns" in column:
            # A conversation; every fifth one begins with a message of the system.
            opening = [_message("system", rng)] if number % 5 == 4 else []
            return opening + [_message(("user", "assistant")[turn % 2], rng) for turn in range(column["turns"])]
        return {name: value(kind, rng, number) for name, kind in column.items()}
    word, *given = column.split(" ", 1)
    make, _ = _VALUES[word]
    arguments = given[0].split(" ") if given and word not in ("constant", "name") else given
    return make(rng, number, *arguments)


def _type(column: Column) -> pyarrow.DataType:
    if isinstance(column, list):
        return pyarrow.list_(_type(column[0]))
    if isinstance(column, dict):
        if "one_of" in column or "exactly" in column:
            return pyarrow.infer_type([column.get("exactly", column.get("one_of", [""])[0])])
        if "class" in column:
            return pyarrow.int64()
        if "turns" in column:
            return pyarrow.list_(pyarrow.struct([("role", pyarrow.string()), ("content", pyarrow.string())]))
        return pyarrow.struct([(name, _type(kind)) for name, kind in column.items()])
    return _VALUES[column.partition(" ")[0]][1]


def rows_of(columns: dict[str, Column], seed: str, count: int = ROWS) -> list[dict[str, Any]]:
    """Rows of a table; another seed gives others."""
    rng = random.Random(seed)
    return [{name: value(column, rng, number) for name, column in columns.items()} for number in range(count)]


def table_of(columns: dict[str, Column], rows: list[dict[str, Any]]) -> pyarrow.Table:
    """The rows in the published types."""
    schema = pyarrow.schema([(name, _type(column)) for name, column in columns.items()])
    labels = {
        name: column["class"] for name, column in columns.items() if isinstance(column, dict) and "class" in column
    }
    return told(pyarrow.Table.from_pylist(rows, schema=schema), labels)


def told(table: pyarrow.Table, labels: dict[str, list[str]]) -> pyarrow.Table:
    """The table with the names of its labels, alone or in lists, in the metadata that `datasets` writes."""
    if not labels:
        return table
    features: dict[str, Any] = {}
    for field in table.schema:
        listed = pyarrow.types.is_list(field.type)
        kind = str(field.type.value_type if listed else field.type)
        names = labels.get(field.name)
        own = {"names": names, "_type": "ClassLabel"} if names else {"dtype": kind, "_type": "Value"}
        features[field.name] = {"feature": own, "_type": "List"} if listed else own
    return table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})


def file_of(name: str, columns: dict[str, Column], seed: str, count: int = ROWS) -> bytes:
    """A file of such rows, in the form that its name tells."""
    rows = rows_of(columns, seed, count)
    if name.endswith(".parquet"):
        return parquet(table_of(columns, rows))
    if name.endswith(".csv"):
        text = io.StringIO()
        writer = csv.DictWriter(text, list(columns))
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue().encode()
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    return zipped(content) if name.endswith(".gz") else content


def parquet(table: pyarrow.Table) -> bytes:
    """A Parquet file."""
    written = io.BytesIO()
    pyarrow.parquet.write_table(table, written)
    return written.getvalue()


def zipped(content: bytes) -> bytes:
    """The same bytes on every day."""
    return gzip.compress(content, mtime=0)
