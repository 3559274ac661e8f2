"""Which file feeds which row and column of the paper's tables.

===========================================================  ======================
table                                                        layout
===========================================================  ======================
table2_reduction, table3_deberta_sizes, table4_xnli          `ReductionLayout`
table5_models, table6_deberta                                `SizesLayout`
fig2_vocab_trend                                             `TrendLayout`
table1_unseen_tokens                                         `UnseenLayout`
table10_glue                                                 `GlueLayout`
table9_runtime                                               `RuntimeLayout`
claims                                                       `ClaimsLayout`
===========================================================  ======================
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from reprlab.reporting.layouts import Scale, Statistics


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class ModelRow(_Strict):
    """A model as a row."""

    name: str
    """Its name in the table of sizes."""
    label: str
    """Its name in the table."""
    tokenizer: str = ""
    """The model whose tokenizer counts for it; empty where none is at hand."""


class CountColumn(_Strict):
    """A column of counted data."""

    name: str
    """Name of the column."""
    data: str = ""
    """True name of the data, shown in data_<column>."""
    counts: dict[str, list[Path]] = {}
    """Tokenizer: its counts of the data, put together where there are several."""
    reason: str = ""
    """Why the column is empty, for the note."""


class ReductionLayout(_Strict):
    """Reductions by model and column."""

    scale: Scale
    """Scale of the run."""
    sizes: Path
    """Table of model sizes."""
    models: list[ModelRow]
    """Rows."""
    columns: list[CountColumn]
    """Columns in the paper's order."""
    splits: list[list[str]]
    """Unions of splits, one block of rows each."""
    compared: list[str]
    """The union that stands beside the paper's numbers."""
    millions: bool = False
    """Millions of parameters in place of percentages (Table 3)."""
    mean: bool = True
    """Whether there is a column with the mean of the others."""
    note: str = ""
    """What a reader of every row must know."""


class SizesLayout(_Strict):
    """Sizes of models."""

    scale: Scale
    """Scale of the run."""
    sizes: Path
    """Table of model sizes."""
    models: list[ModelRow]
    """Rows."""
    family: bool = False
    """Layers, heads and width in place of the vocabulary (Table 6)."""


class TrendLayout(_Strict):
    """Unique tokens by tokens."""

    scale: Scale
    """Scale of the run."""
    tokenizers: list[ModelRow]
    """Tokenizers, by the model that they come with."""
    columns: list[CountColumn]
    """Data sets."""
    splits: list[str]
    """The splits that are put together."""


class UnseenLayout(_Strict):
    """Tokens that do not occur."""

    scale: Scale
    """Scale of the run."""
    tokenizers: list[ModelRow] = []
    """Vocabularies that are searched."""
    folders: dict[str, Path] = {}
    """Tokenizer: its folder."""
    counts: dict[str, Path] = {}
    """Tokenizer: its counts of the corpus."""
    data: str = ""
    """True name of the corpus."""
    examples: int = 5
    """Tokens that are shown of each vocabulary."""
    reason: str = ""
    """Why there are no rows of ours."""


def seed_name(seed: int) -> str:
    """Name of a run in a table of scores."""
    return f"s{seed}"


class Arm(_Strict):
    """One model on one task with all seeds, with or without PEMA."""

    model: str
    """Name of the model in the registry."""
    task: str
    """Column."""
    pema: bool
    """Whether the matrix was partial while training."""
    seeds: list[int]
    """Seeds of its runs."""
    metrics: Path
    """Scores of all its runs in one table, by `seed_name`."""


class ScoredColumn(_Strict):
    """A column of Table 10."""

    name: str
    """Name of the column."""
    data: str = ""
    """True name of the data."""
    metric: str = ""
    """Metric in the metrics tables."""
    subset: str = ""
    """Part of the split that is shown (MNLI: matched)."""
    task: str = ""
    """Task whose runs fill it; empty where there is no data."""
    baselines: Path | None = None
    """Scores of the trivial baselines."""
    reason: str = ""
    """Why the column is empty."""


class GlueLayout(_Strict):
    """Scores with and without PEMA."""

    scale: Scale
    """Scale of the run."""
    columns: list[ScoredColumn]
    """Columns in the paper's order; a last one for MNLI's mismatched part."""
    arms: list[Arm]
    """The runs."""


class Timing(_Strict):
    """One timed run."""

    model: str
    """Name of the model."""
    task: str
    """Data set's column."""
    seed: int
    """Seed."""
    pema: bool
    """Whether the matrix was partial."""
    measured: Path
    """TSV of measure_finetuning."""


class RuntimeLayout(_Strict):
    """Time and memory."""

    scale: Scale
    """Scale of the run."""
    columns: dict[str, str]
    """Task: true name of its data."""
    timings: list[Timing]
    """The runs."""


class ClaimsLayout(_Strict):
    """Evidence of the claims."""

    scale: Scale
    """Scale of the run."""
    trend: Path
    """fig2_vocab_trend.tsv."""
    reduction: Path
    """table2_reduction.tsv."""
    family: Path
    """table3_deberta_sizes.tsv."""
    xnli: Path
    """table4_xnli.tsv."""
    runtime: Path
    """table9_runtime.tsv."""
    compared: str
    """The union of splits that is looked at, as the tables name it."""
    arms: list[Arm] = []
    """Runs with and without PEMA."""
    metrics: dict[str, str] = {}
    """Task: its metric."""
    statistics: Statistics = Statistics()
    """Bootstrap."""
