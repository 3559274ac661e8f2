"""Settings of sequence-to-sequence training on pairs of texts, of what is generated, and of its scores."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.inference.chat_settings import ChatSettings
from reprlab.training.settings import EngineSettings

StructureTask = Literal["ner", "openie", "multitask", "chunking", "pos", "srl", "sbd", "relations"]
_STRICT = ConfigDict(extra="forbid", frozen=True)

PairTask = Literal["restoration"] | StructureTask
Split = Literal["train", "validation", "test"]


class PairSettings(BaseModel):
    """Text or labelled rows as pairs."""

    model_config = _STRICT

    tasks: list[PairTask] = Field(min_length=1)
    """Task of the rows of each table, in the order of the tables."""
    words: int | None = Field(default=None, ge=1)
    """restoration: excerpts with more words are left out, and counted; null: none are."""
    limits: dict[Split, int | None]
    """Rows of each split and table, drawn once; null takes all. A split that is not named is left out."""


class PairTraining(BaseModel):
    """One run on pairs."""

    model_config = _STRICT

    input_length: int = Field(ge=8)
    """Tokens of a source with its prompt; longer ones are cut."""
    target_length: int = Field(ge=4)
    """Tokens of a target; longer ones are cut."""
    engine: EngineSettings
    """Loop, optimizer and schedule; the last step is always kept."""
    epochs: float | None = Field(default=None, gt=0)
    """Passes over the pairs; replaces engine.steps where given."""
    horizon_epochs: float | None = Field(default=None, gt=0)
    """Passes after which a linear schedule reaches 0; null: at the end. Upstream's resumed runs end long before it."""
    group_by_length: bool = False
    """Train on batches of similar length: less padding, so faster; published recipes draw batches at random."""
    dropout: float = Field(default=0.0, ge=0, lt=1)
    """Dropout of every layer."""
    init_step: int | None = Field(default=None, ge=0)
    """Step of the ladder to start from, where `init` is a ladder; null: `init` is a model."""
    copied: bool = False
    """Write the source back in place of the target: the control that separates a task from copying."""


class GenerationSettings(BaseModel):
    """Generation by a trained model."""

    model_config = _STRICT

    split: Split = "test"
    """Pairs that are answered."""
    limit: int | None = Field(default=None, ge=1)
    """Only this many of them, drawn once; null: all."""
    step: int | None = Field(default=None, ge=0)
    """Step of the ladder; null: the last one."""
    beams: int = Field(ge=1)
    """Beams of the search; 1 is greedy."""
    input_length: int = Field(ge=8)
    """Tokens of a source with its prompt."""
    max_length: int = Field(ge=1)
    """Longest answer in tokens."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Arithmetic."""


class ChatAnswers(BaseModel):
    """Pairs that a chat model answers without training."""

    model_config = _STRICT

    chat: ChatSettings
    """The model."""
    split: Split = "test"
    """Pairs that are answered."""
    limit: int | None = Field(default=None, ge=1)
    """Only this many of them, drawn once; null: all."""


class PairScoring(BaseModel):
    """Scores of answers."""

    model_config = _STRICT

    step: int | None = Field(default=None, ge=0)
    """Step of the ladder that answered; null: the last one."""
    resamples: int = Field(default=1000, ge=2)
    """Bootstrap samples behind the intervals."""
    seed: int = Field(default=0, ge=0)
    """Their seed."""
