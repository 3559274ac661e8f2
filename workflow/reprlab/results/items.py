"""Differences of scores over items that are drawn of all sides together: the paired bootstrap behind claims."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.tables import read_parquet
from reprlab.evaluation.paired_bootstrap import paired_bootstrap
from reprlab.results.sources import Items
from reprlab.runtime.errors import ReprlabError
from reprlab.statistics import Estimate

if TYPE_CHECKING:
    import numpy as np

_METHOD = "items drawn of all sides together (paired bootstrap), 95%"


def difference_over_items(sides: Sequence[Any], weights: Sequence[float], item: str) -> Estimate | None:
    """Weighted sum of the sides' scores, its interval over items that are drawn of all of them together.

    None where there is one score, where a row has no scores of its items, or where they are not the same items.

    Args:
        sides: rows of a frame; those of a side are averaged.
        weights: one of each side; 1 and -1 are a difference.
        item: what an item is, in the singular.

    Raises:
        ReprlabError: items are not those behind the score of their row.
    """
    import numpy as np

    shares = np.repeat([weight / len(side) for side, weight in zip(sides, weights, strict=True)], [*map(len, sides)])
    found = [_sums(row) for side in sides for _, row in side.iterrows()]
    known = [one for one in found if one is not None]
    if len(known) < max(2, len(found)) or any(set(one.index) != set(known[0].index) for one in known):
        return None
    table = np.concatenate([one.loc[known[0].index].to_numpy() for one in known], axis=1)

    def score(sums: np.ndarray) -> dict[str, np.ndarray]:
        part, whole = sums[..., ::2], sums[..., 1::2]
        each = np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)
        # Sides that are alike differ by nothing, and not by what rounding leaves.
        return {"": (each @ shares).round(9)}

    gap = paired_bootstrap(table, np.zeros_like(table), score)[""]
    return Estimate(gap.value, gap.low, gap.high, len(table), item, _METHOD)


def _sums(row: Any) -> Any:
    """[items, 2] whose sums over items, the first over the second, are the score of a row; None where none are kept."""
    import pandas

    # A side that a claim has computed of several rows has none.
    if not row.get("items"):
        return None
    about = Items.model_validate_json(row["items"])
    path = next(iter(sorted(about.path.glob("*.parquet"))), about.path)
    table = read_parquet(path).to_pandas()
    part, whole = about.counts.get(row["metric"], (row["metric"], ""))
    # Scores of a part of the split stand on items that the file has to tell apart.
    if part not in table or any(row[name] and name not in table for name in ("split", "subset")):
        return None
    same = {name: row[name] for name in table if name in row and pandas.notna(row[name]) and row[name] != ""}
    for name, value in {**same, **about.where}.items():
        table = table[table[name] == value]
    table = table.set_index(about.item)
    sums = table[[part]].assign(whole=table[whole] if whole else 1.0).astype(float)
    if whole:
        sums[part] *= 100
    total = sums.sum()
    score = total[part] / total["whole"] if total["whole"] else 0.0
    if sums.index.has_duplicates or not math.isclose(score, row["value"], rel_tol=1e-6, abs_tol=1e-6):
        reason = f"its {len(sums)} items make {row['metric']} {score:.6g}, and {row['source']} has {row['value']:.6g}"
        raise ReprlabError(f"{path}: {reason}; delete both and run again")
    return sums
