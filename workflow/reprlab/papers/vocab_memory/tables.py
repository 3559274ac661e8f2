"""The paper's tables: which function builds which, from which layout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from reprlab.papers.vocab_memory.counting_tables import reduction_table, sizes_table, trend_table, unseen_table
from reprlab.papers.vocab_memory.finetuning_tables import glue_table, runtime_table
from reprlab.papers.vocab_memory.layouts import (
    GlueLayout,
    ReductionLayout,
    RuntimeLayout,
    SizesLayout,
    TrendLayout,
    UnseenLayout,
)
from reprlab.reporting.layouts import read_layout
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import pandas

TABLES: dict[str, tuple[type[BaseModel], Callable[[Any], pandas.DataFrame]]] = {
    "table1_unseen_tokens": (UnseenLayout, unseen_table),
    "table2_reduction": (ReductionLayout, reduction_table),
    "table3_deberta_sizes": (ReductionLayout, reduction_table),
    "table4_xnli": (ReductionLayout, reduction_table),
    "table5_models": (SizesLayout, sizes_table),
    "table6_deberta": (SizesLayout, sizes_table),
    "table9_runtime": (RuntimeLayout, runtime_table),
    "table10_glue": (GlueLayout, glue_table),
    "fig2_vocab_trend": (TrendLayout, trend_table),
}


def build_table(table: str, layout: str, inputs: list[Path]) -> pandas.DataFrame:
    """Build a table from its layout, given as JSON (see `layouts`).

    Raises:
        ReprlabError: no such table, a layout that is not valid, or one that names a file which is no input.
    """
    if table not in TABLES:
        raise ReprlabError(f"{table}: vocab-memory has no such table; it has {', '.join(TABLES)}")
    model, build = TABLES[table]
    return build(read_layout(model, layout, inputs, table))
