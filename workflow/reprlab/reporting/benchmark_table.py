"""A benchmark table in the paper's own columns, followed by where each number comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reprlab.reporting.cells import BASELINE, Cell, collect_cells
from reprlab.reporting.layouts import BenchmarkLayout, Column

if TYPE_CHECKING:
    import pandas

_KEYS = ("init", "model", "step", "seed")


def benchmark_table(layout: BenchmarkLayout) -> pandas.DataFrame:
    """One row per checkpoint and seed, baselines first.

    Columns: init, model, step, the paper's columns, further columns; then scale, seed, `n` (examples scored), `steps`
    and `tokens` (of fine-tuning), all three summed over the filled columns, `pretraining_tokens`, `data_<column>`,
    `low_<column>` and `high_<column>` (interval over examples), `learned_<column>` and `note`.
    """
    import pandas

    columns = [*layout.columns, *layout.extra_columns]
    grouped: dict[tuple, dict[str, Cell]] = {}
    for cell in collect_cells(layout):
        grouped.setdefault((cell.init, cell.model, cell.step, cell.seed), {})[cell.column] = cell
    frame = pandas.DataFrame([_row(key, cells, columns, layout.scale) for key, cells in grouped.items()])
    frame = frame.reindex(columns=_header(columns))
    integers = ["step", "seed", "n", "steps", "tokens", "pretraining_tokens"]
    return frame.astype(dict.fromkeys(integers, "Int64"))


def _header(columns: Sequence[Column]) -> list[str]:
    names = [column.name for column in columns]
    about = [f"{kind}_{name}" for kind in ("data", "low", "high", "learned") for name in names]
    return [*_KEYS[:3], *names, "scale", "seed", "n", "steps", "tokens", "pretraining_tokens", *about, "note"]


def _row(key: tuple, cells: dict[str, Cell], columns: Sequence[Column], scale: str) -> dict[str, object]:
    row: dict[str, object] = {**dict(zip(_KEYS, key, strict=True)), "scale": scale}
    found = list(cells.values())
    row["n"] = sum(cell.n for cell in found)
    for name in ("steps", "tokens"):
        values = [getattr(cell, name) for cell in found if getattr(cell, name) is not None]
        row[name] = sum(values) if values else None
    row["pretraining_tokens"] = next((c.pretraining_tokens for c in found if c.pretraining_tokens is not None), None)
    for column in columns:
        cell = cells.get(column.name)
        row[f"data_{column.name}"] = column.data
        if cell is not None:
            row[column.name] = cell.value
            row[f"low_{column.name}"], row[f"high_{column.name}"] = cell.low, cell.high
            row[f"learned_{column.name}"] = cell.learned
    row["note"] = _note(key[0], cells, columns)
    return row


def _note(init: str, cells: dict[str, Cell], columns: Sequence[Column]) -> str:
    notes = [
        f"{column.name}: {column.reason or 'no data'}"
        for column in columns
        if not column.task or (column.name not in cells and column.reason)
    ]
    if init != BASELINE:
        absent = [column.name for column in columns if column.task and column.name not in cells]
        notes += [f"{name}: not run for this row" for name in absent]
        notes += [
            f"{cell.column}: {cell.outside_labels:.0%} of the predictions are no label"
            for cell in cells.values()
            if cell.outside_labels
        ]
        against = sorted({cell.baseline for cell in cells.values() if cell.baseline})
        notes += [f"learned: lower end of the 95% interval above the {name} row" for name in against]
    return "; ".join(notes)
