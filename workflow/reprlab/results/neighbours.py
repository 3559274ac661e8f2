"""Published rivals of a paper's method, as records: what stands beside what, and the rule of their verdicts.

A neighbour is run in the paper's own protocol, and a claim of the paper says that it beats the paper's method. Its rows
of `neighbours.tsv` repeat that claim's difference and interval, with the value and the cost of each side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict

from reprlab.reporting.neighbours import AHEAD, BEHIND, LEVEL, NOT_TOLD_APART
from reprlab.results.frame import Choice, Frame
from reprlab.results.sources import Value
from reprlab.statistics import ABOVE_ZERO, BELOW_ZERO, SUPPORTED, Estimate, Rule


@dataclass(frozen=True)
class Side:
    """The paper's method, or its rival."""

    name: str
    """What people call it, with its source."""
    where: Mapping[str, Choice]
    """Its rows of the frame."""
    value: Callable[[Frame], float]
    """Its value on the measure, from the frame of these rows; NaN where they have none."""
    sized: Mapping[str, Choice] = field(default_factory=dict)
    """Rows with its number of parameters, in the mean: the metric `parameters`, unless they name another. Empty: no
    stage records it."""


@dataclass(frozen=True)
class Neighbour:
    """A rival beside the paper's method, on one measure."""

    id: str
    measure: str
    """What both values are, with its unit."""
    better: Literal["higher", "lower"]
    """Which value is better."""
    method: Side
    rival: Side
    claim: str
    """The claim that the rival beats the method; its statistic is the rival's value less the method's."""
    stages: tuple[str, ...]
    """Stages whose jobs, among all that a side's rows are made from, are its cost."""
    by: tuple[str, ...] = ()
    """Factors of which each combination is a row of its own."""
    margin: float | None = None
    """A difference as small as this matters to nobody; None: no difference is known to be that small."""


class Cell(BaseModel):
    """One row of a neighbour: the values of its factors, and the jobs that each side cost."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at: dict[str, Value] = {}
    """Values of `Neighbour.by`."""
    method: list[str] = []
    """Benchmark files of the method's jobs, `<stage>/<job>.tsv`."""
    rival: list[str] = []
    """Those of the rival's."""


class NeighbourSettings(BaseModel):
    """The rows of all papers. Times are not results, so the files with them are not inputs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    papers: dict[str, dict[str, list[Cell]]]
    """Cells by slug and id of the neighbour."""


def mean_value(frame: Frame) -> float:
    """The mean of all values of a side; NaN where it has none."""
    return float(frame.select()["value"].mean())


def verdict_of(estimate: Estimate, better: Literal["higher", "lower"], margin: float | None) -> str:
    """The verdict on a rival's value less the method's: the one rule for all neighbours.

    Level where the whole interval is inside the margin, whichever side of 0 it is on; else ahead or behind where the
    whole interval is on one side of 0; else, and where there is no interval, not told apart.

    Args:
        better, margin: as of `Neighbour`.
    """
    if margin is not None and Rule(-margin, margin).judge(estimate) == SUPPORTED:
        return LEVEL
    good, bad = (ABOVE_ZERO, BELOW_ZERO) if better == "higher" else (BELOW_ZERO, ABOVE_ZERO)
    if good.judge(estimate) == SUPPORTED:
        return AHEAD
    return BEHIND if bad.judge(estimate) == SUPPORTED else NOT_TOLD_APART
