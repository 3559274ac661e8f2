"""Settings of the stages on rerankers: collections, first stages, training, scoring, speed."""

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from reprlab.training.settings import EngineSettings

_STRICT = ConfigDict(extra="forbid", frozen=True)
Split = Literal["train", "validation", "test"]
LETTERS = 26
"""Candidates of a list at most: each has a letter of its own."""


class FirstStage(BaseModel):
    """How passages are found for each query."""

    model_config = _STRICT

    kind: Literal["bm25", "dense"] = "bm25"
    """Words by BM25, or vectors of a bi-encoder searched exactly."""
    depth: int = Field(ge=1)
    """Passages found for each query."""
    drop_own: bool = False
    """Whether the passage that has the query's own id is the query itself, and no hit."""
    k1: float = Field(default=1.5, ge=0)
    """BM25's saturation."""
    b: float = Field(default=0.75, ge=0, le=1)
    """BM25's correction for length."""
    prefix: str = ""
    """Put before each query that is embedded."""
    pooling: Literal["first", "mean"] = "first"
    """Vector of a text."""
    max_length: int = Field(default=512, ge=8)
    """Longest text that is embedded, in tokens."""
    splits: list[Split] = Field(min_length=1)
    """Splits whose queries are asked, all of them over all passages."""
    queries: dict[Split, int] = {}
    """At most this many queries of a split, drawn with `seed`; all by default."""
    seed: int = Field(default=0, ge=0)
    """Seed of the draw."""
    metrics: list[str] = Field(min_length=1)
    """Ranking metrics: mrr_at_K, ndcg_at_K, recall_at_K."""


class PairSettings(BaseModel):
    """How a model reads a query and a document."""

    model_config = _STRICT

    template: Literal["document_first", "query_first"]
    """`document_first`: decoders, the last token is scored; `query_first`: encoders, the first one."""
    max_length: int = Field(ge=16)
    """Longest sequence in tokens."""
    max_query: int = Field(default=64, ge=1)
    """Longest query in tokens."""
    encoder_cls: bool = False
    """Of an encoder-decoder the encoder alone is scored, trained and kept; else its decoder's first state is scored."""


class RerankerTraining(BaseModel):
    """Training of a reranker on groups of one relevant passage and others that the first stage found."""

    model_config = _STRICT

    pairs: PairSettings
    """Template and length."""
    engine: EngineSettings
    """Loop and optimizer; a batch is this many groups, the steps follow from `epochs`."""
    epochs: float = Field(gt=0)
    """Passes over the groups."""
    warmup_share: float = Field(default=0.1, ge=0, lt=1)
    """Share of the steps over which the learning rate rises."""
    negatives: int = Field(ge=1)
    """Negatives of a group."""
    judged_negatives: bool = False
    """Negatives are passages that answer another training query. In a small collection the others, those of held-out
    queries, are met as negatives alone: a reranker learns to put them last."""
    dropout: float = Field(default=0.1, ge=0, lt=1)
    """Dropout of the state that is scored."""
    head_factor: float = Field(default=1.0, gt=0)
    """Learning rate of the head over that of the model."""
    seeds: list[int] = Field(default=[0], min_length=1)
    """One reranker is trained for each; a seed replaces that of the engine and draws the negatives."""


class ListSettings(BaseModel):
    """Lists that a decoder ranks by the logits of its first answer token (`retrieval.listwise`), not pairs."""

    model_config = _STRICT

    window: int = Field(ge=2, le=LETTERS)
    """Candidates of a list that is ranked, and of one that is trained on: a relevant passage and negatives."""
    step: int = Field(default=1, ge=1)
    """Places by which the window moves up when a run is ranked; fewer than it has, so that what is best goes on."""
    passage_tokens: int = Field(ge=1)
    """Tokens of a passage."""
    ranknet_weight: float = Field(default=0.0, ge=0)
    """Weight of the weighted RankNet beside the cross-entropy of the best candidate's letter."""

    def longest(self, max_query: int) -> int:
        """Tokens of a list of passages and a query that are cut, as tokenizers mostly have what stands around them."""
        return self.window * (self.passage_tokens + 3) + 2 * max_query + 12

    @model_validator(mode="after")
    def _windows_overlap(self) -> Self:
        if self.step >= self.window:
            raise ValueError(f"step: {self.step} places leave none of {self.window} for the next window; lower it")
        return self


class RerankedCollection(BaseModel):
    """A collection and its first-stage run."""

    model_config = _STRICT

    name: str
    """Name in the rows."""
    examples: Path
    """Its queries and passages."""
    run: Path
    """Folder of the first stage's runs, by split."""
    split: Split
    """Split whose queries are reranked."""


class Reranking(BaseModel):
    """Scoring of runs by a reranker."""

    model_config = _STRICT

    pairs: PairSettings
    """Template and length."""
    collections: list[RerankedCollection] = Field(min_length=1)
    """The runs."""
    metrics: list[str] = Field(min_length=1)
    """Ranking metrics."""
    stride: int = Field(default=0, ge=0)
    """0: the beginning of a document (FirstP, LongP); else its best passage, passages this many tokens apart (MaxP)."""
    seeds: list[int] = Field(default=[0], min_length=1)
    """Seeds of the rerankers."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Arithmetic of the forward pass."""
