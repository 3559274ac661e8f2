"""What is measured on a cell: accuracy, curve of dimensions, area under it; on all items and on halves of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.geometry.curves import Norm, normalised_auc
from reprlab.papers.intrinsic_dimension.layouts import Cell, Grid
from reprlab.runtime.errors import ReprlabError

# Frames of text and numbers; the type stubs of pandas have no word for what is done to them.
Frame = Any
KEYS = ["model", "dataset", "condition", "k", "step", "split", "dtype"]
NORMS: tuple[Norm, ...] = ("paper", "upstream", "upstream_heatmap")
ALL = "all"


def answers(cell: Cell) -> Frame:
    """Items of a cell: id, label, prediction, tokens.

    Raises:
        ReprlabError: the file lacks the cell's variant.
    """
    frame = read_parquet(cell.items, ["variant", "id", "label", "prediction", "tokens"]).to_pandas()
    return _variant(frame, cell, str(cell.items))


def curves(cells: Iterable[Cell]) -> Frame:
    """Estimates of every cell: its keys, then layer, items, estimator, id, spread, n_used, n_zero."""
    import pandas

    tables: dict[str, pandas.DataFrame] = {}
    parts = []
    for cell in cells:
        path = str(cell.dimensions)
        if path not in tables:
            tables[path] = read_tsv(cell.dimensions)
        rows = _variant(tables[path], cell, path)
        parts.append(
            rows.assign(experiment=cell.experiment, data=cell.data, **{key: getattr(cell, key) for key in KEYS})
        )
    if not parts:
        return pandas.DataFrame(columns=[*KEYS, "layer", "items", "estimator", "id", "spread", "n_used", "n_zero"])
    return pandas.concat(parts, ignore_index=True)


def areas(frame: Frame, norm: Norm) -> Frame:
    """Normalised AUC of every curve: keys, estimator, items, auc. NaN where a layer has no estimate."""
    keys = [*KEYS, "estimator", "items"]
    rows = []
    for values, curve in frame.groupby(keys, sort=False, dropna=False):
        dimensions = curve.sort_values("layer")["id"].tolist()
        rows.append((*values, normalised_auc(dimensions, norm)))
    return _frame(rows, [*keys, "auc"])


def accuracy_frame(grid: Grid) -> Frame:
    """Accuracy of every cell beside the most frequent class of its items, with intervals over items."""
    from collections import Counter

    from reprlab.evaluation.bootstrap import bootstrap_interval, learned

    rows = []
    for cell in grid.cells:
        items = answers(cell)
        gold, predicted = items["label"].tolist(), items["prediction"].tolist()
        accuracy = sum(a == b for a, b in zip(gold, predicted, strict=True)) / len(gold)
        low, high = bootstrap_interval("accuracy", gold, predicted, level=grid.confidence, seed=grid.seed)
        majority = max(Counter(gold).values()) / len(gold)
        rows.append(
            (
                *(getattr(cell, key) for key in KEYS),
                accuracy,
                low / 100,
                high / 100,
                majority,
                learned(low / 100, majority),
                len(gold),
                int(items["tokens"].sum()),
                cell.data,
            )
        )
    names = ["accuracy", "low", "high", "majority", "learned", "n", "tokens", "data"]
    return _frame(rows, [*KEYS, *names])


def _variant(frame: Frame, cell: Cell, path: str) -> Frame:
    rows = frame[frame["variant"] == cell.variant]
    if rows.empty:
        raise ReprlabError(f"{path}: has no variant {cell.variant}; delete it and run the same command again")
    return rows.drop(columns="variant")


def _frame(rows: list[tuple], columns: list[str]) -> Frame:
    import pandas

    return pandas.DataFrame(rows, columns=columns)
