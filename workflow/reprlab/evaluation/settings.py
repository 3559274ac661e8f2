"""Settings of scores and baselines."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.baselines.declared import BaselineName

_STRICT = ConfigDict(extra="forbid", frozen=True)

MetricName = Literal[
    "accuracy",
    "matthews",
    "f1",
    "macro_f1",
    "pearson",
    "spearman",
    "rouge_l",
    "exact_match",
    "tag_accuracy",
    "tag_f1",
    "entity_f1",
    "entity_precision",
    "entity_recall",
]


class BaselineSettings(BaseModel):
    """Trivial baselines of one task, in the same rows as the models."""

    model_config = _STRICT

    metrics: list[MetricName] = Field(min_length=1)
    """Scores to report."""
    baselines: list[BaselineName] = Field(default=["majority", "tfidf", "char_tfidf"], min_length=1)
    """Their names; `baselines.declared` says what they do. By default those of one label."""
    splits: list[str] = ["validation"]
    """Splits to score."""
    train_limit: int | None = Field(default=None, ge=1)
    """Fit on this many training examples, chosen at random once; null: all."""
    eval_limit: int | None = Field(default=None, ge=1)
    """Score only this many examples of each split, chosen at random once; null: all."""
    seed: int = Field(default=0, ge=0)
    """Seed of the random baseline and of the bootstrap."""
    resamples: int = Field(default=1000, ge=2)
    """Bootstrap samples behind the intervals."""
