"""Which file feeds which row and column of a table: benchmark scores of fine-tuned ladders, losses of pre-trained ones.

The plan of a paper makes these models and hands each to its stage as one JSON option; every path in them is an input of
that stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reprlab.runtime.errors import ReprlabError

_STRICT = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

Scale = Literal["nano", "mini", "small", "paper"]
Layout = TypeVar("Layout", bound=BaseModel)


class Statistics(BaseModel):
    """The bootstrap behind intervals."""

    model_config = _STRICT

    resamples: int = Field(default=2000, ge=100)
    """Bootstrap samples."""
    confidence: float = Field(default=0.95, gt=0.5, lt=1)
    """Level of the intervals."""
    seed: int = Field(default=0, ge=0)
    """Seed of the resampling."""


class Column(BaseModel):
    """One column of a benchmark table."""

    model_config = _STRICT

    name: str
    """Name of the column, such as sp_arxiv."""
    task: str = ""
    """Task whose runs fill the column; empty where there is no data."""
    data: str = ""
    """True name of the data, shown in data_<column>; it says so where stand-in data fills a benchmark's column."""
    metric: str = ""
    """Metric in the runs' metrics, such as accuracy."""
    split: str = "validation"
    """Split whose value is shown."""
    eval_mode: str = ""
    """generate or teacher_forced; empty: whichever the runs have."""
    subset: str = ""
    """Part of the split (MNLI: matched, mismatched); empty: all of it."""
    baselines: Path | None = None
    """metrics of evaluate_baselines on the task."""
    trivial: str = "majority"
    """Baseline that a trained row must beat to be called learned."""
    reason: str = ""
    """Why the column is empty, for the note."""


class Checkpoint(BaseModel):
    """One checkpoint of a ladder."""

    model_config = _STRICT

    name: str
    """Its name in metrics and predictions, such as step-00000400."""
    step: int
    """Pre-training updates, as the `step` column shows them."""


class FinetunedRun(BaseModel):
    """A ladder fine-tuned on one task with one pre-training seed."""

    model_config = _STRICT

    init: str
    """fs, cpt or public."""
    model: str
    """t5, depth or t5-base."""
    seed: int
    """Seed of the run."""
    task: str
    """Task, as in Column.task."""
    checkpoints: list[Checkpoint]
    """The checkpoints that were fine-tuned."""
    metrics: list[Path] = Field(min_length=1)
    """metrics.tsv of its fine-tuning jobs."""
    predictions: list[Path] = []
    """predictions.parquet of the same jobs; only error_sample needs them."""
    selection: Path | None = None
    """selected.json; None where one learning rate was run."""
    pretraining: Path | None = None
    """metrics.tsv of the pre-training run, for the tokens that it saw."""
    trained: bool = True
    """False for rows that serve as baselines (untrained weights): they get no verdict."""


class BenchmarkLayout(BaseModel):
    """glue, discoeval, ni, and their *_cells."""

    model_config = _STRICT

    scale: Scale
    """Scale of the run."""
    columns: list[Column]
    """Columns in the paper's order."""
    extra_columns: list[Column] = []
    """Columns that the paper does not have, behind the others (NI with teacher-forced predictions)."""
    runs: list[FinetunedRun]
    """All runs."""


class PretrainedRun(BaseModel):
    """One pre-training run with its evaluated ladder."""

    model_config = _STRICT

    model: str
    """t5 or depth."""
    init: str = "fs"
    """fs or cpt."""
    seed: int
    """Seed of the run."""
    variant: str = ""
    """What an ablation varies: baseline, 1x, 5x; correct, upstream."""
    packing: bool = False
    """Whether passages were joined up to the full length."""
    learning_rate: float = 0.0
    """Peak learning rate, for packing_lr."""
    metrics: Path | None = None
    """metrics.tsv of pretrain_lm: the training loss by step, and tokens."""
    evaluation: Path | None = None
    """TSV of evaluate_lm: validation sums by run, step and batch."""
    evaluation_run: str = ""
    """The rows of this run in it; empty: all."""
    parameters: int = 0
    """Parameters, for table2_scale."""
    batch_size: int = 0
    """Examples of one update, for table2_scale."""


class LossLayout(BaseModel):
    """loss_fs, loss_cpt, loss_decomposition, packing_lr, sentence_weight, padding_in_loss, int8_bug, table2_scale."""

    model_config = _STRICT

    scale: Scale
    """Scale of the run."""
    data: str
    """True name of the corpus."""
    runs: list[PretrainedRun]
    """The runs that the table shows."""
    statistics: Statistics = Statistics()
    """Bootstrap over validation batches."""
    reason: str = ""
    """Why there are no runs, for the note of an otherwise empty table."""


def paths_of(value: object) -> Iterator[Path]:
    """Every path in a layout: what its rule must declare as input."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from paths_of(getattr(value, name))
    elif isinstance(value, dict):
        for item in value.values():
            yield from paths_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from paths_of(item)


def read_layout(
    model: type[Layout],
    layout: str,
    inputs: Sequence[Path],
    what: str,
    files: Callable[[Layout], Iterable[Path]] = paths_of,
) -> Layout:
    """The layout of `what`, given as JSON; its `files` must all be inputs.

    Raises:
        ReprlabError: it is not valid or names a file that is no input.
    """
    try:
        parsed = model.model_validate_json(layout)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ReprlabError(f"layout of {what}: {where}: {first['msg']}") from None
    undeclared = sorted(str(path) for path in set(files(parsed)) - set(inputs))
    if undeclared:
        raise ReprlabError(f"layout of {what}: {undeclared[0]} is not among the inputs; add it to the rule's input")
    return parsed
