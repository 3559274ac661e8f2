"""Correlation of the features of two models over the same positions (Li et al. 2015), block by block and sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reprlab.features.settings import CorrelationSettings
from reprlab.features.sparse import SparseFeatures
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import scipy.sparse

NONE = -1
# Share of numbers other than nought from which a side is multiplied as a full matrix, so many positions at once.
_DENSE, _ROWS = 0.2, 8192


@dataclass(frozen=True)
class Correlations:
    """The correlations that matter of K x M pairs.

    Attributes:
        best_child: [K] the feature of the second model that correlates highest with each of the first; -1 where the
            first is not alive, or the second model has none alive.
        best_child_r: [K] that correlation; NaN where there is none.
        best_parent: [M], and best_parent_r: [M]: the other way round.
        parents: [n], children: [n], r: [n]: the pairs from the floor on.
        parent_positions: [K] positions on which each feature of the first model fires; child_positions: [M].
        least_positions: alive are those that fire on more.
    """

    best_child: np.ndarray
    best_child_r: np.ndarray
    best_parent: np.ndarray
    best_parent_r: np.ndarray
    parents: np.ndarray
    children: np.ndarray
    r: np.ndarray
    parent_positions: np.ndarray
    child_positions: np.ndarray
    least_positions: int

    @property
    def parent_alive(self) -> np.ndarray:
        """[K] bool."""
        return self.parent_positions > self.least_positions

    @property
    def child_alive(self) -> np.ndarray:
        """[M] bool."""
        return self.child_positions > self.least_positions

    def mutual(self) -> np.ndarray:
        """[K] bool: features whose best partner's best partner they are."""
        found = self.best_child != NONE
        found[found] = self.best_parent[self.best_child[found]] == np.flatnonzero(found)
        return found

    def arrays(self) -> dict[str, np.ndarray]:
        """What is stored."""
        return {name: np.asarray(value) for name, value in vars(self).items()}

    @classmethod
    def of_arrays(cls, arrays: Any) -> Correlations:
        """What `arrays` gave."""
        values = {name: arrays[name] for name in cls.__dataclass_fields__}
        return cls(**{**values, "least_positions": int(values["least_positions"])})


def correlate(
    first: SparseFeatures, second: SparseFeatures, settings: CorrelationSettings, positions: np.ndarray | None = None
) -> Correlations:
    """Pearson correlation of every alive feature of `first` with every one of `second`, noughts included.

    Sums are float64. In memory lie the two sparse matrices and one block of correlations.

    Args:
        first: features of the one model on the sample.
        second: those of the other on the same sample.
        settings: which are alive, which pairs are kept, size of a block, permutation.
        positions: [positions] bool: which are counted; None counts all.

    Raises:
        ReprlabError: the samples differ.
    """
    if first.sample != second.sample or first.values.shape[0] != second.values.shape[0]:
        raise ReprlabError(
            f"features of the sample {first.sample} cannot be compared with those of {second.sample}: their positions "
            "are others; encode both on one sample"
        )
    one, two = _counted(first.values, positions), _counted(second.values, positions)
    if settings.shuffle_seed is not None:
        order = np.random.Generator(np.random.Philox(key=settings.shuffle_seed)).permutation(two.shape[0])
        two = two[order]
    left, right = _Side(one, settings.least_positions), _Side(two, settings.least_positions)
    best_child, best_child_r = _nothing(one.shape[1])
    best_parent, best_parent_r = _nothing(two.shape[1])
    pairs: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    if len(right.kept):
        highest = np.full(len(right.kept), -np.inf)
        owner = np.full(len(right.kept), NONE)
        for start in range(0, len(left.kept), settings.block):
            block = slice(start, start + settings.block)
            r = _block(left, right, block)
            rows = left.kept[block]
            places = r.argmax(axis=1)
            best_child[rows] = right.kept[places]
            best_child_r[rows] = r[np.arange(len(rows)), places]
            among = r.argmax(axis=0)
            peaks = r[among, np.arange(len(right.kept))]
            # Strictly: of equal partners the first stays, however the blocks are cut.
            higher = peaks > highest
            highest[higher], owner[higher] = peaks[higher], rows[among[higher]]
            above = np.nonzero(r >= settings.floor)
            pairs.append((rows[above[0]], right.kept[above[1]], r[above]))
        if len(left.kept):
            best_parent[right.kept], best_parent_r[right.kept] = owner, highest
    parents, children, r = (
        (np.concatenate(part) for part in zip(*pairs, strict=True)) if pairs else (np.empty(0) for _ in range(3))
    )
    return Correlations(
        best_child=best_child,
        best_child_r=best_child_r,
        best_parent=best_parent,
        best_parent_r=best_parent_r,
        parents=parents.astype(np.int64),
        children=children.astype(np.int64),
        r=r,
        parent_positions=left.positions,
        child_positions=right.positions,
        least_positions=settings.least_positions,
    )


def _nothing(size: int) -> tuple[np.ndarray, np.ndarray]:
    return np.full(size, NONE), np.full(size, np.nan)


def _counted(values: scipy.sparse.csr_array, positions: np.ndarray | None) -> Any:
    return (values if positions is None else values[np.flatnonzero(positions)]).astype(np.float64)


class _Side:
    """One model's alive features that are not constant, with their means and norms about them."""

    def __init__(self, values: Any, least_positions: int) -> None:
        rows = values.shape[0]
        columns = values.tocsc()
        self.positions = np.diff(columns.indptr).astype(np.int64)
        means = np.asarray(columns.sum(axis=0)).ravel() / max(rows, 1)
        squares = np.asarray(columns.multiply(columns).sum(axis=0)).ravel()
        variances = squares - rows * means**2
        # What is left of a constant feature is rounding.
        varied = variances > 1e-12 * np.maximum(squares, np.finfo(float).tiny)
        self.kept = np.flatnonzero((self.positions > least_positions) & varied)
        self.rows, self.means = rows, means[self.kept]
        self.norms = np.sqrt(variances[self.kept])
        self.columns = columns[:, self.kept]
        size = rows * len(self.kept)
        self.is_dense = size > 0 and self.columns.nnz > _DENSE * size


def _products(left: Any, right: _Side) -> np.ndarray:
    """Sums of products of the columns of two sides over all positions."""
    if not right.is_dense:
        return np.asarray((left.T @ right.columns).toarray())
    # Neurons are never nought: a product of matrices is a hundred times as fast as one of so full sparse ones.
    one, two = left.tocsr(), right.columns.tocsr()
    found = np.zeros((left.shape[1], two.shape[1]))
    for start in range(0, right.rows, _ROWS):
        rows = slice(start, start + _ROWS)
        found += one[rows].toarray().T @ two[rows].toarray()
    return found


def _block(left: _Side, right: _Side, block: slice) -> np.ndarray:
    """[features of the block, kept features of the right] float64."""
    products = _products(left.columns[:, block], right)
    products -= left.rows * np.outer(left.means[block], right.means)
    products /= left.norms[block, None]
    products /= right.norms
    return np.clip(products, -1, 1, out=products)
