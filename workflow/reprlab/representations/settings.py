"""Settings of prompts, of the collection of states and of adapters."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.geometry.settings import EstimatorSettings
from reprlab.training.settings import EngineSettings

_STRICT = ConfigDict(extra="forbid", frozen=True)

LabelIds = Literal["in_context", "bare"]


class PromptSettings(BaseModel):
    """Which items are asked, and how."""

    model_config = _STRICT

    template: str
    """Format string with the columns of the examples; the label and line ends are added to it."""
    words: list[str] = []
    """Words of the labels in the prompt, in the order of the data's labels; empty: the labels themselves."""
    split: Literal["train", "validation"]
    """Whose items are asked; demonstrations come from train."""
    train_items: int = Field(ge=1)
    """Size of the training set, which is the pool of demonstrations."""
    validation_items: int = Field(ge=1)
    """Number of validation items."""
    validation_splits: list[Literal["validation", "test"]] = ["validation"]
    """Splits of the data that make up the validation set."""
    max_words: int | None = Field(default=None, ge=1)
    """Longer texts are left out of both sets; null takes all."""
    demonstrations: int = Field(default=0, ge=0)
    """k."""
    unique: bool = False
    """No demonstration is in two prompts, so that the pool must hold k times the items."""
    seed: int = Field(default=42, ge=0)
    """Seed of the demonstrations."""


class CollectSettings(BaseModel):
    """One collection of last-token states."""

    model_config = _STRICT

    dtype: Literal["float32", "bfloat16"]
    """Arithmetic of the forward pass; states are stored in float32."""
    label_ids: LabelIds = "in_context"
    """in_context: first token of the label after the prompt; bare: first token of the label by itself, as upstream."""
    batch_tokens: int = Field(default=4096, ge=1)
    """Tokens of a batch, padding included."""
    limit: int | None = Field(default=None, ge=1)
    """Only the first items; null takes all."""
    steps: list[int] = []
    """Steps of the adapter's ladder; none: the model without adapter."""


class AdapterRecipe(BaseModel):
    """Low-rank adapters on the attention projections."""

    model_config = _STRICT

    rank: int = Field(ge=1)
    """r."""
    alpha: int = Field(gt=0)
    """The update is scaled by alpha / r."""
    dropout: float = Field(ge=0, lt=1)
    """Dropout before the first matrix."""
    targets: list[str] = Field(min_length=1)
    """Names of the adapted linear layers."""
    max_length: int = Field(ge=4)
    """Tokens of a training text; longer ones are cut."""


class AdapterSettings(AdapterRecipe):
    """Adapters and their training."""

    engine: EngineSettings
    """Loop, optimizer and schedule."""


class DimensionSettings(BaseModel):
    """Estimates on collected states."""

    model_config = _STRICT

    estimators: list[EstimatorSettings] = Field(min_length=1)
    """Estimators, each on every layer."""
    subsets: list[int] = []
    """Also on the first n items, for comparison with smaller collections."""
    draws: int = Field(default=0, ge=0)
    """Also on this many random halves of the items, for the delete-half jackknife."""
    draw_estimators: list[str] = []
    """Names of the estimators for the halves."""
    seed: int = Field(default=0, ge=0)
    """Seed of the halves: half number i holds the same items in every collection of the same size."""
