"""Files of curricula: concepts a line, counts beside a graph, and blocks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow

from reprlab.artifacts.tables import read_parquet
from reprlab.data.text_files import text_rows
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import write_text

if TYPE_CHECKING:
    from reprlab.concepts.graph import ConceptGraph

_AGAIN = "delete it and run again"
BLOCK_COLUMNS: list[tuple[str, Any]] = [
    ("split", pyarrow.string()),
    ("input_ids", pyarrow.list_(pyarrow.int32())),
    ("token_types", pyarrow.list_(pyarrow.int16())),
    ("words", pyarrow.list_(pyarrow.string())),
    ("joined", pyarrow.list_(pyarrow.bool_())),
]
"""A file of blocks (see `blocks.Blocks`); the first three columns are those of a token file."""


def write_concepts(path: Path, concepts: Iterable[str]) -> None:
    """Write a concept a line."""
    write_text(path, "".join(f"{concept}\n" for concept in concepts))


def concept_lines(path: Path) -> list[str]:
    """The concepts of a file of `write_concepts`.

    Raises:
        ReprlabError: the file cannot be read.
    """
    try:
        return [row for _, row in text_rows(path)][:-1]
    except (OSError, ReprlabError) as error:
        raise ReprlabError(f"{path}: no list of concepts can be read there ({error}); {_AGAIN}") from None


def read_concepts(path: Path, graph: ConceptGraph) -> np.ndarray:
    """Ids of the concepts of a file, in its order; see `ids_of`."""
    return ids_of(concept_lines(path), graph, path)


def ids_of(concepts: list[str], graph: ConceptGraph, path: Path) -> np.ndarray:
    """[concepts] int64: their places in the graph.

    Raises:
        ReprlabError: the graph lacks one of them.
    """
    place = {concept: number for number, concept in enumerate(graph.concepts)}
    try:
        return np.fromiter((place[one] for one in concepts), dtype=np.int64, count=len(concepts))
    except KeyError as error:
        raise ReprlabError(f"{path}: {error.args[0]!r} is not a concept of the graph; {_AGAIN}") from None


def read_counts(path: Path, graph: ConceptGraph) -> np.ndarray:
    """[concepts] int64: the counts of `count_concepts`.

    Raises:
        ReprlabError: they are those of another graph.
    """
    table = read_parquet(path)
    if set(table.column_names) != {"concept", "count"} or table["concept"].to_pylist() != graph.concepts:
        raise ReprlabError(f"{path}: does not count the concepts of this graph; {_AGAIN}")
    return table["count"].to_numpy()
