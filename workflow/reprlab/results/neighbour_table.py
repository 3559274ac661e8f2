"""The table of neighbours: a row for each cell of the neighbours that papers declare."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reprlab.reporting.benchmarks import cpu_seconds
from reprlab.reporting.claims import NOT_TESTABLE
from reprlab.results.frame import Frame, Rows
from reprlab.results.neighbours import Cell, Neighbour, Side, verdict_of
from reprlab.results.records import PaperResults
from reprlab.results.sources import Value
from reprlab.statistics import Estimate

COLUMNS = (
    "paper", "measure", "method", "neighbour", "method_value", "neighbour_value", "better", "difference", "low", "high",
    "unit", "units", "margin", "verdict", "method_parameters", "neighbour_parameters", "method_cpu_seconds",
    "neighbour_cpu_seconds", "seeds", "claim", "data", "scale", "note",
)  # fmt: skip
_COUNTS = ("units", "method_parameters", "neighbour_parameters", "seeds")
_BOUNDS = ("difference", "low", "high", "units", "unit")


def neighbour_rows(
    slug: str, records: PaperResults, frame: Frame, cells: Mapping[str, Sequence[Cell]], benchmarks: Path
) -> Iterator[dict[str, Any]]:
    """A row for each cell of a paper's neighbours, in the order of its records; see `COLUMNS`.

    Args:
        cells: by id of the neighbour.
        benchmarks: folder of the engine's benchmark files.
    """
    for one in records.neighbours:
        for cell in cells[one.id]:
            costs = {
                f"{name}_cpu_seconds": cpu_seconds(benchmarks, files)
                for name, files in (("method", cell.method), ("neighbour", cell.rival))
            }
            yield {"paper": slug, **_row(one, records, frame.narrowed(dict(cell.at)), cell.at), **costs}


def _row(one: Neighbour, records: PaperResults, frame: Frame, at: Mapping[str, Value]) -> dict[str, Any]:
    judged = records.claim(one.claim).row(frame, records.unjudged)
    rows = frame.select(**one.rival.where)
    found: dict[str, Any] = {
        "measure": ", ".join([one.measure, *(f"{name} {value}" for name, value in at.items())]),
        "better": one.better,
        "margin": one.margin,
        "seeds": rows["seed"].nunique() or None,
        "claim": one.claim,
        "data": "; ".join(dict.fromkeys(rows["data"])),
        "scale": frame.scale,
        "note": judged["note"],
    }
    for name, side in (("method", one.method), ("neighbour", one.rival)):
        found |= {name: side.name, f"{name}_value": _value(side, frame), f"{name}_parameters": _parameters(side, frame)}
    if "estimate" not in judged:
        return found
    bounds = [judged[name] for name in ("estimate", "low", "high", "n_units", "unit")]
    found |= dict(zip(_BOUNDS, bounds, strict=True))
    if judged["verdict"] != NOT_TESTABLE:
        found["verdict"] = verdict_of(Estimate(*bounds), one.better, one.margin)
    return found


def _value(side: Side, frame: Frame) -> float | None:
    chosen = frame.narrowed(side.where)
    found = side.value(chosen) if len(chosen.select()) else math.nan
    return None if math.isnan(found) else found


def _parameters(side: Side, frame: Frame) -> int | None:
    if not side.sized:
        return None
    values = frame.select(**{"metric": "parameters", **side.sized})["value"]
    return round(values.mean()) if len(values) else None


def neighbours_table(rows: Sequence[Mapping[str, Any]]) -> Rows:
    """The table of all papers, with its columns where it has no row."""
    import pandas

    table = pandas.DataFrame(list(rows), columns=list(COLUMNS))
    return table.astype(dict.fromkeys(_COUNTS, "Int64"))
