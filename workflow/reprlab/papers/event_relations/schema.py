"""Settings of event relations (slug `event-relations`).

Li, Wang and Du: Efficient Document-level Event Relation Extraction. No public code.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from reprlab.config import groups
from reprlab.inference.chat_settings import ChatSettings
from reprlab.models.settings import Features
from reprlab.settings import base as t
from reprlab.training.settings import OptimizerSettings


class EventData(t.Settings):
    """One corpus: a column of the tables."""

    dataset: t.TaskDataName
    directed: bool
    folds: t.NonNegativeInt
    tested: Annotated[list[t.NonNegativeInt], Field(min_length=1), t.Distinct]
    labels: Annotated[list[str], Field(min_length=1), t.Distinct]
    documents: groups.Limit

    @model_validator(mode="after")
    def _folds_are_there(self) -> Self:
        if max(self.tested) >= max(self.folds, 1):
            raise ValueError(f"tested names fold {max(self.tested)}, but there are {max(self.folds, 1)}")
        return self


class Encoder(t.Settings):
    """The encoder of a retriever."""

    model: t.ModelName
    pooling: Literal["first", "mean"]


class Recipe(groups.Batches):
    """A training recipe."""

    epochs: t.PositiveFloat
    warmup_share: t.Dropout
    head_learning_rate: t.PositiveFloat
    max_length: Annotated[t.PositiveInt, Field(ge=16)]
    frozen_layers: t.NonNegativeInt
    optimizer: OptimizerSettings


class RetrieverRecipe(Recipe):
    """Fine-tuning of a retriever."""

    negatives: t.PositiveInt
    documents: groups.Limit


class ClassifierRecipe(Recipe):
    """A classifier of pairs."""

    model: t.ModelName | None
    kind: Literal["discriminative", "generative"]
    dropout: t.Dropout
    patience: t.PositiveInt | None
    features: Features
    decoding: Literal["scored", "greedy"]
    relation_weight: t.PositiveFloat
    most_seeds: groups.Limit


class GraphEncoding(t.Settings):
    """Dependency trees as the encoding."""

    parser: Annotated[str, Field(min_length=1)] | None
    learning_rate: t.PositiveFloat


class ZeroShot(t.Settings):
    """The row of a chat model."""

    enabled: bool
    chat: Annotated[ChatSettings, t.ReadBeside("", of="model"), t.ReadBeside("zero_shot.enabled=true")]


class EventRelationsSettings(t.Settings):
    """Retrieve the likely partners of each event, then name the relation."""

    data: dict[Literal["esc", "red", "maven"], EventData]
    unavailable: dict[Literal["esc", "red", "maven"], str]
    encoders: dict[Literal["roberta", "sbert"], Encoder]
    retriever_training: RetrieverRecipe
    classifiers: dict[Literal["roberta", "t5"], ClassifierRecipe]
    warm_start: Annotated[
        groups.WarmStart, t.ReadBeside("classifiers.t5.model=t5_mini; warm_start.text.corpus=squad_text")
    ]
    zero_shot: ZeroShot
    k: t.PositiveInt
    ks: Annotated[list[t.PositiveInt], Field(min_length=1), t.Distinct]
    ablation_classifier: Literal["roberta", "t5"]
    trigger_alone: bool
    graph: GraphEncoding
    chains: bool
    timed_events: Annotated[list[t.PositiveInt], Field(min_length=1), t.Distinct]
    case_study: t.PositiveInt
    seeds: t.Seeds
    sweep_seeds: t.PositiveInt
    sweep_retrievers: Annotated[list[Literal["roberta_ft", "sbert_ft"]], Field(min_length=1), t.Distinct]
    dtype: t.Computed
    cost: groups.Published

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        if self.k not in self.ks:
            raise ValueError(f"k ({self.k}) must be one of ks")
        if self.classifiers[self.ablation_classifier].model is None:
            raise ValueError(f"ablation_classifier: {self.ablation_classifier} has no model")
        return self
