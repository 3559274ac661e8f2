"""Which file feeds which table, figure and claim of DEPTH.

Keys of rows are those of the paper's own tables: `init` is fs, cpt, public (released weights) or baseline; `model` is
t5, depth, t5-base or the name of a baseline.

=========================================================  =====================
table                                                      layout
=========================================================  =====================
glue, discoeval, ni, and each with `_cells` behind it      `BenchmarkLayout`
table1                                                     `MeansLayout`
loss_fs, loss_cpt, loss_decomposition, packing_lr,         `LossLayout`
sentence_weight, padding_in_loss, int8_bug, table2_scale
error_sample                                               `ErrorSampleLayout`
claims                                                     `ClaimsLayout`
=========================================================  =====================
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.reporting.layouts import BenchmarkLayout, FinetunedRun, LossLayout, PretrainedRun, Scale, Statistics

_STRICT = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

__all__ = ["BenchmarkLayout", "ClaimsLayout", "ErrorSampleLayout", "LossLayout", "MeansLayout", "SampledRun"]


class MeansLayout(BaseModel):
    """table1: means over the tasks of discoeval."""

    model_config = _STRICT

    scale: Scale
    """Scale of the run."""
    discoeval: Path
    """The finished discoeval.tsv."""


class SampledRun(BaseModel):
    """Predictions of one model on one task, at one checkpoint."""

    model_config = _STRICT

    run: FinetunedRun
    """The fine-tuned ladder; its last checkpoint is sampled."""
    examples: Path
    """examples.parquet of the task, for the text."""
    labels: list[str] = []
    """Labels of the task; empty where targets are free text."""
    data: str
    """True name of the data."""
    split: str = "validation"
    """Split that is sampled."""
    eval_mode: str = ""
    """How the predictions were made; empty: the first way in the file."""


class ErrorSampleLayout(BaseModel):
    """error_sample: predictions for annotation by hand (the paper's Tables 3 and 4)."""

    model_config = _STRICT

    scale: Scale
    """Scale of the run."""
    runs: list[SampledRun]
    """What is sampled; runs of one task get the same examples."""
    examples: int = Field(default=30, ge=1)
    """Predictions of each run."""
    seed: int = Field(default=0, ge=0)
    """Seed of the sample."""


class ClaimsLayout(BaseModel):
    """Evidence of the claims."""

    model_config = _STRICT

    scale: Scale
    """Scale of the run."""
    fs: list[PretrainedRun] = []
    """Runs from scratch."""
    cpt: list[PretrainedRun] = []
    """Continued runs."""
    sentence_weight: list[PretrainedRun] = []
    """Variants baseline, 1x and 5x."""
    packing_lr: list[PretrainedRun] = []
    """T5 with and without packing, by learning rate."""
    cells: dict[Literal["glue", "discoeval", "ni"], Path] = {}
    """The finished *_cells.tsv."""
    statistics: Statistics = Statistics()
    """Bootstrap."""
