"""The input of a paper's cost: the runs of one scale, their sizes, and where their times are."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from reprlab.audio.settings import Tuning
from reprlab.registry.models import ModelEntry
from reprlab.sentences.settings import EncoderSettings

_STRICT = ConfigDict(extra="forbid", frozen=True)
TOTAL = "total"
"""The stage of a row of sums."""


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
    stage: str
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
    sequences: int = Field(default=1, ge=0)
    """Sequences of an example: the texts of a triple, the pairs of a group."""
    forwarded: float = Field(default=0, ge=0)
    """Sequences that each job sends forward only (validation, prediction); a mean over the jobs."""
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
    tuning: Tuning | None = None
    """The recogniser that is made of it; lengths are frames."""
    frozen: bool = False
    """Whether it only infers while what stands beside it is trained."""
    beside: float = Field(default=0, ge=0)
    """FLOPs of an update for each example in what is trained beside the model, by formula."""
    beside_forward: float = Field(default=0, ge=0)
    """The same for each sequence that is sent forward only."""
    beside_parameters: int = Field(default=0, ge=0)
    """Its parameters."""
    generated: float = Field(default=0, ge=0)
    """Tokens that are written behind each sequence that is sent forward only."""
    beams: int = Field(default=1, ge=1)
    """Beams of the search for them."""
    kept: float = Field(default=0, ge=0)
    """Copies of what is trained that the jobs keep, all of them together."""
    kept_bytes: float = Field(default=0, ge=0)
    """Bytes that they keep besides."""
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
        return self.part_size if self.stage == "train_encoder" else max(1, self.part_size // max(1, self.sequences))


class OtherJobs(BaseModel):
    """Jobs that download, or that ask a paid endpoint."""

    model_config = _STRICT

    stage: str
    """The stage."""
    name: str
    """What they are about."""
    jobs: int = Field(default=1, ge=1)
    """How many there are."""
    downloaded_bytes: float = Field(default=0, ge=0)
    """Bytes that they download, as far as they are known."""
    model: str = ""
    """Name of a model in the layout that they write; empty: none."""
    from_hub: bool = False
    """Whether it is downloaded as one."""
    weight_bytes: int = 4
    """Bytes of a weight as it is kept."""
    calls: float = Field(default=0, ge=0)
    """Requests to a paid endpoint."""
    asked_tokens: float = Field(default=0, ge=0)
    """Tokens that are sent to it."""
    answered_tokens: float = Field(default=0, ge=0)
    """Tokens that it answers, at most."""
    note: str = ""
    """The note for a reader."""


class CostLayout(BaseModel):
    """The runs of a paper at the active scale; published ones are measured nowhere."""

    model_config = _STRICT

    accelerator: Accelerator
    """Device of the published runs."""
    models: dict[str, ModelEntry]
    """The models by name: their architecture, on which FLOPs and parameters are counted; origins are not looked at."""
    runs: list[CostRun]
    """All of them."""
    published_hours: str = ""
    """Hours that the paper gives for all of its runs together."""
    others: list[OtherJobs] = []
    """What is downloaded and asked for besides."""

    @model_validator(mode="after")
    def _models_are_known(self) -> Self:
        both: list[CostRun | OtherJobs] = [*self.runs, *self.others]
        for one in both:
            if one.model and one.model not in self.models:
                raise ValueError(f"{one.name}: no model {one.model!r}")
        return self
