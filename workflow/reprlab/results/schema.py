"""Columns of `results/<slug>/results.parquet`: one row for each value, with where it comes from (`docs/results.md`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, model_validator

if TYPE_CHECKING:
    import pyarrow

Kind = Literal["text", "whole", "number"]
Unit = Literal["percent", "count", "nats", "seconds", "megabytes", "number"]
Direction = Literal["higher", "lower", "neither"]

# Least and largest value of a unit where a metric declares nothing else.
_RANGES: dict[str, tuple[float | None, float | None]] = {
    "percent": (0, 100),
    "count": (0, None),
    "nats": (0, None),
    "seconds": (0, None),
    "megabytes": (0, None),
    "number": (None, None),
}

# Name, kind and meaning of the columns that every paper has, behind its own factors.
FIXED: dict[str, tuple[Kind, str]] = {
    "metric": ("text", "what is measured"),
    "split": ("text", "split of the data"),
    "subset": ("text", "part of the split or of its items; empty: all"),
    "value": ("number", "the value in `unit`; empty where `reason` says why there is none"),
    "low": ("number", "lower end of its 95 % interval over examples"),
    "high": ("number", "upper end of the same"),
    "unit": ("text", "percent, count, nats, seconds, megabytes, or number (has no unit); shares are in percent"),
    "n": ("whole", "examples, items or batches behind the value"),
    "steps": ("whole", "optimizer steps of the training that the row reports"),
    "tokens": ("whole", "tokens of the same"),
    "scale": ("text", "scale of the run"),
    "data": ("text", "true name of the data"),
    "baseline": ("text", "the trivial baseline that is hardest to beat, by the metric's direction"),
    "baseline_value": ("number", "its value"),
    "margin": (
        "number",
        "how much better than baseline_value: value minus that, or that minus value where less is better",
    ),
    "margin_untrained": ("number", "how much better than the mean of the same model without training, tuned alike"),
    "above_trivial": (
        "text",
        "above (better by the metric's direction), not above, above with k of n seeds; that is `baseline`; empty: none",
    ),
    "above_untrained": ("text", "above, not above: that is the untrained model; empty: there is none"),
    "seen": (
        "whole",
        "of `n`, items whose answer occurs in training, or whose text holds an answer of training; empty: not counted",
    ),
    "reason": ("text", "why there is no value"),
    "source": ("text", "file below the run's folder that holds the value"),
    "items": ("text", "where the scores of its items are (`sources.Items` as JSON); empty: none are kept"),
}


class Factor(BaseModel):
    """A factor that tells rows of a paper apart, such as model or seed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    about: str
    """Its meaning, for the reader of the file."""
    kind: Kind = "text"
    """text, whole (a whole number) or number."""
    values: tuple[str | int | float, ...] = ()
    """All that it may be; empty: whatever the config names."""
    identifies: bool = True
    """False: says more of a row that the others identify, such as its learning rate. Seeds that differ in it are one
    cell all the same."""


class Metric(BaseModel):
    """A metric: all that standing, margins, words, sorting and exports know of it is declared here."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    about: str
    """Its meaning."""
    unit: Unit
    """Unit of its values. Shares are in percent."""
    better: Direction
    """Whether a higher or a lower value is better, or neither."""
    scored: bool = False
    """Whether it scores answers, so that a value is judged against what needs no model."""
    range: tuple[float | None, float | None] | None = None
    """Least and largest value that it can have, null where there is none; by default those of its unit."""

    @model_validator(mode="after")
    def _has_direction(self) -> Metric:
        if self.scored and self.better == "neither":
            raise ValueError("a metric that scores answers says whether a higher or a lower value is better")
        return self

    @property
    def sign(self) -> int:
        """1 where a higher value is better, -1 where a lower one is, 0 where neither is."""
        return {"higher": 1, "lower": -1, "neither": 0}[self.better]

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and largest value, infinite where there is none."""
        low, high = self.range or _RANGES[self.unit]
        return (-math.inf if low is None else low), (math.inf if high is None else high)


def arrow_schema(factors: Mapping[str, Factor], metadata: Mapping[str, str]) -> pyarrow.Schema:
    """The schema of a paper's file; each field says what it means."""
    import pyarrow

    types = {"text": pyarrow.string(), "whole": pyarrow.int64(), "number": pyarrow.float64()}
    columns = {name: (factor.kind, factor.about) for name, factor in factors.items()} | FIXED
    fields = [pyarrow.field(name, types[kind], metadata={"about": about}) for name, (kind, about) in columns.items()]
    return pyarrow.schema(fields, metadata=dict(metadata))
