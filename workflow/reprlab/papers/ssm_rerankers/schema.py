"""Settings of state-space rerankers (slug `ssm-rerankers`).

Yan, Xu, Gupta and Srikumar: State Space Models are Strong Text Rerankers. Code: zhichaoxu-shufe/RankMambaV2 (a title).
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from reprlab.config import groups
from reprlab.retrieval.rerank_inputs import Template
from reprlab.retrieval.rerank_settings import LETTERS
from reprlab.settings import base as t
from reprlab.training.settings import UpdateSettings

Family = Literal["bert", "roberta", "electra", "bart", "opt", "llama", "mamba1", "mamba2"]
Truncation = Literal["firstp", "longp"]
FirstStage = Literal["bm25", "dense"]
OtherOrder = Literal["reversed", "twice", "reversed_twice"]
Attention = Literal["sdpa", "eager"]
_Lengths = Annotated[list[t.PositiveInt], Field(min_length=1), t.Distinct]


class Reranker(t.Settings):
    """One model, and what differs from the others in its training."""

    family: Family
    size: t.SafeName
    model: t.ModelName
    template: Template
    learning_rate: t.PositiveFloat
    epochs: t.PositiveFloat
    batch_size: t.PositiveInt
    long: bool


class Task(t.Settings):
    """Passages or documents: collections, first stage, groups and lengths."""

    dataset: t.TaskDataName | None
    splits: groups.Splits
    again: Annotated[list[t.TaskDataName], t.Distinct]
    further: Annotated[list[t.TaskDataName], t.Distinct]
    first_stage: FirstStage
    depth: t.PositiveInt
    k1: t.NonNegativeFloat
    b: t.Probability
    negatives: t.PositiveInt
    lengths: dict[Truncation, Annotated[t.PositiveInt, Field(ge=16)]]
    max_query: t.PositiveInt
    max_query_of: dict[t.TaskDataName, t.PositiveInt]
    maxp_stride: t.PositiveInt | None
    queries: groups.Limit
    queries_of: dict[t.TaskDataName, t.PositiveInt]
    training_queries: groups.Limit
    metrics: groups.Names
    recall_at: t.PositiveInt
    deep_recall_at: t.PositiveInt | None

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        if "train" in self.splits:
            raise ValueError("splits: train is trained on; name validation or test")
        if "firstp" not in self.lengths:
            raise ValueError("lengths must give firstp")
        if self.deep_recall_at is not None and self.deep_recall_at <= self.depth:
            raise ValueError(
                f"deep_recall_at: {self.deep_recall_at} is within depth ({self.depth}); name it as recall_at, or null"
            )
        if self.recall_at > self.depth:
            raise ValueError(
                f"recall_at: {self.recall_at} passages, but depth finds {self.depth} for a query; lower it"
            )
        return self


class Retriever(t.Settings):
    """The dense first stage."""

    model: t.ModelName
    prefix: str
    pooling: Literal["first", "mean"]
    max_length: Annotated[t.PositiveInt, Field(ge=8)]


class Training(t.Settings):
    """Fine-tuning, alike for all."""

    accumulation: t.PositiveInt
    warmup_share: t.Dropout
    schedule: t.Course
    dropout: t.Dropout
    head_factor: t.PositiveFloat
    judged_negatives: bool
    optimizer: UpdateSettings
    seeds: t.Seeds


class ReadTwice(t.Settings):
    """Rerankers that read query and document in other orders too."""

    models: groups.Names
    orders: Annotated[list[OtherOrder], t.Distinct]


class First(t.Settings):
    """Decoders that rank lists by the logits of one token (FIRST), beside rerankers of pairs of the same model."""

    models: groups.Names
    window: Annotated[t.PositiveInt, Field(ge=2)]
    step: t.PositiveInt
    passage_tokens: t.PositiveInt
    ranknet_weight: t.NonNegativeFloat
    queries: groups.Limit
    pair_length: Annotated[t.PositiveInt, Field(ge=16)] | None

    @model_validator(mode="after")
    def _lists_fit(self) -> Self:
        if self.window > LETTERS:
            raise ValueError(f"window: {self.window} passages of a list, and there are {LETTERS} letters; lower it")
        if self.step >= self.window:
            raise ValueError(f"step: {self.step} places leave none of {self.window} for the next window; lower it")
        return self


class Neighbours(t.Settings):
    """Published rivals."""

    read_twice: ReadTwice
    first: First


class Spans(t.Settings):
    """A stage of training on spans of passages in place of questions."""

    words: Annotated[t.PositiveInt, Field(ge=2)]
    query_words: t.PositiveInt
    scattered: t.Probability
    foreign: t.Dropout
    windows: t.PositiveInt
    near: t.Probability
    max_length: Annotated[t.PositiveInt, Field(ge=16)]
    max_query: t.PositiveInt
    negatives: t.PositiveInt
    epochs: t.PositiveFloat
    batch_size: t.PositiveInt
    learning_rate: t.PositiveFloat
    schedule: t.Course


class WarmStart(groups.WarmStart):
    """Pre-training of models that are drawn at random."""

    language_model: bool
    mask_probability: Annotated[
        t.OpenProbability, t.ReadBeside("rerankers.bert_base.model=bert_mini_mlm; warm_start.text.corpus=squad_text")
    ]
    spans: dict[t.SafeName, Spans]


class Speed(t.Settings):
    """Models, lengths and batches that are timed."""

    models: groups.Names
    dtype: t.Computed
    attention: dict[Family, Annotated[list[Attention], Field(min_length=1), t.Distinct]]
    training_length: Annotated[t.PositiveInt, Field(ge=2)]
    training_batches: _Lengths
    lengths: _Lengths
    batch: t.PositiveInt
    documents: t.PositiveInt
    warmups: t.NonNegativeInt
    repeats: Annotated[t.PositiveInt, Field(ge=2)]
    operators: t.PositiveInt


class SsmRerankersSettings(t.Settings):
    """Language models as cross-encoders: state spaces beside attention."""

    rerankers: dict[t.SafeName, Reranker]
    compared: Annotated[groups.Names, Field(min_length=1)]
    encoder_cls: groups.Names
    passages: Task
    documents: Task
    retriever: Retriever
    training: Training
    neighbours: Neighbours
    dtype: t.Computed
    warm_start: Annotated[
        WarmStart, t.ReadBeside("rerankers.opt_125m.model=opt_mini; warm_start.text.corpus=squad_text")
    ]
    speed: Speed
    cost: groups.Published

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        groups.require("compared", self.compared, self.rerankers, "rerankers")
        groups.require("encoder_cls", self.encoder_cls, self.rerankers, "rerankers")
        for name in self.encoder_cls:
            if self.rerankers[name].family != "bart":
                raise ValueError(
                    f"encoder_cls: {name} has no encoder beside a decoder; name rerankers of the family bart"
                )
        groups.require("neighbours.read_twice.models", self.neighbours.read_twice.models, self.compared, "compared")
        groups.require("neighbours.first.models", self.neighbours.first.models, self.rerankers, "rerankers")
        for name in self.neighbours.first.models:
            if self.rerankers[name].template != "document_first":
                raise ValueError(f"neighbours.first.models: {name} predicts no next token; name decoders")
        groups.require("speed.models", self.speed.models, self.rerankers, "rerankers")
        if self.passages.dataset is None:
            raise ValueError("passages.dataset: name a data set")
        return self
