"""`cost.tsv`: FLOPs, memory and hours of a paper's training and inference, and the count compared with runs here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.tables import read_tsv
from reprlab.audio.counted_recognisers import CountedRecogniser
from reprlab.models.counted_models import CountedBackbone, CountedModel
from reprlab.models.flops import forward_flops, kept_bytes, parameter_counts, training_flops
from reprlab.registry.models import ModelEntry
from reprlab.reporting.cost_layout import TOTAL, Accelerator, CostLayout, CostRun, OtherJobs
from reprlab.reporting.cost_measured import Measured, measure
from reprlab.reporting.cost_memory import inference_gb, logits_bytes, training_gb
from reprlab.runtime.training_memory import TrainingMemory
from reprlab.sentences.counted_encoders import CountedEncoder

if TYPE_CHECKING:
    import pandas

# What is between blocks stays in float32, under autocast too.
_RESIDUAL_BYTES = 4
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
    "downloaded_gb",
    "kept_gb",
    "calls",
    "asked_tokens",
    "answered_tokens",
    "note",
]
_BYTES_OF_WEIGHT = 4


def cost_table(layout: CostLayout, scale: str, benchmarks: Path) -> pandas.DataFrame:
    """One row for equal jobs of a stage, and one with their sums.

    - `batch_size`: examples, which are several sequences where they are triples or groups.
    - `encoder_tokens`, `decoder_tokens`: of one sequence; upper bounds (inputs filled to their length) as published,
      means where a run was measured.
    - `flops`: of all jobs together; `memory_gb`: of one device, at the longest sequences that it may hold at once.
    - `hours`: of one job on `devices`; `device_hours`: of all.
    - `predicted_seconds`: the counted FLOPs over the rate at which this machine ran all measured pre-training, or
      all measured runs of a paper that does none; `ratio`: measured over predicted. It says how well the count
      compares runs of different shapes, not how fast the machine is.
    - `downloaded_gb`: of archives whose size is known, and of weights in float32; `kept_gb`: of initial models,
      checkpoints and stored states; `calls`: requests to a paid endpoint, with the tokens that are sent and answered.

    Args:
        layout: the runs.
        scale: that of the layout.
        benchmarks: folder of the engine's benchmark files.
    """
    import pandas

    costs = [RunCost(run, layout.models[run.model], measure(run, benchmarks)) for run in layout.runs]
    rate = _rate(costs)
    rows = [_row(cost, rate, layout.accelerator) for cost in costs]
    rows += [_other_row(one, layout, scale) for one in layout.others]
    return pandas.DataFrame([*rows, _total(rows, layout, scale)], columns=COLUMNS)


def _other_row(one: OtherJobs, layout: CostLayout, scale: str) -> dict[str, Any]:
    weights = parameter_counts(CountedModel(layout.models[one.model]))[0] if one.model else 0
    downloaded = one.downloaded_bytes + (_BYTES_OF_WEIGHT * weights if one.from_hub else 0)
    return {
        "scale": scale,
        "stage": one.stage,
        "name": one.name,
        "jobs": one.jobs,
        "parameters": weights or None,
        "downloaded_gb": _rounded(downloaded / 1e9),
        "kept_gb": _rounded(one.jobs * weights * one.weight_bytes / 1e9),
        "calls": _whole(one.calls),
        "asked_tokens": _whole(one.asked_tokens),
        "answered_tokens": _whole(one.answered_tokens),
        "note": one.note,
    }


def _whole(value: float) -> int | None:
    return round(value) or None


def _total(rows: list[dict[str, Any]], layout: CostLayout, scale: str) -> dict[str, Any]:
    accelerator = layout.accelerator

    def sum_of(column: str) -> float:
        return sum(float(row.get(column) or 0) for row in rows)

    return {
        "scale": scale,
        "stage": TOTAL,
        "name": accelerator.name if scale == "paper" else "",
        "jobs": round(sum_of("jobs")),
        "flops": f"{sum_of('flops'):.3e}",
        "memory_gb": max((row.get("memory_gb") or 0 for row in rows), default=0),
        "device_hours": _rounded(sum_of("device_hours")) if scale == "paper" else None,
        "paper_hours": layout.published_hours,
        "measured_seconds": _rounded(sum_of("measured_seconds")) or None,
        **{name: _rounded(sum_of(name)) for name in ("downloaded_gb", "kept_gb")},
        **{name: _whole(sum_of(name)) for name in ("calls", "asked_tokens", "answered_tokens")},
        "note": f"{accelerator.utilisation:g} of the peak of one {accelerator.name}" if scale == "paper" else "",
    }


def _rate(costs: list[RunCost]) -> float:
    """FLOPs a second on this machine; 0 where nothing was measured."""
    found = [(cost, cost.seen) for cost in costs if cost.seen and cost.seen.told]
    pretraining = [(cost, seen) for cost, seen in found if cost.run.stage == "pretrain_lm"]
    chosen = pretraining or found
    seconds = sum(seen.seconds for _, seen in chosen)
    return sum(cost.timed_flops for cost, _ in chosen) / seconds if seconds else 0.0


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
        return self._lengths(self.seen.text_length if self.seen else self.run.text_length)

    @property
    def longest(self) -> tuple[float, float]:
        """The same of the longest example: as it was read where the run tells, else as long as one may be."""
        seen = self.seen
        longest = seen and (seen.longest or max(self.run.text_length, seen.text_length))
        return self._lengths(longest or self.run.text_length)

    def _lengths(self, text: float) -> tuple[float, float]:
        run = self.run
        # Labels besides corrupted text (sentence tokens) grow with the text; those of a task do not.
        extra = run.decoder_extra * (text / run.text_length if run.decoder_share else 1)
        return text * run.encoder_share, text * run.decoder_share + extra

    @property
    def steps(self) -> int:
        """Updates of one training: those that were made, where it was."""
        made = self.seen.steps if self.seen else 0
        return made or self.run.steps

    @property
    def flops(self) -> float:
        """FLOPs of all jobs."""
        return self.run.jobs * (self._updates() + self._forwarded())

    @property
    def timed_flops(self) -> float:
        """Those that the measured seconds belong to; 0 where nothing was measured."""
        if not self.seen:
            return 0.0
        return self.seen.share * self.run.jobs * (self._updates() + (0 if self.run.spent else self._forwarded()))

    def _updates(self) -> float:
        run = self.run
        if not run.steps:
            return 0.0
        if run.frozen:
            each = forward_flops(self._counted(), *self.lengths, run.part_size)
        else:
            each = training_flops(self._trained(), *self.lengths, run.part_size)
        each += run.recomputed * forward_flops(self._trained(), *self.lengths, run.part_size) if run.recomputed else 0
        return self.steps * run.batch_size * (run.sequences * each + run.beside)

    def _forwarded(self) -> float:
        run, (encoder, decoder) = self.run, self.lengths
        if not run.forwarded:
            return 0.0
        model = self._counted()
        each = forward_flops(model, encoder, decoder, run.part_size) + run.beside_forward
        if run.generated:
            # With what was read kept, a token that is written costs what reading it would.
            read = (encoder, 0.0) if model.reads_apart else (encoder + run.generated, 0.0)
            without = forward_flops(model, encoder, 0, run.part_size)
            written = forward_flops(model, read[0], run.generated, run.part_size) - without
            each += run.beams * written
        return run.forwarded * each

    def _counted(self) -> CountedModel:
        run = self.run
        if run.encoder or run.tuning:
            return self._trained()
        return (CountedBackbone if run.headless else CountedModel)(self.entry, run.vocabulary, run.labels)

    def _trained(self) -> CountedModel:
        run, encoder = self.run, self.run.encoder
        if encoder:
            layers = self.seen.layers if self.seen and self.seen.layers else encoder.layers
            return CountedEncoder(self.entry, run.vocabulary, encoder=encoder.model_copy(update={"layers": layers}))
        if run.tuning:
            return CountedRecogniser(self.entry, tuning=run.tuning)
        if run.headless:
            return self._counted()
        return CountedModel(self.entry, run.vocabulary, run.labels, run.adapter_rank, tuple(run.adapter_targets))

    def hours(self, accelerator: Accelerator) -> float:
        """Hours of one job on the run's devices."""
        short = self.run.dtype == "bfloat16"
        peak = accelerator.peak_flops if short else accelerator.peak_flops_float32
        return self.flops / self.run.jobs / (peak * accelerator.utilisation * self.run.devices) / 3600

    @property
    def kept_gb(self) -> float:
        """What the jobs leave: copies of what is trained in float32, and stored states."""
        run = self.run
        if not run.kept:
            return run.kept_bytes / 1e9
        added = parameter_counts(self._trained())[1]
        weights = 0 if run.frozen else added or self.parameters
        return (run.kept * _BYTES_OF_WEIGHT * (weights + run.beside_parameters) + run.kept_bytes) / 1e9

    @property
    def memory_gb(self) -> float:
        """Memory of one device, which holds a part of the batch: of its longest sequences."""
        return self.memory_with(TrainingMemory())

    def memory_with(self, saved: TrainingMemory) -> float:
        """The same where training saves memory."""
        run, number = self.run, 2 if self.run.dtype == "bfloat16" else 4
        encoder, decoder = self.longest
        outputs = 0 if run.headless or run.encoder or run.tuning else run.labels or run.vocabulary
        outputs = int(self.entry.config["vocab_size"]) if outputs is None else outputs
        beside = run.beside_parameters
        if run.steps and not run.frozen:
            trained, part = self._trained(), run.part_size / saved.parts(run.cuttable)
            each = kept_bytes(trained, encoder, decoder, run.dtype)
            if saved.checkpointing and trained.blocks:
                # What one block keeps, and the input of each.
                within = kept_bytes(trained.with_blocks(1), encoder, decoder, run.dtype)
                each = min(each, within + trained.blocks * (encoder + decoder) * trained.width * _RESIDUAL_BYTES)
            kept = part * (each + logits_bytes(decoder, outputs, number))
            added = parameter_counts(trained)[1]
            return training_gb(self.parameters + (0 if added else beside), added, kept, number)
        logits = run.part_size * logits_bytes(decoder, outputs, number)
        # One block at a time, and the states of all where they are collected.
        one = self._counted().with_blocks(1)
        kept = run.part_size * kept_bytes(one, encoder, decoder, run.dtype, training=False)
        if run.stage in ("collect_states", "measure_layers"):
            blocks = int(self.entry.config["num_hidden_layers"])
            kept += (blocks + 1) * run.part_size * encoder * self._counted().width * number
        return inference_gb(self.parameters, kept + logits) + (training_gb(beside, 0, 0, 4) if run.frozen else 0)


def _row(cost: RunCost, rate: float, accelerator: Accelerator) -> dict[str, Any]:
    run, seen = cost.run, cost.seen
    encoder, decoder = cost.lengths
    hours = cost.hours(accelerator) if run.scale == "paper" else None
    predicted = cost.timed_flops / rate if seen and seen.told and rate else None
    return {
        "scale": run.scale,
        "stage": run.stage,
        "name": run.name,
        "jobs": run.jobs,
        "devices": run.devices,
        "parameters": cost.parameters,
        "steps": cost.steps,
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
        "kept_gb": _rounded(cost.kept_gb),
        "note": run.note,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.3g}")


def with_hours(compared: pandas.DataFrame, costs: Path) -> pandas.DataFrame:
    """Rows of printed cells, and one for each run whose hours are printed, beside those that are reckoned.

    Args:
        compared: table, row, column, published, ours, note.
        costs: the costs of the published runs.
    """
    import pandas

    table = read_tsv(costs)
    card = str(table.loc[table["stage"] == TOTAL, "note"].iloc[0])
    rows = []
    for row in table[table["paper_hours"].notna()].to_dict("records"):
        hours = row["device_hours"] if row["stage"] == TOTAL else row["hours"]
        cell = {"table": "hours", "row": f"{row['stage']} {row['name']}", "column": "hours"}
        rows.append({**cell, "published": str(row["paper_hours"]), "ours": f"{hours:.3g}", "note": f"reckoned: {card}"})
    return pandas.concat([compared, pandas.DataFrame(rows, columns=compared.columns)], ignore_index=True)
