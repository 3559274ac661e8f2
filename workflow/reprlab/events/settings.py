"""Settings of the stages on events: which documents, which retriever, which classifier."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from reprlab.inference.chat_settings import ChatSettings
from reprlab.models.settings import Features
from reprlab.retrieval.settings import BiEncoderTraining
from reprlab.training.settings import EngineSettings

_STRICT = ConfigDict(extra="forbid", frozen=True)

Encoding = Literal["wrapped", "trigger", "graph"]
"""The form of a mention: one of two texts, or its sentence as a dependency tree (`sentence_graphs`)."""
ALL_PAIRS = "all pairs"
"""Condition without a retriever, in measured seconds."""
RELATED, ALL, CANDIDATES = "related", "all pairs", "retrieved or related"
"""Pairs that scores of answers are over."""


class EventSelection(BaseModel):
    """Documents of a corpus, and what is read of a mention."""

    model_config = _STRICT

    directed: bool = False
    """Whether (i, j) and (j, i) are two pairs; otherwise a pair is in textual order."""
    folds: int = Field(default=0, ge=0)
    """Folds over the groups (topics) of the training split; 0: the data has a test split."""
    fold: int = Field(default=0, ge=0)
    """The fold that is tested on."""
    limit: int | None = Field(default=None, ge=1)
    """Use only this many documents of each split, the first ones; null: all."""
    encoding: Encoding = "wrapped"
    """A mention is its sentence with the trigger between markers, the trigger alone, or the sentence as a tree."""
    chains: bool = False
    """Append the triggers of the mention's coreference chain."""

    @model_validator(mode="after")
    def _a_tree_has_no_chain(self) -> Self:
        if self.encoding == "graph" and self.chains:
            raise ValueError("chains are appended to a text; encoding: graph has none")
        return self


class SentenceParsing(BaseModel):
    """Dependency trees of the sentences."""

    model_config = _STRICT

    parser: str = Field(min_length=1)
    """A spaCy pipeline: the name of an installed package, or a folder."""


class RetrieverTraining(BaseModel):
    """Fine-tuning of a retriever of partner events."""

    model_config = _STRICT

    events: EventSelection
    """Documents and texts."""
    training: BiEncoderTraining
    """Pairs, loop and optimizer."""
    graph_learning_rate: float = Field(default=1e-4, gt=0)
    """Peak learning rate of the layer over the dependency tree, where that is the encoding."""
    seeds: list[int] = Field(default=[0], min_length=1)
    """One retriever is trained for each; a seed replaces that of the engine."""


class Retrieval(BaseModel):
    """Ranking of the other mentions of the document for each mention."""

    model_config = _STRICT

    events: EventSelection
    """Documents and texts."""
    pooling: Literal["first", "mean", "random", "chains"] = "mean"
    """Vector of a mention: first token, mean of the tokens. No model is read for `random`, where every order is as
    likely, and for `chains`: the mentions of the longest coreference chains first, which are known without a text.
    Where the encoding is a tree, it is the mean of the trigger's words."""
    max_length: int = Field(default=128, ge=8)
    """Longest text in tokens."""
    ks: list[int] = Field(min_length=1)
    """Numbers of partners at which recall is measured."""
    seeds: list[int] = Field(default=[0], min_length=1)
    """One ranking for each: of the encoder of this seed where there are several, or of random vectors."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Arithmetic of the forward pass."""


class PairTask(BaseModel):
    """Naming the relations of pairs of events: which pairs, and which relations there are."""

    model_config = _STRICT

    events: EventSelection
    """Documents and texts."""
    labels: list[str] = Field(min_length=1)
    """Relations in order; pairs with another label are left out of training and scoring."""
    none: str = "NONE"
    """Name of no relation."""
    k: int = Field(default=5, ge=1)
    """Partners of each mention."""
    inference: Literal["retrieved", "all"] = "retrieved"
    """Pairs that are classified; the rest is predicted to have no relation."""

    @model_validator(mode="after")
    def _events_are_text(self) -> Self:
        if self.events.encoding == "graph":
            raise ValueError("encoding: graph is one of retrievers; a classifier reads text")
        return self


class PairClassification(PairTask):
    """Training of a classifier on pairs of events, and which pairs it is trained and used on."""

    kind: Literal["discriminative", "generative"]
    """Spans of the document with a feed-forward head, or an encoder-decoder that names the relation of two texts."""
    negatives: Literal["retrieved", "random", "all"] = "retrieved"
    """Unrelated pairs in training: the retrieved ones, as many drawn at random from each document, or every one."""
    engine: EngineSettings
    """Loop and optimizer; a batch is this many documents or pairs, the steps follow from `epochs`."""
    seeds: list[int] = Field(default=[0], min_length=1)
    """One classifier is trained for each, on the ranking of its seed; a seed replaces that of the engine."""
    epochs: float = Field(gt=0)
    """Passes over the documents or pairs."""
    warmup_share: float = Field(default=0.0, ge=0, lt=1)
    """Share of the steps over which the learning rate rises."""
    head_learning_rate: float = Field(default=1e-4, gt=0)
    """Peak learning rate of the feed-forward head."""
    dropout: float = Field(default=0.1, ge=0, lt=1)
    """Dropout of the head."""
    features: Features = "concatenated"
    """Input of the head from two spans: both vectors, or also their product and difference."""
    decoding: Literal["scored", "greedy"] = "scored"
    """Answer of a generative classifier: the label string of the highest mean log-probability, or the text that it
    writes greedily, where a text that is not a label string is not a relation."""
    relation_weight: float = Field(default=1.0, gt=0)
    """Weight of a related pair in the loss; an unrelated one has 1."""
    max_length: int = Field(default=512, ge=16)
    """Longest window or input in tokens."""
    frozen_layers: int = Field(default=0, ge=0)
    """Lowest layers of the encoder that are kept as they are, the embeddings with them; 0 trains everything, which an
    encoder-decoder always is."""
    patience: int | None = Field(default=None, ge=1)
    """Stop after this many passes without a better micro F1 on validation documents, keep the best; null: the last."""

    @model_validator(mode="after")
    def _training_and_inference_agree(self) -> Self:
        if self.negatives == "all" and self.inference != "all":
            raise ValueError("negatives: all is the classifier without a retriever; it goes with inference: all")
        return self


class AnswerContrast(PairTask):
    """Two sets of answers to the test documents of some folds, one compared with the other."""

    tested: list[int] = Field(min_length=1)
    """The folds, in the order of their files."""
    seeds: list[int] = Field(default=[0], min_length=1)
    """Seeds of the answers, each compared with itself."""
    resamples: int = Field(default=1000, ge=1)
    """Resamples of the documents."""


class ZeroShotClassification(PairTask):
    """Relations named by a chat model that was not trained for it; the pairs are all of them."""

    inference: Literal["all"] = "all"
    """Pairs that are classified: there is no retriever."""
    chat: ChatSettings
    """The model and its endpoint."""


class PairTiming(BaseModel):
    """Seconds of a classifier over documents of growing size."""

    model_config = _STRICT

    classification: PairClassification
    """The classifier that is measured; its first seed."""
    sizes: list[int] = Field(min_length=1)
    """Events of the documents, which are joined from those of the test split."""
    ks: list[int] = Field(min_length=1)
    """Numbers of partners, measured beside all pairs."""
    repeats: int = Field(default=3, ge=1)
    """Runs, of which the fastest counts."""


class AnswerComparison(BaseModel):
    """Pairs that two sets of predictions answer differently."""

    model_config = _STRICT

    seed: int = 0
    """Seed of the predictions."""
    pairs: int = Field(default=50, ge=1)
    """At most this many."""
    none: str = "NONE"
    """Name of no relation."""
    scale: str
    """Scale of the run, a column of the table."""
