"""Settings of prompts with their completions."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Template = Literal["summary", "question", "nli", "paraphrase", "choice"]
Format = Literal["default", "io", "instruct"]
Spacing = Literal["upstream", "clean"]
_STRICT = ConfigDict(extra="forbid", frozen=True)
Split = Literal["train", "validation", "test"]


class CompletionSettings(BaseModel):
    """What both kinds of files share: how an example becomes a prompt and its completion."""

    model_config = _STRICT

    template: Template
    """Whose prompts."""
    spacing: Spacing = "upstream"
    """Spaces between the fields."""
    end: Literal["as_written", "stripped"] = "as_written"
    """stripped: without the white space at the end of a prompt."""
    subset: str = ""
    """Subset of the data; empty: all of it."""
    words: dict[str, str] = {}
    """Word of a label of the data; a label that is not named stands for itself."""
    threshold: float | None = None
    """Data with scores: yes above it."""
    input_words: int | None = Field(default=None, ge=1)
    """Each text of an input is cut to its first words; null: it is whole."""
    seed: int = Field(default=42, ge=0)
    """Seed of the rows that are drawn."""


class TrainingTextSettings(CompletionSettings):
    """One training set."""

    chat: bool = False
    """Whether the texts are put into turns of user and assistant."""
    rows: int | None = Field(default=None, ge=1)
    """Training rows; null: `share` of them."""
    share: float = Field(default=1.0, gt=0, le=1)
    """Share of the rows that is taken, where `rows` is null."""
    held_out: int = Field(ge=1)
    """Further rows of the training split, whose loss is measured."""


class EvaluationTextSettings(CompletionSettings):
    """One evaluation set in several formats."""

    kind: Literal["generation", "classification", "choice"]
    """How it is scored."""
    formats: list[Format] = Field(min_length=1)
    """Formats of the prompts."""
    splits: list[Split] = Field(min_length=1)
    """Scored splits."""
    rows: int | None = Field(default=None, ge=1)
    """Scored rows; null takes all."""
    shots: int = Field(default=0, ge=0)
    """Most solved examples before a question."""
    shots_source: Literal["train", "eval_head"] = "train"
    """train: from the training split, or from rows that are then not scored; eval_head: the first scored rows."""
    gold_as_no: bool = False
    """Score as if every right answer were no, as the original does with data without labels."""


class TrainingPart(BaseModel):
    """One data set of a training set."""

    model_config = _STRICT

    examples: Path
    """Its examples."""
    settings: TrainingTextSettings
    """Its prompts."""


class EvaluationPart(BaseModel):
    """One evaluation set."""

    model_config = _STRICT

    examples: Path
    """Its examples."""
    settings: EvaluationTextSettings
    """Its prompts."""


class CompletionFile(BaseModel):
    """A training set out of one data set or several, or an evaluation set."""

    model_config = _STRICT

    training: list[TrainingPart] = []
    """Data sets of a training set."""
    evaluation: EvaluationPart | None = None
    """The evaluation set."""

    @model_validator(mode="after")
    def _is_one_of_both(self) -> Self:
        if bool(self.training) == (self.evaluation is not None):
            raise ValueError("give either training or evaluation")
        return self
