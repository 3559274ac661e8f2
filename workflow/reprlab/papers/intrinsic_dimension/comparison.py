"""Which of our numbers stands beside which printed one. Figures of the paper print no numbers and have no rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reprlab.artifacts.tables import read_tsv
from reprlab.papers.intrinsic_dimension.measures import Frame
from reprlab.papers.intrinsic_dimension.published import PUBLISHED
from reprlab.reporting.comparison import Counterpart, compare_cells
from reprlab.reporting.published import read_published

_IN_THE_AUDIT = "a setting or a count: see the audit"


def compare(tables: Sequence[Path], published: Sequence[Path], scale: str) -> Frame:
    """Every printed cell once, with ours or the reason why there is none. `tables` are found by their file names."""
    ours = {path.stem: read_tsv(path) for path in tables}

    def lookup(table: str, row: Any, column: str) -> Counterpart:
        if table == "accuracy":
            return _accuracy(ours["accuracy"], row["dataset"], column, scale)
        return _statement(ours, row, scale)

    return compare_cells(read_published(published, PUBLISHED), PUBLISHED, lookup)


def _accuracy(ours: Frame, dataset: str, column: str, scale: str) -> Counterpart:
    found = ours[ours["dataset"] == dataset]
    if found.empty or found["data"].isna().all():
        return Counterpart("", f"no data for {dataset} at scale {scale}")
    if column not in found or found[column].isna().all():
        return Counterpart("", f"{column} is not run at scale {scale}")
    row = found.iloc[0]
    chance = f"most frequent class {row['majority']:.3f}"
    note = f"scale {scale}; mean of {row['models']} models; n={row['n']}; {chance}; data: {row['data']}"
    return Counterpart(f"{row[column]:.3f}", note)


def _statement(ours: dict[str, Frame], row: Any, scale: str) -> Counterpart:
    auc = ours["auc"].query("estimator == 'two_nn' and experiment == 'comparison'")
    quantity = row["quantity"]
    if quantity == "twonn_mle_pearson":
        scatter = ours["twonn_vs_mle"]
        return Counterpart(f"{scatter['pearson'].iloc[0]:.2f}", f"scale {scale}; {len(scatter)} points")
    if quantity == "auc_peak_k":
        return _peak(ours["icl_dynamics"], row, scale)
    if quantity == "icl_5_auc_range":
        values = auc.loc[auc["condition"] == "icl_5", _auc_column(auc)]
        if len(values) < 2:
            return Counterpart("", f"icl_5 has fewer than two AUCs at scale {scale}")
        return Counterpart(f"{values.max() - values.min():.2f}", f"scale {scale}; {len(values)} models and data sets")
    if quantity == "median_auc_peak":
        medians = auc.groupby("condition")[_auc_column(auc)].median()
        return Counterpart(str(medians.idxmax()), f"scale {scale}; median {medians.max():.2f}")
    if quantity == "peaks_that_align":
        return Counterpart("", "'near-peak' is not defined in the paper; claims.tsv has the distance in k")
    return Counterpart("", _IN_THE_AUDIT)


def _peak(ours: Frame, row: Any, scale: str) -> Counterpart:
    found = ours[(ours["model"] == row["model"]) & (ours["dataset"] == row["dataset"])]
    if found.empty:
        return Counterpart("", f"{row['model']} on {row['dataset']} is not run at scale {scale}")
    return Counterpart(str(int(found.loc[found[_auc_column(found)].idxmax(), "k"])), f"scale {scale}")


def _auc_column(frame: Frame) -> str:
    """The AUC by the definition that the run chose."""
    if "norm" in frame and len(frame):
        return f"auc_{frame['norm'].iloc[0]}"
    return next(name for name in ("auc_paper", "auc_upstream") if name in frame)
