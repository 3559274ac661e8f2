"""Tables of the paper on intrinsic dimension: which function builds which."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reprlab.papers.intrinsic_dimension.layouts import Grid, GridLayout
from reprlab.papers.intrinsic_dimension.measures import Frame
from reprlab.papers.intrinsic_dimension.tables_accuracy import accuracy_cells, accuracy_table
from reprlab.papers.intrinsic_dimension.tables_dimension import (
    auc_table,
    heatmap_table,
    layer_table,
    precision_table,
    scatter_table,
)
from reprlab.papers.intrinsic_dimension.tables_dynamics import icl_table, sft_table
from reprlab.papers.intrinsic_dimension.tables_seeds import seeds_table
from reprlab.reporting.layouts import read_layout
from reprlab.runtime.errors import ReprlabError

TABLES: dict[str, Callable[[Grid], Frame]] = {
    "accuracy": accuracy_table,
    "accuracy_cells": accuracy_cells,
    "id_layers": layer_table,
    "auc": auc_table,
    "auc_heatmap": heatmap_table,
    "sft_dynamics": sft_table,
    "icl_dynamics": icl_table,
    "icl_unique": icl_table,
    "twonn_vs_mle": scatter_table,
    "precision": precision_table,
    "seeds": seeds_table,
}


def build_table(table: str, layout: str, inputs: list[Path]) -> Frame:
    """Build a table from a `GridLayout`, given as JSON.

    Raises:
        ReprlabError: no such table, a layout that is not valid, or one that names a file which is no input.
    """
    if table not in TABLES:
        raise ReprlabError(f"{table}: intrinsic-dimension has no such table; it has {', '.join(TABLES)}")
    return TABLES[table](read_grid(layout, inputs, table))


def read_grid(layout: str, inputs: list[Path], what: str) -> Grid:
    """The grid of a `GridLayout`.

    Raises:
        ReprlabError: it is not valid or names a file that is no input.
    """
    return read_layout(GridLayout, layout, inputs, what, GridLayout.paths).grid()
