"""Findings of a check."""

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "note", "problem"]


@dataclass(frozen=True)
class Finding:
    """One checked thing."""

    check: str
    """setting, origin, model, data, scorer, tool, disk or memory."""
    subject: str
    """Subject of the check."""
    status: Status
    """problem: the run would fail or is likely to."""
    message: str
    """The finding, and the remedy of a problem."""
