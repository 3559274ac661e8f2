"""Checks that records of any paper may name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reprlab.reporting.audit_given import Given


def parameters(given: Given, *, model: str, tied: str = "") -> int:
    """Parameters of a model of the registry, on the meta device; `tied` (yes, no) counts that form of its output."""
    from reprlab.models.counting import parameter_count

    entry = given.entry(model)
    return parameter_count(entry.model_copy(update={"tie_output": tied == "yes"}) if tied else entry)


def stated(given: Given, *, quantity: str) -> str:
    """Another statement of the paper: two statements are compared."""
    return given.said[quantity]


def cell(given: Given, *, table: str, row: str, column: str) -> str:
    """A printed cell, by the values of its keys: what the text repeats."""
    return given.cells[table][row][column]
