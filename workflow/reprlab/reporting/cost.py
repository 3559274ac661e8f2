"""`cost.tsv`: FLOPs, memory and hours of a paper's training and inference, and the count held against runs here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.config.models import ModelEntry
from reprlab.models.flops import CountedModel, forward_flops, parameter_counts, training_flops
from reprlab.reporting.cost_layout import Accelerator, CostLayout, CostRun, Shape
from reprlab.reporting.cost_measured import Measured, measure
from reprlab.reporting.cost_memory import memory_gb

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


def cost_table(layout: CostLayout, benchmarks: Path) -> pandas.DataFrame:
    """One row for equal jobs of a stage.

    - `encoder_tokens`, `decoder_tokens`: of one example; upper bounds (inputs filled to their length) as published,
      means where a run was measured.
    - `flops`: of all jobs together; `memory_gb`: of one device.
    - `hours`: of one job on `devices`; `device_hours`: of all.
    - `predicted_seconds`: the counted FLOPs over the rate at which this machine ran all measured pre-training, or
      all measured runs of a paper that does none; `ratio`: measured over predicted. It says how well the count
      compares runs of different shapes, not how fast the machine is.

    Args:
        layout: the runs.
        benchmarks: folder of the engine's benchmark files.
    """
    import pandas

    costs = [RunCost(run, layout.models[run.model], measure(run, benchmarks)) for run in layout.runs]
    rate = _rate(costs)
    return pandas.DataFrame([_row(cost, rate, layout.accelerator) for cost in costs], columns=COLUMNS)


def _rate(costs: list[RunCost]) -> float:
    """FLOPs a second on this machine; 0 where nothing was measured."""
    found = [(cost, cost.seen) for cost in costs if cost.seen]
    pretraining = [(cost, seen) for cost, seen in found if cost.run.stage == "pretrain_lm"]
    chosen = pretraining or found
    seconds = sum(seen.seconds for _, seen in chosen)
    return sum(cost.flops * seen.share for cost, seen in chosen) / seconds if seconds else 0.0


@dataclass(frozen=True)
class RunCost:
    """A run with its model and, where it was made here, what was measured."""

    run: CostRun
    entry: ModelEntry
    seen: Measured | None = None

    @property
    def parameters(self) -> int:
        """Parameters of the model without adapters, tied ones once."""
        return parameter_counts(self._counted())[0]

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
        run, found = self.run, 0.0
        if run.steps:
            found += run.steps * run.batch_size * training_flops(self._adapted(), *self.lengths, run.part_size)
        if run.forwarded:
            found += run.forwarded * forward_flops(self._counted(), *self.lengths, run.part_size)
        return run.jobs * found

    def _counted(self) -> CountedModel:
        return CountedModel(self.entry, self.run.vocabulary, self.run.labels)

    def _adapted(self) -> CountedModel:
        return replace(self._counted(), rank=self.run.adapter_rank, targets=tuple(self.run.adapter_targets))

    def hours(self, accelerator: Accelerator) -> float:
        """Hours of one job on the run's devices."""
        short = self.run.dtype == "bfloat16"
        peak = accelerator.peak_flops if short else accelerator.peak_flops_float32
        return self.flops / self.run.jobs / (peak * accelerator.utilisation * self.run.devices) / 3600

    @property
    def memory_gb(self) -> float:
        """Memory of one device."""
        run = self.run
        outputs = run.labels or run.vocabulary or int(self.entry.config["vocab_size"])
        encoder, decoder = self.lengths
        return memory_gb(
            Shape.of(self.entry, outputs),
            self.parameters,
            run.part_size,
            encoder,
            decoder,
            2 if run.dtype == "bfloat16" else 4,
            training=run.steps > 0,
            adapter_parameters=parameter_counts(self._adapted())[1],
            keeps_states=run.stage == "collect_states",
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
        "parameters": cost.parameters,
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
