"""Settings of fine-tuning on completions."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

_STRICT = ConfigDict(extra="forbid", frozen=True)


class CompletionRecipe(BaseModel):
    """Settings that all fine-tuning of a study shares."""

    model_config = _STRICT

    accumulation: int = Field(default=1, ge=1)
    """Parts of a batch."""
    warmup_ratio: float = Field(ge=0, le=1)
    """Share of the updates over which the rate rises; then it falls linearly to 0."""
    weight_decay: float = Field(ge=0)
    """Decoupled weight decay."""
    clip_norm: float | None = Field(default=None, gt=0)
    """Gradients are scaled down to this norm; null: no clipping."""
    dtype: Literal["float32", "bfloat16"]
    """Arithmetic, and type of the saved weights."""
    seed: int = Field(ge=0)
    """Seed of order and dropout."""


class CompletionTuningSettings(CompletionRecipe):
    """How each of a job's checkpoints is fine-tuned."""

    learning_rates: list[float] = Field(min_length=1)
    """Peak learning rates; of several, the one with the lowest loss on held-out rows is kept."""
    epochs: int = Field(ge=1)
    """Passes over the rows."""
    batch_size: int = Field(ge=1)
    """Rows of one update."""
    max_length: int = Field(ge=4)
    """Tokens of a row."""
