"""Settings of the evaluation of models and of points between two of them."""

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.training.settings import EvaluationSettings

SWEEP = "sweep"
"""Name of the points of the paper's own way to merge."""


class Sweep(BaseModel):
    """Points of a way to merge, which differ in one of its settings."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    method: str
    """A module of `models/merges`."""
    options: dict[str, Any] = {}
    """Its other settings."""
    over: str
    """The setting that is swept."""
    values: list[float] = Field(min_length=1)
    """Its values; the column `t`."""


class MergeEvaluation(BaseModel):
    """Models and what is made of two of them, on the same held-out batches."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    models: dict[str, Path] = Field(min_length=1)
    """Folders of models by name."""
    scored: list[str]
    """Names of those that are evaluated as they are."""
    first: str
    """Name of the model at t = 0."""
    second: str
    """Name of the model at t = 1."""
    base: str
    """Name of the model that both were trained from."""
    sweeps: dict[str, Sweep]
    """By name, which is that of the model in the table."""
    dtype: Literal["float32", "float16", "bfloat16"] = "float16"
    """Type of merged weights."""
    texts: dict[str, Path] = Field(min_length=1)
    """Token files by the name of the corpus."""
    swept: list[str]
    """Corpora on which the points of the sweep are evaluated."""
    evaluation: EvaluationSettings
    """Batches of each corpus."""
