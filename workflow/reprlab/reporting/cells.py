"""Cells of a benchmark table: one score of one fine-tuned checkpoint, with its interval and its trivial baseline."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.json_files import read_json
from reprlab.artifacts.tables import read_tsv
from reprlab.evaluation.bootstrap import learned
from reprlab.reporting.layouts import BenchmarkLayout, Checkpoint, Column, FinetunedRun
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import pandas

BASELINE = "baseline"


@dataclass(frozen=True)
class Cell:
    """One score. `low` and `high` bound its interval over examples; `n` counts them; `steps` and `tokens` are those of
    fine-tuning, `pretraining_tokens` those that the checkpoint had seen."""

    init: str
    model: str
    step: int | None
    seed: int | None
    column: str
    value: float
    low: float
    high: float
    n: int
    steps: int | None
    tokens: int | None
    pretraining_tokens: int | None
    learning_rate: float | None
    outside_labels: float | None
    baseline: str
    baseline_value: float | None
    learned: str
    data: str


def collect_cells(layout: BenchmarkLayout) -> list[Cell]:
    """Baselines first, then the runs in the layout's order.

    Raises:
        ReprlabError: a run lacks a checkpoint, a metric or a selected learning rate.
    """
    columns = [column for column in (*layout.columns, *layout.extra_columns) if column.task]
    cells = [cell for column in columns for cell in _baseline_cells(column)]
    trivial = {cell.column: cell for column in columns for cell in cells if _is_trivial(cell, column)}
    for run in layout.runs:
        for column in columns:
            if column.task == run.task:
                cells.extend(_run_cells(run, column, trivial.get(column.name)))
    return cells


def cells_frame(cells: list[Cell]) -> pandas.DataFrame:
    """The cells as a table with one row each."""
    import pandas

    frame = pandas.DataFrame([asdict(cell) for cell in cells], columns=list(Cell.__dataclass_fields__))
    integers = ["step", "seed", "n", "steps", "tokens", "pretraining_tokens"]
    return frame.astype(dict.fromkeys(integers, "Int64"))


def _is_trivial(cell: Cell, column: Column) -> bool:
    return cell.column == column.name and cell.model == column.trivial


def _baseline_cells(column: Column) -> Iterator[Cell]:
    if column.baselines is None:
        return
    rows = _matching(_tsv(column.baselines), column)
    for _, row in rows.drop_duplicates("name").iterrows():
        yield Cell(
            init=BASELINE,
            model=str(row["name"]),
            step=None,
            seed=None,
            column=column.name,
            value=float(row["value"]),
            low=float(row["low"]),
            high=float(row["high"]),
            n=int(row["n"]),
            steps=None,
            tokens=None,
            pretraining_tokens=None,
            learning_rate=None,
            outside_labels=None,
            baseline="",
            baseline_value=None,
            learned="",
            data=column.data,
        )


def _run_cells(run: FinetunedRun, column: Column, trivial: Cell | None) -> Iterator[Cell]:
    for checkpoint in run.checkpoints:
        row = selected_row(run, checkpoint, column)
        low = float(row["low"])
        judged = trivial if run.trained else None
        yield Cell(
            init=run.init,
            model=run.model,
            step=checkpoint.step,
            seed=run.seed,
            column=column.name,
            value=float(row["value"]),
            low=low,
            high=float(row["high"]),
            n=int(row["n"]),
            steps=int(row["steps"]),
            tokens=int(row["tokens"]),
            pretraining_tokens=_pretraining_tokens(run, checkpoint),
            learning_rate=float(row["learning_rate"]),
            outside_labels=_optional(row.get("outside_labels")),
            baseline=judged.model if judged else "",
            baseline_value=judged.value if judged else None,
            learned=learned(low, judged.value) if judged else "",
            data=column.data,
        )


def selected_row(run: FinetunedRun, checkpoint: Checkpoint, column: Column) -> pandas.Series:
    """The metrics row of a checkpoint at its selected learning rate.

    Raises:
        ReprlabError: there is none, or several without a selection.
    """
    import pandas

    frame = pandas.concat([_tsv(path) for path in run.metrics], ignore_index=True)
    rows = _matching(frame, column)
    rows = rows[rows["name"] == checkpoint.name]
    if run.selection is not None:
        rows = rows[rows["learning_rate"] == selected_rate(run.selection, checkpoint.name)]
    if len(rows) != 1:
        where = ", ".join(str(path) for path in run.metrics)
        raise ReprlabError(
            f"{where}: {len(rows)} rows of {column.metric} on {column.split} for {checkpoint.name}, one is needed; "
            "delete the files and run again"
        )
    return rows.iloc[0]


def _matching(frame: pandas.DataFrame, column: Column) -> pandas.DataFrame:
    chosen = (frame["metric"] == column.metric) & (frame["split"] == column.split)
    chosen &= frame["subset"].isna() if not column.subset else frame["subset"] == column.subset
    if column.eval_mode:
        chosen &= frame["eval_mode"].isin([column.eval_mode, BASELINE])
    return frame[chosen]


def _pretraining_tokens(run: FinetunedRun, checkpoint: Checkpoint) -> int | None:
    if run.pretraining is None:
        return None
    frame = _tsv(run.pretraining)
    rows = frame[frame["step"] <= checkpoint.step]
    return int(rows["tokens"].iloc[-1]) if len(rows) else 0


def _optional(value: Any) -> float | None:
    import pandas

    return None if value is None or pandas.isna(value) else float(str(value))


def selected_rate(path: Path, name: str) -> float:
    """The learning rate that was selected for a checkpoint.

    Raises:
        ReprlabError: the file selects none.
    """
    selection = read_json(path)
    try:
        return float(selection["best"][name]["learning_rate"])
    except (KeyError, TypeError):
        raise ReprlabError(f"{path}: selects no learning rate for {name}; delete it and run again") from None


@functools.cache
def _tsv(path: Path) -> pandas.DataFrame:
    # One ladder's file holds the rows of many cells.
    return read_tsv(path)
