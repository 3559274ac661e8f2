"""Runs as files of columns (Arrow): written as they are found, and mapped into memory when they are read.

A hit takes the bytes of its document's id and eight more, on disk and for all processes that read it together, where a
dictionary takes some 120 in each: at the size of MS MARCO's training queries tens of gigabytes.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reprlab.retrieval.trec import Run, ordered
from reprlab.runtime.errors import ReprlabError, first_line, raise_if_machine_is_short, told_in_one_line

ENDING = "arrow"
"""Of the name of a run's file."""


class StoredRun(Mapping[str, dict[str, float]]):
    """A run of a file: the hits of a query are read when they are asked for, best first as trec_eval orders them."""

    def __init__(self, table: Any) -> None:
        """
        Args:
            table: the columns query, documents and scores, lists of the hits of each query.
        """
        self._documents, self._scores = table.column("documents"), table.column("scores")
        self._rows = {name: row for row, name in enumerate(table.column("query").to_pylist())}

    def __getitem__(self, query: str) -> dict[str, float]:
        row = self._rows[query]
        return dict(zip(*(column[row].values.to_pylist() for column in (self._documents, self._scores)), strict=True))

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, query: object) -> bool:
        return query in self._rows


@contextlib.contextmanager
def run_writer(path: Path, tag: str) -> Iterator[Callable[[Run], None]]:
    """A function that writes some queries with their hits behind those before, scores in single precision.

    A query without hits leaves nothing in the file.

    Args:
        tag: name of what ranked, kept beside the columns.
    """
    import pyarrow

    hits = [("query", pyarrow.string()), ("documents", pyarrow.list_(pyarrow.string())),
            ("scores", pyarrow.list_(pyarrow.float32()))]  # fmt: skip
    schema = pyarrow.schema(hits, metadata={"tag": tag})
    with pyarrow.OSFile(str(path), "wb") as sink, pyarrow.ipc.new_file(sink, schema) as file:

        def write(run: Run) -> None:
            best = {query: ordered(scores) for query, scores in run.items() if scores}
            names: list[str] = []
            scores: list[float] = []
            offsets = [0]
            for query, documents in best.items():
                names += documents
                scores += map(run[query].__getitem__, documents)
                offsets.append(len(names))
            columns = [pyarrow.array(names, pyarrow.string()), pyarrow.array(scores, pyarrow.float32())]
            lists = [pyarrow.ListArray.from_arrays(pyarrow.array(offsets, pyarrow.int32()), one) for one in columns]
            file.write_batch(pyarrow.record_batch([pyarrow.array(list(best), pyarrow.string()), *lists], schema=schema))

        yield write


def write_run(path: Path, run: Run, tag: str) -> None:
    """Write a whole run; see `run_writer`."""
    with run_writer(path, tag) as write:
        write(run)


def read_run(path: Path) -> StoredRun:
    """Open a run; the file is mapped into memory.

    Raises:
        ReprlabError: it is not there, or is not a run.
    """
    return StoredRun(_table(path))


def _table(path: Path) -> Any:
    import pyarrow

    try:
        table = pyarrow.ipc.open_file(pyarrow.memory_map(str(path))).read_all()
    except (OSError, ValueError) as error:
        raise_if_machine_is_short(error)
        raise ReprlabError(f"{path}: not a readable run ({first_line(error)}); delete it and run again") from None
    if table.column_names != ["query", "documents", "scores"]:
        raise ReprlabError(f"{path}: not a run, its columns are {', '.join(table.column_names)}")
    return table


def trec_lines(path: Path) -> Iterator[str]:
    """The run as lines `query Q0 document rank score tag`; scores keep all digits of a float32.

    Raises:
        ReprlabError: as of `read_run`, or an id has white space, which the form cannot hold.
    """
    from reprlab.data.text_files import blank_cells

    table = _table(path)
    tag = table.schema.metadata[b"tag"].decode()
    for query, hits in StoredRun(table).items():
        for rank, (document, score) in enumerate(hits.items(), start=1):
            if len(blank_cells(f"{query} {document}")) != 2 or "\n" in f"{query}{document}":
                raise ReprlabError(f"{path}: ids {query!r} and {document!r} must be words without white space")
            yield f"{query} Q0 {document} {rank} {score:.9g} {tag}"


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Print a run in TREC's form; 1 with one line where that cannot be."""
    parser = argparse.ArgumentParser(prog="python -m reprlab.retrieval.run_files", description=main.__doc__)
    parser.add_argument("run", type=Path, help="a file of a run, results/shared/…/<split>.arrow")
    given = parser.parse_args(arguments)
    for line in trec_lines(given.run):
        sys.stdout.write(f"{line}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
