"""Settings of the estimators of intrinsic dimension."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

Duplicates = Literal["drop", "upstream"]


class EstimatorRecipe(BaseModel):
    """One estimator of intrinsic dimension, whatever its name."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    kind: Literal["two_nn", "two_nn_ml", "levina_bickel", "gride"]
    """two_nn: line through the origin; two_nn_ml: maximum likelihood; levina_bickel: MLE over k neighbours; gride:
    ratio of two ranks."""
    discard: float = Field(default=0.1, ge=0, lt=1)
    """two_nn: share of the largest ratios that the fit leaves out."""
    neighbours: int = Field(default=50, ge=3)
    """levina_bickel: k."""
    unbiased: bool = False
    """levina_bickel: divide by k - 2 instead of k - 1."""
    combine: Literal["mean", "harmonic"] = "mean"
    """levina_bickel: arithmetic mean over points as in the paper, or harmonic (MacKay and Ghahramani)."""
    ranks: Annotated[tuple[int, int], BeforeValidator(lambda ranks: tuple(ranks) if type(ranks) is list else ranks)] = (
        1,
        2,
    )
    """gride: the two ranks, n1 < n2."""

    @model_validator(mode="after")
    def _ranks_increase(self) -> Self:
        if not 1 <= self.ranks[0] < self.ranks[1]:
            raise ValueError(f"ranks must be n1 < n2 from 1 on, got {self.ranks}")
        return self

    @property
    def largest_rank(self) -> int:
        """Neighbours that the estimator looks at."""
        return {"levina_bickel": self.neighbours, "gride": self.ranks[1]}.get(self.kind, 2)


class EstimatorSettings(EstimatorRecipe):
    """One estimator with its name, and what it does with equal points."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """Its name in the tables."""
    duplicates: Duplicates = "drop"
    """drop: one of each set of equal points; upstream: a first distance of 0 becomes 1e-10."""
