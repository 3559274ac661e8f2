"""The audit: every check that needs neither training nor data nor network; `audit.yaml` says what the paper prints."""

from __future__ import annotations

from decimal import Decimal
from statistics import fmean, pstdev, stdev
from typing import Any

from reprlab.reporting.audit import Found, found, rounded
from reprlab.reporting.audit_given import Given
from reprlab.results.words import printed_of

TABLES = printed_of("reverse-probing").declarations()


def coincide(given: Given, *, first: str, second: str) -> Found:
    """5.4: cells that truncation to the last layer makes equal."""
    cells = given.cells["table1"]["coref"]
    return found(f"{cells[first]} and {cells[second]}", cells[first] == cells[second])


def over_seeds(given: Given, *, models: str, show: str) -> Decimal:
    """5.9: mean and deviation of the published values of the seeds, in percent."""
    values = [100 * float(value) for value in given.cells["seeds"][models].values() if value.startswith(".")]
    statistics: dict[str, Any] = {"mean": fmean, "sample": stdev, "population": pstdev}
    return rounded(statistics[show](values), 2)


def gain(given: Given, *, table: str, models: str, first: str, second: str) -> Decimal:
    """5.10: a printed cell less another one of the same row."""
    cells = given.cells[table][models]
    return Decimal(cells[first]) - Decimal(cells[second])


def seeds_logged(given: Given, *, models: str) -> int:
    """8.2: values of seeds behind a cell."""
    return sum(value.startswith(".") for value in given.cells["seeds"][models].values())


def pairs_above(given: Given, *, cell: str) -> Found:
    """8.8: pairs whose cell is above those of both sources."""
    singles = given.cells["table1"]
    rows = {name: Decimal(row[cell]) for name, row in given.cells["table2"].items()}
    below = [
        name for name, value in rows.items() if any(value <= Decimal(singles[one][cell]) for one in name.split("+"))
    ]
    return found(len(rows) - len(below), not below, off=", ".join(below) or "none", total=len(rows))


def best_cell(given: Given, *, models: str, cells: str) -> str:
    """8.8, 8.9: the highest of some cells of a single source."""
    row = given.cells["table1"][models]
    return max(cells.split(), key=lambda cell: Decimal(row[cell]))


def below_by_norm(given: Given) -> Found:
    """8.8: sources whose attention loses more than two points by normalisation."""
    drops = {
        name: Decimal(row["attention_full"]) - Decimal(row["attention_norm"])
        for name, row in given.cells["table1"].items()
    }
    large = [name for name, drop in drops.items() if drop > 2]
    shown = ", ".join(f"{name} {drop}" for name, drop in drops.items())
    return found(", ".join(large), set(large) == {"ner", "re", "bert", "coref"}, drops=shown)


def range_of(given: Given, *, end: str) -> Found:
    """8.10: lowest and highest mean_full of the sources without coreference."""
    values = {name: row["mean_full"] for name, row in given.cells["table1"].items() if name != "coref"}
    name = (min if end == "low" else max)(values, key=lambda one: Decimal(values[one]))
    return found(values[name], name=name)


def figure_against_table(given: Given, *, models: str) -> Found:
    """8.11: Figure 2 less Table 1."""
    figure, table = given.cells["figure2"][models]["f1"], given.cells["table1"][models]["mean_full"]
    return found(Decimal(figure) - Decimal(table), figure == table, figure=figure, table=table)


def layers_against_table(given: Given) -> Found:
    """8.2: layers of the log that are not what Table 1 prints for full and truncated."""
    best = {"mrpc": 9, "ner": 6, "re": 9, "qa": 8, "bert": 10, "coref": 12}
    off = []
    for name, layer in best.items():
        row, log = given.cells["table1"][name], given.cells["layers"][name]
        pairs = ((row["mean_full"], log["layer_12"]), (row["mean_trunc"], log[f"layer_{layer}"]))
        off += [name for printed, logged in pairs if printed != logged]
    return found(2 * len(best) - len(off), not off, off=", ".join(off) or "none", total=2 * len(best))
