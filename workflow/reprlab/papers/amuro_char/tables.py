"""The paper's tables: which function builds which, from which layout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.papers.amuro_char.layouts import AggregateLayout, HoursLayout, PerfLayout
from reprlab.papers.amuro_char.tables_changes import mrc_table, ood_table, perf_diff_table, unlabelled_table
from reprlab.papers.amuro_char.tables_curves import curves_table, fewshot_table, format_table
from reprlab.papers.amuro_char.tables_hours import hours_table
from reprlab.papers.amuro_char.tables_scores import perf_table, prediction_table
from reprlab.reporting.layouts import read_layout
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import pandas

AGGREGATES: dict[str, Callable[[AggregateLayout], pandas.DataFrame]] = {
    "table3_prediction_method": prediction_table,
    "table6_perf_diff": perf_diff_table,
    "mrc": mrc_table,
    "ood_change": ood_table,
    "unlabelled_gold": unlabelled_table,
    "format": format_table,
    "fig6_fewshot_base": fewshot_table,
    "curves": curves_table,
}
TABLES = ("perf", *AGGREGATES, "gpu_hours")


def build_table(table: str, layout: str, inputs: list[Path]) -> pandas.DataFrame:
    """Build a table from its layout, given as JSON (see `layouts`). `perf` reads every input.

    Raises:
        ReprlabError: no such table, a layout that is not valid, or one that names a file which is no input.
    """
    if table == "perf":
        return perf_table(read_layout(PerfLayout, layout, inputs, table), inputs)
    if table == "gpu_hours":
        return hours_table(read_layout(HoursLayout, layout, inputs, table))
    if table not in AGGREGATES:
        raise ReprlabError(f"{table}: amuro-char has no such table; it has {', '.join(TABLES)}")
    return AGGREGATES[table](read_layout(AggregateLayout, layout, inputs, table))
