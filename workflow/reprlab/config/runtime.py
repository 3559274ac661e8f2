"""The settings of `config/config.yaml`: what to run and how, for all papers."""

# ruff: noqa: RUF012 (pydantic copies mutable defaults)

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from reprlab.settings.base import NonNegativeInt, PositiveInt, RunName, SafeName, Seed, Settings, Slug

SCALES = ("paper", "small", "mini", "nano")
REHEARSAL = "rehearsal"
"""The plan of scale paper with sizes cut, of which jobs that differ in numbers alone run once (`make rehearse`)."""
Scale = Literal["paper", "small", "mini", "nano", "rehearsal"]


class RuntimeSettings(Settings):
    """Settings that change no result: editing one reruns nothing."""

    device: Annotated[str, StringConstraints(pattern=r"^(auto|cpu|cuda(:[0-9]{1,2})?)$")] = "auto"
    """Where tensors live: auto (a GPU where there is one), cpu, cuda or cuda:N."""

    dataloader_workers: NonNegativeInt = 0
    """Processes that prepare batches while the model trains; 0 prepares them in the training process."""

    processes: PositiveInt = 1
    """Processes that a stage without a model (sentence splitting, tokenising) may start."""

    training_processes: PositiveInt = 1
    """Processes of one pre-training job on one machine, one for each GPU; the global batch stays the same."""

    training_nodes: PositiveInt = 1
    """Machines of one pre-training job, on Slurm; each starts training_processes; the global batch stays the same."""

    accumulation: PositiveInt = 1
    """Parts, at most, into which each training cuts what a device would hold at once. Results differ by rounding, and
    where there is dropout by its draws, as between one GPU and several."""

    activation_checkpointing: bool = False
    """Whether training keeps the inputs of a model's blocks alone and computes them again for the gradient: a third
    more time, the same results."""

    inference_batch: PositiveInt = 64
    """Examples in one batch of evaluation and generation."""

    save_every: PositiveInt = 500
    """Training steps between two saves from which a stopped run resumes."""

    preloaded: list[Scale] = ["nano", "mini", "rehearsal"]
    """Scales whose jobs on this machine are forked from one process that has the libraries loaded: a start costs no
    import. Memory and CPU time of such a job are in its log; the engine looks at another process."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Level of the terminal's messages; the log file of a stage has all of them."""

    track: Literal["none", "tensorboard", "csv"] = "none"
    """Training curves in `track/` of the run's folder when a run ends: events for TensorBoard, or one CSV."""


class NumericsSettings(Settings):
    """Settings of arithmetic: they change the last digits of results, so an edit reruns what computes."""

    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    """For papers whose own dtype is auto: bfloat16 on GPUs and on processors with AMX or AVX512_BF16, else float32."""


class WorkflowSettings(Settings):
    """The papers to build, at which scale, and with which resources."""

    scale: Scale = "mini"
    """paper (as published, on a cluster), small (one GPU or patience), mini (a laptop, minutes), nano (tests), or
    rehearsal (paper with sizes cut, each kind of job once)."""

    run: RunName | None = None
    """Name of the run; its files lie in runs/<run>/. null names it like the scale; mini lies at the root."""

    build: list[Slug] = []
    """Papers that `snakemake` builds when no target is given; empty: all papers."""

    seed: Seed = 2137
    """Seed of what the papers share: splits, tokenizers and random models of the registries."""

    runtime: RuntimeSettings = RuntimeSettings()
    """Result-neutral settings: an edit here reruns nothing."""

    numerics: NumericsSettings = NumericsSettings()
    """Arithmetic: an edit here reruns what computes with it."""

    keep_finetuned: bool = False
    """Keep each fine-tuned model with its tokenizer, in `models` beside its metrics. Changes no score."""

    threads: dict[SafeName, Annotated[PositiveInt, Field(le=1024)]] = {"default": 1}
    """Threads of a stage by its name; `default` for the others. On CPUs one each and jobs side by side is fastest."""
