"""`cost.tsv`: FLOPs, memory and hours of a paper's training and inference, and the formula held against runs here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.reporting.cost_formula import forward_flops, memory_gb, training_flops
from reprlab.reporting.cost_layout import Accelerator, CostLayout, CostRun, Model
from reprlab.runtime.tables import read_tsv

if TYPE_CHECKING:
    import pandas

COLUMNS = [
    "scale",
    "stage",
    "name",
    "jobs",
    "devices",
    "parameters",
    "steps",
    "batch_size",
    "encoder_tokens",
    "decoder_tokens",
    "flops",
    "memory_gb",
    "hours",
    "device_hours",
    "paper_hours",
    "predicted_seconds",
    "measured_seconds",
    "ratio",
    "note",
]


@dataclass(frozen=True)
class Measured:
    """What a run's own files say."""

    seconds: float
    text_length: float
    """Mean tokens of an example before corruption."""
    share: float
    """Share of the run that the seconds belong to."""


def cost_table(layout: CostLayout, benchmarks: Path) -> pandas.DataFrame:
    """One row for equal jobs of a stage.

    - `encoder_tokens`, `decoder_tokens`: of one example; upper bounds (inputs filled to their length) as published,
      means where a run was measured.
    - `flops`: of all jobs together; `memory_gb`: of one device.
    - `hours`: of one job on `devices`; `device_hours`: of all.
    - `predicted_seconds`: the formula's FLOPs over the rate at which this machine ran all measured pre-training;
      `ratio`: measured over predicted. It says how well the formula compares runs of different shapes, not how fast
      the machine is.

    Args:
        layout: the runs.
        benchmarks: folder of the engine's benchmark files.
    """
    import pandas

    costs = [RunCost(run, layout.models[run.model], _measured(run, benchmarks)) for run in layout.runs]
    trained = [(cost, cost.seen) for cost in costs if cost.seen and cost.run.stage == "pretrain_lm"]
    seconds = sum(seen.seconds for _, seen in trained)
    rate = sum(cost.flops * seen.share for cost, seen in trained) / seconds if seconds else 0.0
    return pandas.DataFrame([_row(cost, rate, layout.accelerator) for cost in costs], columns=COLUMNS)


@dataclass(frozen=True)
class RunCost:
    """A run with its model and, where it was made here, what was measured."""

    run: CostRun
    model: Model
    seen: Measured | None = None

    @property
    def lengths(self) -> tuple[float, float]:
        """Tokens of encoder and decoder of one example."""
        run = self.run
        text = self.seen.text_length if self.seen else run.text_length
        # Labels besides corrupted text (sentence tokens) grow with the text; those of a task do not.
        extra = run.decoder_extra * (text / run.text_length if run.decoder_share else 1)
        return text * run.encoder_share, text * run.decoder_share + extra

    @property
    def flops(self) -> float:
        """FLOPs of all jobs."""
        run = self.run
        trained = run.steps * run.batch_size * training_flops(self.model.shape, *self.lengths)
        return run.jobs * (trained + run.forwarded * forward_flops(self.model.shape, *self.lengths))

    def hours(self, accelerator: Accelerator) -> float:
        """Hours of one job on the run's devices."""
        rate = accelerator.peak_flops * accelerator.utilisation * self.run.devices
        return self.flops / self.run.jobs / rate / 3600

    @property
    def memory_gb(self) -> float:
        """Memory of one device."""
        run, model = self.run, self.model
        encoder, decoder = self.lengths
        return memory_gb(
            model.shape,
            model.parameters,
            run.part_size,
            encoder,
            decoder,
            run.activation_bytes,
            training=run.steps > 0,
        )


def _row(cost: RunCost, rate: float, accelerator: Accelerator) -> dict[str, Any]:
    run, seen = cost.run, cost.seen
    encoder, decoder = cost.lengths
    hours = cost.hours(accelerator) if run.scale == "paper" else None
    predicted = cost.flops * seen.share / rate if seen and rate else None
    return {
        "scale": run.scale,
        "stage": run.stage,
        "name": run.name,
        "jobs": run.jobs,
        "devices": run.devices,
        "parameters": cost.model.parameters,
        "steps": run.steps,
        "batch_size": run.batch_size,
        "encoder_tokens": round(encoder, 1),
        "decoder_tokens": round(decoder, 1),
        "flops": f"{cost.flops:.3e}",
        "memory_gb": round(cost.memory_gb, 2),
        "hours": _rounded(hours),
        "device_hours": _rounded(hours and hours * run.jobs * run.devices),
        "paper_hours": run.published_hours,
        "predicted_seconds": _rounded(predicted),
        "measured_seconds": _rounded(seen.seconds if seen else None),
        "ratio": _rounded(seen.seconds / predicted if seen and predicted else None),
        "note": run.note,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.3g}")


def _measured(run: CostRun, benchmarks: Path) -> Measured | None:
    if not run.measured:
        return None
    if run.stage == "pretrain_lm":
        return _from_throughput(run)
    files = [benchmarks / name for name in run.benchmarks]
    if not all(file.exists() for file in files):
        return None
    seconds = sum(float(read_tsv(file)["s"].iloc[0]) for file in files)
    import pandas

    table = pandas.concat([read_tsv(path) for path in run.measured], ignore_index=True)
    if run.stage == "evaluate_lm":
        return Measured(seconds, float(table["tokens"].mean()) / run.batch_size, 1.0)
    cells = table.drop_duplicates(["name", "learning_rate"])
    seen = float(cells["steps"].sum()) * run.batch_size
    return Measured(seconds, float(cells["tokens"].sum()) / seen, 1.0) if seen else None


def _from_throughput(run: CostRun) -> Measured | None:
    """The run without its first row, which holds the warm-up of the process."""
    table = read_tsv(run.measured[0])
    if len(table) < 2:
        return None
    first, last = table.iloc[0], table.iloc[-1]
    steps = float(last["step"] - first["step"])
    tokens = float(last["tokens"] - first["tokens"])
    seconds = float(last["seconds"] - first["seconds"])
    if steps <= 0 or seconds <= 0:
        return None
    return Measured(seconds, tokens / steps / run.batch_size, steps / run.steps)
