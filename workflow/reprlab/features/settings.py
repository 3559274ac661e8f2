"""Settings of sparse autoencoders and of the comparison of their features."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.inference.chat_settings import ChatSettings
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
    """Blocks that the model reads at once."""
    seed: int = Field(default=0, ge=0)
    """Seed of the choice of blocks."""


class SampleSettings(BaseModel):
    """One sample of tokens for all models."""

    model_config = _STRICT

    texts: dict[str, Path] = Field(min_length=1)
    """Token file of each corpus by its name."""
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
    drawn_seed: int | None = Field(default=None, ge=0)
    """Seed of a random dictionary, which is taken in place of an autoencoder; null: none is."""


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


class ComparedModel(BaseModel):
    """Features of a model on the sample."""

    model_config = _STRICT

    features: Path
    """Folder of its features."""
    densities: Path | None = None
    """How often each fires on held-out text of the model's own mixture; null: neurons, which are never dead."""


class Pair(BaseModel):
    """Two models whose features are correlated."""

    model_config = _STRICT

    parent: str
    """The first."""
    child: str
    """The second."""
    control: str = ""
    """What the pair shows where it is not a link of the lineage; empty: it is one."""
    shuffled: bool = False
    """Permute the positions of the second."""


class FeatureComparison(BaseModel):
    """Pairs of models, of which some are the lineage of a merged model."""

    model_config = _STRICT

    models: dict[str, ComparedModel] = Field(min_length=1)
    """The models by name."""
    pairs: list[Pair] = Field(min_length=1)
    """Their pairs."""
    thresholds: list[float] = Field(min_length=1)
    """Correlations from which a feature persists."""
    base: str
    """The model that the others of the lineage come from."""
    children: list[str] = Field(min_length=2, max_length=2)
    """The two models that were fine-tuned from it."""
    merged: str
    """The model merged from them."""
    correlation: CorrelationSettings
    """Which features are alive, and which pairs are kept."""
    seed: int = Field(default=0, ge=0)
    """Seed of shuffled positions."""


class CaseStudy(BaseModel):
    """A feature of the base model that is shown, found by the tokens that it fires on."""

    model_config = _STRICT

    kind: Literal["universal", "lost"]
    """universal: it is found in every model of the lineage; lost: it does not persist in the first child."""
    corpus: str
    """The corpus in which it is looked for."""
    pattern: str
    """Regular expression that the text of such a token matches, without the white space around it."""


class DescriptionSettings(BaseModel):
    """What the features of a lineage fire on."""

    model_config = _STRICT

    features: dict[str, Path] = Field(min_length=4)
    """Folder of the features of each model: base, both children, merged."""
    base: str
    """Name of the base model."""
    children: list[str] = Field(min_length=2, max_length=2)
    """Names of the two models that were fine-tuned from it."""
    merged: str
    """Name of the merged model."""
    threshold: float
    """Correlation from which a feature persists."""
    least_positions: int = Field(default=10, ge=1)
    """A feature is looked at that fires on more positions of the corpus than this."""
    cases: dict[str, CaseStudy]
    """Case studies by name."""
    contexts: int = Field(ge=1)
    """Blocks that are shown of each, those of the highest activations."""


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
    parent: str
    """Name of the model whose features they are."""
    child: str
    """Name of the model in which they may persist."""
    threshold: float
    """Correlation from which they do."""
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
