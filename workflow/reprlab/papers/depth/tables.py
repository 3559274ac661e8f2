"""DEPTH's tables: which function builds which, from which layout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from reprlab.papers.depth.error_sample import error_sample
from reprlab.papers.depth.layouts import BenchmarkLayout, ErrorSampleLayout, LossLayout, MeansLayout
from reprlab.papers.depth.loss_tables import packing_table, validation_table, variant_table
from reprlab.papers.depth.summary_tables import means_table, scale_table
from reprlab.reporting.benchmark_table import benchmark_table
from reprlab.reporting.cells import cells_frame, collect_cells
from reprlab.reporting.layouts import read_layout
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import pandas


def _cells(layout: BenchmarkLayout) -> pandas.DataFrame:
    return cells_frame(collect_cells(layout)).assign(scale=layout.scale)


TABLES: dict[str, tuple[type[BaseModel], Callable[[Any], pandas.DataFrame]]] = {
    "glue": (BenchmarkLayout, benchmark_table),
    "discoeval": (BenchmarkLayout, benchmark_table),
    "ni": (BenchmarkLayout, benchmark_table),
    "glue_cells": (BenchmarkLayout, _cells),
    "discoeval_cells": (BenchmarkLayout, _cells),
    "ni_cells": (BenchmarkLayout, _cells),
    "table1": (MeansLayout, means_table),
    "table2_scale": (LossLayout, scale_table),
    "loss_fs": (LossLayout, validation_table),
    "loss_cpt": (LossLayout, validation_table),
    "loss_decomposition": (LossLayout, validation_table),
    "packing_lr": (LossLayout, packing_table),
    "sentence_weight": (LossLayout, variant_table),
    "padding_in_loss": (LossLayout, variant_table),
    "int8_bug": (LossLayout, variant_table),
    "error_sample": (ErrorSampleLayout, error_sample),
}


def build_table(table: str, layout: str, inputs: list[Path]) -> pandas.DataFrame:
    """Build a table from its layout, given as JSON (see `layouts`).

    Raises:
        ReprlabError: no such table, a layout that is not valid, or one that names a file which is no input.
    """
    if table not in TABLES:
        raise ReprlabError(f"{table}: depth has no such table; it has {', '.join(TABLES)}")
    model, build = TABLES[table]
    return build(read_layout(model, layout, inputs, table))
