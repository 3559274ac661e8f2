"""Settings of the evaluation of models and of points between two of them."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.training.settings import EvaluationSettings

SWEEP = "sweep"
"""Name of a point between the models."""


class MergeEvaluation(BaseModel):
    """Models and a sweep from one of them to another, on the same held-out batches."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    models: dict[str, Path] = Field(min_length=1)
    """Folders of models by name."""
    first: str
    """Name of the model at t = 0."""
    second: str
    """Name of the model at t = 1."""
    fractions: list[float]
    """The points t of the sweep, each between 0 and 1."""
    dtype: Literal["float32", "float16", "bfloat16"] = "float16"
    """Type of merged weights."""
    texts: dict[str, Path] = Field(min_length=1)
    """Token files by the name of the corpus."""
    swept: list[str]
    """Corpora on which the points of the sweep are evaluated."""
    evaluation: EvaluationSettings
    """Batches of each corpus."""
