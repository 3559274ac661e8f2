"""The input of a paper's cost: the runs of one scale, their sizes, and where their times are."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from reprlab.registry.models import ModelEntry
from reprlab.sentences.settings import EncoderSettings

_STRICT = ConfigDict(extra="forbid", frozen=True)


class Accelerator(BaseModel):
    """The device that hours are given for."""

    model_config = _STRICT

    name: str
    """Its name."""
    peak_flops: float = Field(gt=0)
    """Dense matrix multiplications of 16-bit numbers, FLOP per second, by the maker's data sheet."""
    peak_flops_float32: float = Field(gt=0)
    """The same in float32, without the shorter mantissa of TF32."""
    memory_gb: float = Field(gt=0)
    """Its memory."""
    utilisation: float = Field(gt=0, le=1)
    """Share of the peak that training is assumed to reach."""


class CostRun(BaseModel):
    """Equal jobs of a stage."""

    model_config = _STRICT

    scale: str
    """Scale of the run."""
    stage: Literal[
        "pretrain_lm",
        "evaluate_lm",
        "finetune_model",
        "measure_finetuning",
        "train_adapter",
        "collect_states",
        "train_encoder",
        "measure_layers",
        "train_reranker",
        "rerank_passages",
    ]
    """The stage."""
    name: str
    """The common part of the jobs: a run, or a model and a task."""
    jobs: int = Field(ge=1)
    """Trainings, or evaluations of a checkpoint, in all."""
    model: str
    """Name of the model in the layout."""
    vocabulary: int | None = None
    """Rows of its embedding in place of the entry's."""
    labels: int = 0
    """Outputs of a classification head; 0: a language model."""
    steps: int = Field(ge=0)
    """Updates of one training; 0 for inference."""
    batch_size: int = Field(ge=1)
    """Examples of an update, or of a batch of inference."""
    sequences: int = Field(default=1, ge=1)
    """Sequences of an example: the texts of a triple, the pairs of a group."""
    forwarded: int = Field(default=0, ge=0)
    """Sequences that each job sends forward only (validation, prediction)."""
    recomputed: float = Field(default=0, ge=0, le=1)
    """Share of an update's sequences whose forward pass is made twice, to keep no more than a part of the batch."""
    text_length: float
    """Tokens of a sequence before corruption: as many as it may have, or where that says little, a mean."""
    encoder_share: float = 1
    """Tokens of the encoder for each token of text."""
    decoder_share: float = 0
    """Tokens of the decoder for each token of text."""
    decoder_extra: float = 0
    """Tokens of the decoder besides those."""
    part_size: int = Field(ge=1)
    """Sequences that one device holds at once."""
    devices: int = Field(default=1, ge=1)
    """Devices of one job."""
    dtype: Literal["float32", "bfloat16"]
    """Arithmetic of forward and backward pass."""
    adapter_rank: int = Field(default=0, ge=0)
    """Rank of low-rank adapters, which alone are trained; 0: all of the model is."""
    adapter_targets: list[str] = []
    """The layers that have one."""
    headless: bool = False
    """Whether the model takes part without its output layer."""
    encoder: EncoderSettings | None = None
    """The sentence encoder that is made of it."""
    published_hours: str = ""
    """Hours that the paper reports for one job."""
    measured: list[Path] = []
    """Tables with the times or tokens of these jobs; empty: not run, or they tell neither."""
    spent: list[Path] = []
    """Tables with the seconds of their updates, where a stage writes these apart from its losses."""
    benchmarks: list[str] = []
    """The engine's benchmark files of these jobs, relative to its folder of benchmarks."""
    note: str = ""
    """The note for a reader."""

    @property
    def cuttable(self) -> int:
        """Pieces of which one device holds several at once: examples, or of a sentence encoder its texts."""
        if self.stage == "measure_finetuning":
            return 1  # its memory is its result
        return self.part_size if self.stage == "train_encoder" else max(1, self.part_size // self.sequences)


class CostLayout(BaseModel):
    """The runs of a paper: as published, and those of the active scale that were measured."""

    model_config = _STRICT

    accelerator: Accelerator
    """Device of the published runs."""
    models: dict[str, ModelEntry]
    """The models by name: their architecture, on which FLOPs and parameters are counted; origins are not looked at."""
    runs: list[CostRun]
    """All of them."""

    @model_validator(mode="after")
    def _models_are_known(self) -> Self:
        for run in self.runs:
            if run.model not in self.models:
                raise ValueError(f"{run.name}: no model {run.model!r}")
        return self
