"""Settings of coreference: documents, head, aggregation and training."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from reprlab.training.settings import EngineSettings

_STRICT = ConfigDict(extra="forbid", frozen=True)


class SegmentSettings(BaseModel):
    """How documents become segments of sub-tokens."""

    model_config = _STRICT

    segment_length: int = Field(ge=8)
    """Sub-tokens of a segment, [CLS] and [SEP] included."""
    singletons: bool = False
    """Keep gold clusters of one mention, which OntoNotes does not annotate and LitBank does."""
    documents: dict[str, int | None] = {}
    """Documents of a split that are kept, drawn once; null or absent: all."""


class HeadSettings(BaseModel):
    """The coreference head of Xu and Choi (2020) without higher-order inference."""

    model_config = _STRICT

    hidden: int = Field(ge=1)
    """Width of the hidden layer of each scorer."""
    features: int = Field(default=20, ge=1)
    """Width of the embeddings of width, distance, genre, speaker and segment."""
    max_span_width: int = Field(ge=1)
    """Tokens of the longest candidate span."""
    span_ratio: float = Field(gt=0)
    """Spans that are kept, as a share of the tokens."""
    max_spans: int = Field(ge=1)
    """Most spans that are kept, whatever the length."""
    max_antecedents: int = Field(ge=1)
    """Antecedents of a span that the fine score is computed for."""
    max_segments: int = Field(ge=1)
    """Segments of the longest training document; of longer ones a random window is read."""
    dropout: float = Field(ge=0, lt=1)
    """Dropout of the scorers and of the feature embeddings."""
    mention_loss: float = Field(default=0, ge=0)
    """Weight of the log loss of the kept spans' mention scores; 0 as published, where links alone teach mentions."""
    genres: list[str] = []
    """Genres by the first two letters of a document's key; empty: one genre for all."""


Aggregation = Literal["mean", "sum", "attention"]


class AggregationSettings(BaseModel):
    """How the states of several frozen encoders become one vector a token."""

    model_config = _STRICT

    aggregation: Aggregation
    """mean and sum have no parameter; attention weighs the sources for each token."""
    attention: Literal["factored", "paper"] = "factored"
    """factored: keys, values and one constant query, as the authors' runs; paper: the printed formula, without
    projections."""
    width: int = Field(default=128, ge=1)
    """Width of query and keys."""
    normalise: bool = False
    """Scale the vector of each token of each source to length 1 before."""
    concatenated: int = Field(default=1, ge=1)
    """Upper hidden states that are joined to one vector; more than one needs attention."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.concatenated > 1 and (self.aggregation != "attention" or self.attention != "factored"):
            raise ValueError("concatenated: only factored attention projects joined states to one vector")
        if self.concatenated > 1 and self.normalise:
            raise ValueError("normalise: joined states are not normalised (concatenated must be 1)")
        return self


class CoreferenceTraining(BaseModel):
    """Training of a head on frozen or trained encoders."""

    model_config = _STRICT

    head: HeadSettings
    """The coreference head."""
    aggregation: AggregationSettings
    """How sources are joined."""
    layers: list[int] = Field(min_length=1)
    """Layer of each source whose output is read, the highest of those that are concatenated."""
    train_encoder: bool = False
    """Train the encoder as well; there must be one source."""
    encoder_dropout: bool = True
    """Leave the dropout of frozen encoders on while the head is trained, as the authors' code does."""
    engine: EngineSettings
    """The loop; its rate is that of encoder and aggregator, its steps follow from `epochs`."""
    head_learning_rate: float = Field(gt=0)
    """Peak learning rate of the head: Adam without decay and without warm-up."""
    warmup_share: float = Field(default=0.1, ge=0, lt=1)
    """Share of the steps over which the rate of encoder and aggregator rises."""
    epochs: int = Field(ge=1)
    """Passes over the training documents at most; the schedule is laid out for them."""
    patience: int = Field(ge=1)
    """Passes without a better CoNLL F1 on the validation split, after which training ends."""
    seeds: list[int] = Field(min_length=1)
    """One training for each."""
    resamples: int = Field(default=1000, ge=2)
    """Bootstrap samples over documents behind the intervals."""

    @model_validator(mode="after")
    def _one_document_an_update(self) -> Self:
        if self.engine.batch_size != 1:
            raise ValueError("engine.batch_size: each update reads one document")
        return self

    @model_validator(mode="after")
    def _one_layer_a_source(self) -> Self:
        if self.train_encoder and len(self.layers) != 1:
            raise ValueError("train_encoder: one encoder is trained, and layers names several sources")
        return self


class SimilaritySettings(BaseModel):
    """How states are compared (Figure 3 of the paper)."""

    model_config = _STRICT

    documents: int = Field(ge=1)
    """Documents that are drawn."""
    seed: int = Field(ge=0)
    """Seed of the draw."""
    include_padding: bool = False
    """Average over the padding behind shorter segments as well, as the authors' code does."""
