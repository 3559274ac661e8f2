"""Comparison of the features of several models on one sample: counts of the flow, and the links behind them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.artifacts.tables import read_parquet
from reprlab.features.correlation import Correlations, correlate
from reprlab.features.flow import MATCHES, edge_counts, merged_sources, universal_features
from reprlab.features.quality import DEAD
from reprlab.features.settings import FeatureComparison, Pair
from reprlab.features.sparse import SparseFeatures

POSITIONS = ("all", "inner")
CHILDREN = "children"
"""Stands for both children as the parent of a merged model."""


@dataclass(frozen=True)
class Compared:
    """Rows of counts, and rows of links."""

    counts: list[dict[str, Any]]
    links: dict[str, list[Any]]


def compare_models(settings: FeatureComparison, inner: np.ndarray) -> Compared:
    """Correlate every pair, on all positions of the sample and on the inner ones.

    Args:
        settings: models, pairs, thresholds.
        inner: [positions] bool: those that are neither the first of a block nor between texts.

    Raises:
        ReprlabError: two models were encoded on different samples.
    """
    features = {name: SparseFeatures.load(model.features) for name, model in settings.models.items()}
    counts = list(_classes(settings, features))
    links: dict[str, list[Any]] = {name: [] for name in LINK_COLUMNS}
    for positions in POSITIONS:
        counted = inner if positions == "inner" else None
        found = {}
        for pair in settings.pairs:
            seed = settings.seed if pair.shuffled else None
            asked = settings.correlation.model_copy(update={"shuffle_seed": seed})
            one = correlate(features[pair.parent], features[pair.child], asked, counted)
            counts += list(_edges(settings, pair, positions, one))
            _extend(links, positions, pair, one)
            if not pair.control:
                found[pair.parent, pair.child] = one
        counts += list(_chains(settings, positions, found))
    return Compared(counts, links)


LINK_COLUMNS = ("positions", "control", "parent_model", "child_model", "parent", "child", "r", "best", "mutual")


def _extend(links: dict[str, list[Any]], positions: str, pair: Pair, found: Correlations) -> None:
    """The best partner of each feature of the parent, and every pair of the lineage from the floor on."""
    rows = np.flatnonzero(found.best_child >= 0)
    best = np.stack([rows, found.best_child[rows]], axis=1)
    r = found.best_child_r[rows]
    mutual = found.mutual()[rows]
    if not pair.control:
        others = found.best_child[found.parents] != found.children
        more = np.stack([found.parents[others], found.children[others]], axis=1)
        best = np.concatenate([best, more])
        r = np.concatenate([r, found.r[others]])
        mutual = np.concatenate([mutual, np.zeros(len(more), dtype=bool)])
    about = (positions, pair.control, pair.parent, pair.child)
    for name, value in zip(LINK_COLUMNS, about, strict=False):
        links[name] += [value] * len(best)
    links["parent"] += best[:, 0].tolist()
    links["child"] += best[:, 1].tolist()
    links["r"] += r.tolist()
    links["best"] += [True] * len(rows) + [False] * (len(best) - len(rows))
    links["mutual"] += mutual.tolist()


def _row(positions: str, control: str, parent: str, child: str, threshold: float, match: str) -> dict[str, Any]:
    about = {"positions": positions, "control": control, "parent": parent, "child": child}
    return {**about, "threshold": threshold, "match": match}


def _edges(settings: FeatureComparison, pair: Pair, positions: str, found: Correlations) -> Iterator[dict[str, Any]]:
    for threshold in settings.thresholds:
        for match in MATCHES:
            about = _row(positions, pair.control, pair.parent, pair.child, threshold, match)
            for metric, value in edge_counts(found, threshold, match).items():
                yield {**about, "metric": metric, "value": value}


def _chains(
    settings: FeatureComparison, positions: str, found: dict[tuple[str, str], Correlations]
) -> Iterator[dict[str, Any]]:
    down = {name: found[settings.base, name] for name in settings.children}
    up = {name: found[name, settings.merged] for name in settings.children}
    alive = int(next(iter(down.values())).parent_alive.sum())
    for threshold in settings.thresholds:
        for match in MATCHES:
            about = _row(positions, "", CHILDREN, settings.merged, threshold, match)
            for source, value in merged_sources(list(up.values()), threshold, match).items():
                yield {**about, "metric": f"from_{source}" if source != "emerged" else source, "value": value}
            pairs = universal_features(down, up, threshold, match)
            universal = len(np.unique(pairs[:, 0]))
            about = _row(positions, "", settings.base, settings.merged, threshold, match)
            share = 100 * universal / alive if alive else float("nan")
            for metric, number in (("universal", universal), ("universal_share", share)):
                yield {**about, "metric": metric, "value": number}


def _classes(settings: FeatureComparison, features: dict[str, SparseFeatures]) -> Iterator[dict[str, Any]]:
    """Alive, dead and not observed features of each model: dead ones fire on no held-out text of its own mixture."""
    for name, model in settings.models.items():
        fired = np.bincount(features[name].values.indices, minlength=features[name].values.shape[1])
        alive = fired > settings.correlation.least_positions
        dead = np.zeros_like(alive) if model.densities is None else _densities(model.densities) < DEAD
        about = _row("all", "", name, "", float("nan"), "")
        counted = {"alive": alive, "dead": dead & ~alive, "unobserved": ~dead & ~alive}
        for metric, which in counted.items():
            yield {**about, "metric": metric, "value": int(which.sum())}


def _densities(path: Path) -> np.ndarray:
    return read_parquet(path, ["density"])["density"].to_numpy()


def best_links(
    path: Path, parent: str, child: str, positions: str = "all"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features of the parent, the best partner of each in the child, their correlation, of a link of the lineage."""
    table = read_parquet(path).to_pandas()
    wanted = {"positions": positions, "control": "", "parent_model": parent, "child_model": child, "best": True}
    for name, value in wanted.items():
        table = table[table[name] == value]
    return table["parent"].to_numpy(), table["child"].to_numpy(), table["r"].to_numpy()
