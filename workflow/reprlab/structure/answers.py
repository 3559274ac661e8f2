"""The table of answers, between the stage that makes them and the one that scores them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas

    from reprlab.evaluation.examples import ExampleTable

COLUMNS = ("id", "task", "split", "source", "target", "prediction")


def write_answers(path: Path, table: ExampleTable, found: Sequence[str]) -> None:
    """Write what was asked and answered; targets are in the words of the formats."""
    import pyarrow

    from reprlab.artifacts.tables import write_parquet

    columns = {name: table.columns[name] for name in ("id", "task", "split", "source")}
    columns["target"] = [" ".join(texts[0].split()) for texts in table.columns["targets"]]
    columns["prediction"] = [" ".join(text.split()) for text in found]
    write_parquet(path, pyarrow.table({name: pyarrow.array(columns[name], pyarrow.string()) for name in COLUMNS}))


def read_answers(path: Path) -> pandas.DataFrame:
    """The answers.

    Raises:
        ReprlabError: the file is missing, damaged or lacks a column.
    """
    from reprlab.artifacts.tables import read_parquet
    from reprlab.runtime.errors import ReprlabError

    frame = read_parquet(path).to_pandas()
    if missing := [name for name in COLUMNS if name not in frame]:
        raise ReprlabError(f"{path}: no column {missing[0]}; delete it and run again")
    return frame
