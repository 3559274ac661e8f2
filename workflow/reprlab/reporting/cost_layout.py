"""What the cost of a paper is worked out from: the runs of one scale, their sizes, and where their times stand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

_STRICT = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Shape(BaseModel):
    """Sizes of an encoder-decoder."""

    model_config = _STRICT

    width: int
    """Width of the residual stream (d_model)."""
    heads: int
    """Attention heads of a block."""
    inner: int
    """Heads times their width."""
    feed_forward: int
    """Width of the feed-forward part."""
    gated: bool
    """Whether that part has a gate, so three matrices in place of two."""
    encoder_layers: int
    """Blocks of the encoder."""
    decoder_layers: int
    """Blocks of the decoder."""
    vocabulary: int
    """Rows of the output layer."""

    @classmethod
    def of_t5(cls, config: Mapping[str, bool | int | float | str], vocabulary: int) -> Shape:
        """The sizes of a T5 by the names of its transformers configuration."""
        return cls(
            width=int(config["d_model"]),
            heads=int(config["num_heads"]),
            inner=int(config["num_heads"]) * int(config["d_kv"]),
            feed_forward=int(config["d_ff"]),
            gated=str(config["feed_forward_proj"]).startswith("gated"),
            encoder_layers=int(config["num_layers"]),
            decoder_layers=int(config["num_decoder_layers"]),
            vocabulary=vocabulary,
        )


class Model(BaseModel):
    """A model that is trained or run."""

    model_config = _STRICT

    shape: Shape
    """Its sizes."""
    parameters: int
    """Its parameters, tied ones once."""


class Accelerator(BaseModel):
    """The device that hours are given for."""

    model_config = _STRICT

    name: str
    """Its name."""
    peak_flops: float = Field(gt=0)
    """Dense matrix multiplications in bfloat16, FLOP per second, by the maker's data sheet."""
    memory_gb: float = Field(gt=0)
    """Its memory."""
    utilisation: float = Field(gt=0, le=1)
    """Share of the peak that training is assumed to reach."""


class CostRun(BaseModel):
    """Equal jobs of a stage."""

    model_config = _STRICT

    scale: str
    """Scale of the run."""
    stage: Literal["pretrain_lm", "evaluate_lm", "finetune_model"]
    """The stage."""
    name: str
    """What the jobs have in common: a run, or a model and a task."""
    jobs: int = Field(ge=1)
    """Trainings, or evaluations of a checkpoint, in all."""
    model: str
    """Name of the model in the layout."""
    steps: int = Field(ge=0)
    """Updates of one training; 0 for inference."""
    batch_size: int = Field(ge=1)
    """Examples of an update, or of a batch of inference."""
    forwarded: int = Field(default=0, ge=0)
    """Examples that each job sends forward only (validation, prediction)."""
    text_length: float
    """Tokens of an example before corruption; the upper bound where nothing was measured."""
    encoder_share: float
    """Tokens of the encoder for each token of text."""
    decoder_share: float
    """Tokens of the decoder for each token of text."""
    decoder_extra: float = 0
    """Tokens of the decoder besides those."""
    part_size: int = Field(ge=1)
    """Examples that one device holds at once."""
    devices: int = Field(default=1, ge=1)
    """Devices of one job."""
    activation_bytes: Literal[2, 4]
    """Bytes of a number in forward and backward pass."""
    published_hours: str = ""
    """Hours that the paper reports for one job."""
    measured: list[Path] = []
    """Tables with the times or tokens of these jobs; empty: not run."""
    benchmarks: list[str] = []
    """The engine's benchmark files of these jobs, relative to its folder of benchmarks."""
    note: str = ""
    """What a reader must know."""


class CostLayout(BaseModel):
    """The runs of a paper: as published, and those of the active scale that were measured."""

    model_config = _STRICT

    accelerator: Accelerator
    """Device of the published runs."""
    models: dict[str, Model]
    """The models by name."""
    runs: list[CostRun]
    """All of them."""

    @model_validator(mode="after")
    def _models_are_known(self) -> Self:
        for run in self.runs:
            if run.model not in self.models:
                raise ValueError(f"{run.name}: no model {run.model!r}")
        return self
