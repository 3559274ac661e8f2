"""Flow of features from model to model: which persist, emerge or disappear, and which are universal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from reprlab.features.correlation import Correlations

Match = Literal["many", "mutual"]
MATCHES: tuple[Match, ...] = ("many", "mutual")


def kept_parents(found: Correlations, threshold: float, match: Match) -> np.ndarray:
    """[K] bool: features of the first model that persist: their best correlation reaches the threshold.

    `mutual` counts only features that are each other's best partners, one to one.
    """
    with np.errstate(invalid="ignore"):
        kept = found.best_child_r >= threshold
    return kept & found.mutual() if match == "mutual" else kept


def matched_children(found: Correlations, threshold: float, match: Match) -> np.ndarray:
    """[M] bool: features of the second model that have a partner in the first; the other alive ones emerge."""
    with np.errstate(invalid="ignore"):
        matched = found.best_parent_r >= threshold
    if match == "mutual":
        matched = np.zeros_like(matched)
        matched[found.best_child[kept_parents(found, threshold, match)]] = True
    return matched


def edge_counts(found: Correlations, threshold: float, match: Match) -> dict[str, float]:
    """What becomes of the features of one model in another; shares are of alive features, in percent.

    persisting + disappeared = parent_alive and matched + emerged = child_alive, always.
    """
    parents, children = int(found.parent_alive.sum()), int(found.child_alive.sum())
    persisting = int(kept_parents(found, threshold, match).sum())
    matched = int(matched_children(found, threshold, match).sum())
    return {
        "parent_alive": parents,
        "child_alive": children,
        "persisting": persisting,
        "disappeared": parents - persisting,
        "matched": matched,
        "emerged": children - matched,
        "share_parent": 100 * persisting / parents if parents else float("nan"),
        "share_child": 100 * matched / children if children else float("nan"),
    }


def merged_sources(links: Sequence[Correlations], threshold: float, match: Match) -> dict[str, int]:
    """Alive features of a merged model by the parents that they come from: `first`, `second`, `both`, `emerged`.

    Args:
        links: correlations of the two parents with the merged model.
    """
    first, second = (matched_children(link, threshold, match) for link in links)
    alive = links[0].child_alive
    return {
        "first": int((first & ~second).sum()),
        "second": int((second & ~first).sum()),
        "both": int((first & second).sum()),
        "emerged": int((alive & ~first & ~second).sum()),
    }


def universal_features(
    to_children: Mapping[str, Correlations], to_merged: Mapping[str, Correlations], threshold: float, match: Match
) -> np.ndarray:
    """[n, 2] features of base and merged model that are joined by a chain through every child.

    A chain is base - child - merged with both links at the threshold; `mutual` takes links between best partners only.

    Args:
        to_children: correlations of the base with each child.
        to_merged: those of each child with the merged model, under the same names.
    """
    import scipy.sparse

    joined = None
    for name, down in to_children.items():
        one, two = _links(down, threshold, match), _links(to_merged[name], threshold, match)
        reached = scipy.sparse.csr_array((one @ two) > 0)
        joined = reached if joined is None else joined.multiply(reached)
    assert joined is not None, "a lineage has a child"
    found = scipy.sparse.coo_array(joined)
    found.eliminate_zeros()
    return np.unique(np.stack([found.row, found.col], axis=1), axis=0)


def _links(found: Correlations, threshold: float, match: Match) -> Any:
    """[K, M] sparse: pairs at the threshold."""
    import scipy.sparse

    if match == "mutual":
        rows = np.flatnonzero(kept_parents(found, threshold, match))
        columns = found.best_child[rows]
    else:
        above = found.r >= threshold
        rows, columns = found.parents[above], found.children[above]
    shape = (len(found.best_child), len(found.best_parent))
    return scipy.sparse.csr_array((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=shape)
