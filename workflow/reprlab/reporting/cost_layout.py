"""What the cost of a paper is worked out from: the runs of one scale, their sizes, and where their times stand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from reprlab.config.models import ModelEntry

_STRICT = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


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
    def of_t5(cls, config: Mapping[str, bool | int | float | str], vocabulary: int) -> Shape:
        """The sizes of a T5 by the names of its transformers configuration."""
        return cls(
            width=int(config["d_model"]),
            heads=int(config["num_heads"]),
            inner=int(config["num_heads"]) * int(config["d_kv"]),
            key_value=int(config["num_heads"]) * int(config["d_kv"]),
            feed_forward=int(config["d_ff"]),
            gated=str(config["feed_forward_proj"]).startswith("gated"),
            encoder_layers=int(config["num_layers"]),
            decoder_layers=int(config["num_decoder_layers"]),
            vocabulary=vocabulary,
        )

    @classmethod
    def of_llama(cls, config: Mapping[str, bool | int | float | str], vocabulary: int) -> Shape:
        """The sizes of a Llama by the names of its transformers configuration."""
        width, heads = int(config["hidden_size"]), int(config["num_attention_heads"])
        return cls(
            width=width,
            heads=heads,
            inner=width,
            key_value=width // heads * int(config.get("num_key_value_heads", heads)),
            feed_forward=int(config["intermediate_size"]),
            gated=True,
            encoder_layers=int(config["num_hidden_layers"]),
            decoder_layers=0,
            vocabulary=vocabulary,
        )

    @classmethod
    def of_encoder(cls, config: Mapping[str, bool | int | float | str], labels: int) -> Shape:
        """The sizes of a BERT, DistilBERT, RoBERTa or DeBERTa that classifies; DistilBERT has names of its own."""
        width = int(config.get("hidden_size", config.get("dim", 0)))
        return cls(
            width=width,
            heads=int(config.get("num_attention_heads", config.get("n_heads", 0))),
            inner=width,
            key_value=width,
            feed_forward=int(config.get("intermediate_size", config.get("hidden_dim", 0))),
            gated=False,
            encoder_layers=int(config.get("num_hidden_layers", config.get("n_layers", 0))),
            decoder_layers=0,
            vocabulary=labels,
        )


class Model(BaseModel):
    """A model that is trained or run."""

    model_config = _STRICT

    entry: ModelEntry
    """Its architecture, on which FLOPs are counted; its origin is not looked at."""
    vocabulary: int | None = None
    """Rows of the embedding in place of the entry's."""
    labels: int = 0
    """Outputs of a classification head; 0: a language model."""
    shape: Shape
    """Its sizes, from which memory is worked out."""
    parameters: int
    """Its parameters, tied ones once."""


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
    adapter_parameters: int = Field(default=0, ge=0)
    """Parameters of low-rank adapters, which alone are trained; 0: all of the model is."""
    adapter_rank: int = Field(default=0, ge=0)
    """Their rank."""
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
