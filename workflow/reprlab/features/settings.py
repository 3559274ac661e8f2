"""Settings of sparse autoencoders and of the comparison of their features."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.inference.chat import ChatSettings
from reprlab.training.settings import EngineSettings

_STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class AutoencoderShape(BaseModel):
    """Size and loss of a sparse autoencoder, and how it starts."""

    model_config = _STRICT

    features: int = Field(ge=1)
    """K: atoms of the dictionary."""
    l1: float = Field(ge=0)
    """Weight of the L1 norm of a token's features beside its reconstruction."""
    subtract_bias: bool = False
    """Subtract the decoder's bias before encoding (Bricken et al. 2023)."""
    normalise: bool = True
    """Scale activations by a stored number to a mean norm of sqrt(d)."""
    encoder_start: Literal["kaiming", "atoms"] = "kaiming"
    """kaiming: the encoder starts apart from the decoder; atoms: as its transpose."""
    start_blocks: float = Field(default=0.008, gt=0, le=1)
    """Share of the blocks whose activations give the scale, the centre and the first bias of the decoder."""
    dead_window: int = Field(default=1000, ge=1)
    """A feature is idle that has not fired for so many updates."""


class AutoencoderSettings(BaseModel):
    """One training run of a sparse autoencoder."""

    model_config = _STRICT

    shape: AutoencoderShape
    """Size, loss and start."""
    block: int = Field(ge=4)
    """Tokens of a block, which is what the language model reads at once."""
    layer: int = Field(default=0, ge=0)
    """Layer of the language model whose MLP is read."""
    engine: EngineSettings
    """Loop, optimizer and schedule; an example is a block."""


class QualitySettings(BaseModel):
    """How good an autoencoder is on held-out text."""

    model_config = _STRICT

    block: int = Field(ge=4)
    """Tokens of a block."""
    layer: int = Field(default=0, ge=0)
    """Layer of the language model."""
    blocks: int = Field(ge=1)
    """Blocks of the validation split, drawn at random; fewer where it is smaller."""
    batch_blocks: int = Field(default=128, ge=1)
    """Blocks that the model reads at once: rows of the result, from which a bootstrap can draw."""
    seed: int = Field(default=0, ge=0)
    """Seed of the choice of blocks."""


class SampleSettings(BaseModel):
    """One sample of tokens for all models."""

    model_config = _STRICT

    block: int = Field(ge=4)
    """Tokens of a block."""
    blocks: int = Field(ge=1)
    """Blocks of each corpus."""
    split: Literal["train", "validation", "test"] = "validation"
    """Part of the corpora."""
    seed: int = Field(default=0, ge=0)
    """Seed of the choice of blocks."""


class EncodingSettings(BaseModel):
    """Features of a model on the sample."""

    model_config = _STRICT

    layer: int = Field(default=0, ge=0)
    """Layer of the language model."""
    batch_blocks: int = Field(default=256, ge=1)
    """Blocks that the model reads at once."""


class CorrelationSettings(BaseModel):
    """Correlation of all pairs of features of two models."""

    model_config = _STRICT

    least_positions: int = Field(default=10, ge=1)
    """A feature is alive that fires on more positions of the sample than this."""
    floor: float = Field(ge=-1, le=1)
    """Pairs with a correlation from here on are kept, beside the best partner of each feature."""
    block: int = Field(default=512, ge=1)
    """Features of the first model that are correlated at once; it bounds the memory."""
    shuffle_seed: int | None = Field(default=None, ge=0)
    """Permute the positions of the second model with this seed: chance; null: as they are."""


class Link(BaseModel):
    """Correlations of a pair of models with a place in the lineage."""

    model_config = _STRICT

    parent: str
    """Name of the first model."""
    child: str
    """Name of the second model."""
    correlations: Path
    """Folder of the correlations of their features."""
    control: str = ""
    """What the pair shows where it is no link of the lineage; empty: it is one."""


class Lineage(BaseModel):
    """Pairs of models, and which of them form the lineage of a merged model."""

    model_config = _STRICT

    links: list[Link] = Field(min_length=1)
    """The pairs."""
    thresholds: list[float] = Field(min_length=1)
    """Correlations from which a feature persists."""
    base: str
    """The model that all others come from."""
    children: list[str] = Field(min_length=1)
    """The models that were fine-tuned from it."""
    merged: str
    """The model merged from them."""


class InterpretationSettings(BaseModel):
    """Automated interpretation of features."""

    model_config = _STRICT

    features: int = Field(ge=1)
    """Features that are interpreted, drawn among those alive."""
    top: int = Field(default=10, ge=1)
    """Samples of the highest activations."""
    lower: int = Field(default=2, ge=0)
    """Samples of each lower interval of activations."""
    random: int = Field(default=5, ge=0)
    """Samples drawn at random."""
    same_tokens: int = Field(default=10, ge=0)
    """Samples with the tokens of the highest activations in other contexts."""
    least_positions: int = Field(default=10, ge=1)
    """A feature is alive that fires on more positions of the sample than this."""
    seed: int = Field(default=0, ge=0)
    """Seed of all draws."""
    chat: ChatSettings | None = None
    """The chat model that explains and simulates; null: statistics of tokens do."""
    explain: str = ""
    """What a chat model is told before it explains; a line `Feature #<n>` with its samples follows."""
    simulate: str = ""
    """What a chat model is told before it scores a token by an explanation."""
