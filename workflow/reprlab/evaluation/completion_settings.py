"""Settings of the scoring of decoders on prompts."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

_STRICT = ConfigDict(extra="forbid", frozen=True)

Method = Literal["generate", "tokenprob", "constrained", "free", "loglikelihood"]


class ScoreCell(BaseModel):
    """One evaluation set in one format, with one number of shots and one method, on some of the models."""

    model_config = _STRICT

    eval: str
    """Evaluation set."""
    fmt: Literal["default", "io", "instruct"] = "default"
    """Format of the prompts."""
    shots: int = Field(ge=0)
    """Solved examples before each question."""
    method: Method
    """How the answer is found."""
    names: list[str] = []
    """Models; none named means all."""


class ScoredModel(BaseModel):
    """Columns of the table about a model."""

    model_config = _STRICT

    name: str
    """Its checkpoint."""
    step: int
    """Updates of pre-training; 0 where they are not known."""
    tokens: int | None = None
    """Tokens of pre-training; null where they are not known."""


class AnswerSettings(BaseModel):
    """How models answer, and how sure their scores are."""

    model_config = _STRICT

    max_new_tokens: int = Field(ge=1)
    """Tokens of a generated text."""
    stop_at_newline: bool = False
    """Cut a generated text at its first line end."""
    free_tokens: int = Field(ge=1)
    """Tokens in which a free answer is looked for."""
    beams: int = Field(ge=1)
    """Beams of constrained answers."""
    all_subtokens: bool = False
    """TokenProb looks at every sub-token of a label word."""
    bootstrap: int = Field(ge=2)
    """Resamples of the rows."""
    seed: int = Field(ge=0)
    """Seed of the bootstrap."""
    dtype: Literal["float32", "bfloat16"]
    """Arithmetic."""


class CompletionScoring(AnswerSettings):
    """One job: models of one family and training set, on evaluation sets."""

    family: str
    """Family of the models."""
    train: str
    """Training set; base where there was none."""
    models: list[ScoredModel] = Field(min_length=1)
    """The models, in the order of their folders."""
    prompts: dict[str, Path]
    """Evaluation set to its prompts."""
    normalisation: dict[str, Literal["none", "tokens", "characters"]] = {}
    """Evaluation set with choices to what their log-likelihoods are divided by."""
    cells: list[ScoreCell] = Field(min_length=1)
    """Cells that are scored."""
    max_length: int = Field(ge=8)
    """Tokens of a prompt with its shots and its answer."""
    tuning_seed: int | None = None
    """Seed of fine-tuning; null where there was none."""
    notes: dict[str, str] = {}
    """Columns of the table about an evaluation set."""

    @model_validator(mode="after")
    def _cells_have_prompts(self) -> Self:
        for cell in self.cells:
            if cell.eval not in self.prompts:
                raise ValueError(f"{cell.eval} has a cell and no prompts")
        return self


class BaselinePrompts(BaseModel):
    """Prompts that baselines answer, and those that they are fitted on."""

    model_config = _STRICT

    prompts: Path
    """Those of an evaluation set."""
    training: Path | None = None
    """Those of a training set of the same task; null: the solved examples of the evaluation set."""


class CompletionBaselines(BaseModel):
    """Baselines of evaluation sets by their name."""

    model_config = _STRICT

    sets: dict[str, BaselinePrompts]
    """The evaluation sets."""
    bootstrap: int = Field(ge=2)
    """Resamples of the rows."""
    seed: int = Field(ge=0)
    """Seed of the bootstrap."""
