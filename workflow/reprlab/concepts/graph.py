"""A knowledge graph as undirected neighbourhoods of its concepts, with integer ids throughout."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

UNREACHED = -1
_COLUMNS = ["concept", "neighbours"]


@dataclass(frozen=True)
class ConceptGraph:
    """Undirected, without self-loops and repeated edges.

    Attributes:
        concepts: names in ascending order, lower-case.
        adjacency: [concepts, concepts] symmetric, true at an edge.
    """

    concepts: list[str]
    adjacency: csr_matrix

    @property
    def degrees(self) -> np.ndarray:
        """[concepts] int64: neighbours of each."""
        return np.diff(self.adjacency.indptr).astype(np.int64)

    @classmethod
    def of_assertions(cls, assertions: Iterable[str]) -> ConceptGraph:
        """The graph of texts whose first line has concepts that are one another's neighbours (synonyms), with tabs
        between them, and whose further lines have concepts that are neighbours of all of the first line."""
        number: dict[str, int] = {}
        heads: list[int] = []
        tails: list[int] = []
        for text in assertions:
            first, *further = (
                [number.setdefault(name, len(number)) for name in line.split("\t")] for line in text.split("\n")
            )
            targets = list(dict.fromkeys([*first, *(one for line in further for one in line)]))
            for head in first:
                heads += [head] * len(targets)
                tails += targets
        return cls._of_edges(list(number), np.array(heads, dtype=np.int64), np.array(tails, dtype=np.int64))

    @classmethod
    def _of_edges(cls, names: list[str], heads: np.ndarray, tails: np.ndarray) -> ConceptGraph:
        order = sorted(range(len(names)), key=names.__getitem__)
        place = np.empty(len(names), dtype=np.int64)
        place[order] = np.arange(len(names))
        heads, tails = place[heads], place[tails]
        edges = heads != tails
        return cls([names[one] for one in order], _symmetric(heads[edges], tails[edges], len(names)))

    def save(self, path: Path) -> None:
        """Write Parquet with the columns concept, degree and neighbours (row numbers)."""
        import pyarrow

        from reprlab.artifacts.tables import write_parquet

        lists = pyarrow.ListArray.from_arrays(
            self.adjacency.indptr.astype(np.int32), self.adjacency.indices.astype(np.int32)
        )
        columns = {"concept": self.concepts, "degree": self.degrees, "neighbours": lists}
        write_parquet(path, pyarrow.table(columns))

    @classmethod
    def load(cls, path: Path) -> ConceptGraph:
        """Read what `save` wrote.

        Raises:
            ReprlabError: the file is not a graph.
        """
        from scipy.sparse import csr_matrix

        from reprlab.artifacts.tables import read_parquet

        table = read_parquet(path)
        if not set(_COLUMNS) <= set(table.column_names):
            raise ReprlabError(f"{path}: lacks the columns {' and '.join(_COLUMNS)}; delete it and run again")
        lists = table["neighbours"].combine_chunks()
        offsets, ids = np.asarray(lists.offsets), np.asarray(lists.values)
        size = table.num_rows
        adjacency = csr_matrix((np.ones(len(ids), dtype=bool), ids, offsets), shape=(size, size))
        return cls(table["concept"].to_pylist(), adjacency)

    def hubs(self, among: np.ndarray, limit: int) -> np.ndarray:
        """The `limit` concepts of highest degree among those marked in `among` [concepts], ties alphabetically.

        Returns:
            their ids, the highest degree first; fewer where fewer are marked.
        """
        ids = np.flatnonzero(among)
        return ids[np.argsort(-self.degrees[ids], kind="stable")][:limit]

    def distances(self, sources: np.ndarray, limit: int) -> np.ndarray:
        """[concepts] int16: edges from the nearest of `sources` (ids), `UNREACHED` beyond `limit`."""
        found = np.full(len(self.concepts), UNREACHED, dtype=np.int16)
        found[sources] = 0
        border = np.unique(sources)
        for distance in range(1, limit + 1):
            near = np.unique(self.adjacency[border].indices)
            border = near[found[near] == UNREACHED]
            found[border] = distance
        return found


def _symmetric(heads: np.ndarray, tails: np.ndarray, size: int) -> csr_matrix:
    from scipy.sparse import csr_matrix

    both = np.unique(np.concatenate([heads * size + tails, tails * size + heads]))
    rows, columns = np.divmod(both, size)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=size))])
    return csr_matrix((np.ones(len(columns), dtype=bool), columns, indptr), shape=(size, size))
