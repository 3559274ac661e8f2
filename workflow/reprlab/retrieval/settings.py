"""Settings of bi-encoders."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.training.settings import EngineSettings


class BiEncoderTraining(BaseModel):
    """Training of a bi-encoder to tell related pairs of a set from unrelated ones."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    engine: EngineSettings
    """Loop, optimizer and schedule; a batch is this many sets (documents), its steps follow from `epochs`."""
    epochs: float = Field(gt=0)
    """Passes over the sets."""
    warmup_share: float = Field(default=0.0, ge=0, lt=1)
    """Share of the steps over which the learning rate rises."""
    head_learning_rate: float = Field(gt=0)
    """Peak learning rate of the scale and the offset of the score."""
    negatives: int = Field(default=5, ge=1)
    """Unrelated pairs for each related one, drawn anew in every pass; all where there are fewer."""
    pooling: Literal["first", "mean"] = "mean"
    """Vector of a text: the state of its first token, or the mean of its tokens."""
    max_length: int = Field(default=128, ge=8)
    """Longest text in tokens."""
    frozen_layers: int = Field(default=0, ge=0)
    """Lowest layers of the encoder that are kept as they are, the embeddings with them; 0 trains everything."""
