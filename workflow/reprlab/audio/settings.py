"""Settings of recognisers: what is trained of a speech encoder, and how."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from reprlab.registry.models import ModelEntry
from reprlab.training.settings import EngineSettings

_STRICT = ConfigDict(extra="forbid", frozen=True)


class TuningShape(BaseModel):
    """What is trained beside the CTC head, whatever it starts from."""

    model_config = _STRICT

    method: Literal["full", "ff", "conv", "lora", "compacter", "parallel", "head"]
    """full: all but the convolutions in front and positions; ff, conv, compacter: adapters after attention and after
    feed-forward of each block, parallel: beside both, and layer norms; lora: low-rank adapters of queries and values,
    and layer norms; head: nothing more."""
    inner: int | None = Field(default=256, ge=1)
    """Width inside an adapter, or rank of lora; null: that of the model."""
    depth: int = Field(default=2, ge=2)
    """Fully connected layers of an ff adapter."""
    placement: Literal["inner", "outer"] = "inner"
    """Where ff, conv and compacter adapters are: inner, on a sub-layer's output before the residual sum; outer, behind
    it."""
    norm: bool = True
    """Layer norm over the sum of an ff adapter and its input."""
    kernel: int = Field(default=1, ge=1)
    """Frames that a convolution of a conv adapter sees; an odd number."""

    terms: int = Field(default=4, ge=1)
    """Kronecker products of a map of a compacter adapter."""
    rank: int | None = Field(default=1, ge=1)
    """Rank of the second factor of each; null: the largest, which gives the parameters of dense maps over the terms."""
    scale: float = Field(default=4.0, gt=0)
    """Factor of what a parallel adapter adds."""

    @field_validator("kernel")
    @classmethod
    def _has_a_middle(cls, kernel: int) -> int:
        if kernel % 2 == 0:
            raise ValueError(f"kernel: {kernel} is even, a frame would see more to one side; take an odd number")
        return kernel

    blocks: int | None = Field(default=None, ge=1)
    """Upper blocks that have adapters; null: all."""


class Tuning(TuningShape):
    """What is trained beside the CTC head."""

    initial_scale: float = Field(default=1.0, gt=0)
    """Factor of the drawn weights of the last layer inside an adapter; 1: as they are drawn. A small one
    leaves the encoder nearly as it was, 0 would have no gradient behind ConvAdapt's last ReLU."""


class RecogniserSettings(BaseModel):
    """One training and its scores."""

    model_config = _STRICT

    tuning: Tuning
    """What is trained."""
    minutes: float | None = Field(gt=0)
    """Minutes of training speech; a shorter subset is part of a longer one. Null: all."""
    data_seed: int = Field(ge=0)
    """Seed of the subsets."""
    engine: EngineSettings
    """The loop; its rate is that of adapters, or of the whole model."""
    head_learning_rate: float = Field(gt=0)
    """Peak rate of the head: at that of adapters it stays with the blank for long."""
    evaluation_utterances: int | None = Field(default=None, ge=1)
    """Utterances of each held-out split that are scored, the first ones; null: all."""


class CountedTuning(BaseModel):
    """A model whose trained parameters are counted."""

    model_config = _STRICT

    model: str
    """Its name."""
    name: str
    """Name of the tuning."""
    tuning: Tuning
    """What is trained."""


class CountedTunings(BaseModel):
    """What one job counts."""

    model_config = _STRICT

    entries: dict[str, ModelEntry]
    """The models by name."""
    tunings: list[CountedTuning]
    """What is counted."""
    symbols: int = Field(ge=2)
    """Symbols of the head, the blank included."""
