"""What the cost of a paper is worked out from: the runs of one scale, their sizes, and where their times stand."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from reprlab.config.models import ModelEntry

_STRICT = ConfigDict(extra="forbid", frozen=True)

ARCHITECTURES = ("t5", "llama", "distilbert", "bert", "roberta", "xlm_roberta", "deberta_v2")
"""Models whose sizes tell their memory."""


class Shape(BaseModel):
    """Sizes of an encoder-decoder.

    A causal language model and an encoder alone have no decoder layers: their blocks are those of the encoder, and the
    decoder's tokens are the places at which the output layer is read.
    """

    model_config = _STRICT

    width: int
    """Width of the residual stream (d_model)."""
    heads: int
    """Attention heads of a block."""
    inner: int
    """Heads times their width."""
    key_value: int
    """The same of keys and values, whose heads can be fewer."""
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
    def of(cls, entry: ModelEntry, outputs: int) -> Shape:
        """The sizes of an entry of ARCHITECTURES, by the names of its transformers configuration; `outputs` are the
        rows of its output layer."""
        numbers = entry.config

        def number(*names: str, otherwise: int = 0) -> int:
            return next((int(numbers[name]) for name in names if name in numbers), otherwise)

        width, heads = number("d_model", "hidden_size", "dim"), number("num_heads", "num_attention_heads", "n_heads")
        inner = heads * number("d_kv", otherwise=width // heads)
        gated = str(numbers.get("feed_forward_proj", "")).startswith("gated")
        return cls(
            width=width,
            heads=heads,
            inner=inner,
            key_value=inner // heads * number("num_key_value_heads", otherwise=heads),
            feed_forward=number("d_ff", "intermediate_size", "hidden_dim"),
            gated=gated or entry.architecture == "llama",
            encoder_layers=number("num_layers", "num_hidden_layers", "n_layers"),
            decoder_layers=number("num_decoder_layers"),
            vocabulary=outputs,
        )


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
        "pretrain_lm", "evaluate_lm", "finetune_model", "measure_finetuning", "train_adapter", "collect_states"
    ]
    """The stage."""
    name: str
    """What the jobs have in common: a run, or a model and a task."""
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
    forwarded: int = Field(default=0, ge=0)
    """Examples that each job sends forward only (validation, prediction)."""
    text_length: float
    """Tokens of an example before corruption; the upper bound where nothing was measured."""
    encoder_share: float = 1
    """Tokens of the encoder for each token of text."""
    decoder_share: float = 0
    """Tokens of the decoder for each token of text."""
    decoder_extra: float = 0
    """Tokens of the decoder besides those."""
    part_size: int = Field(ge=1)
    """Examples that one device holds at once."""
    devices: int = Field(default=1, ge=1)
    """Devices of one job."""
    dtype: Literal["float32", "bfloat16"]
    """Arithmetic of forward and backward pass."""
    adapter_rank: int = Field(default=0, ge=0)
    """Rank of low-rank adapters, which alone are trained; 0: all of the model is."""
    adapter_targets: list[str] = []
    """The layers that have one."""
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
