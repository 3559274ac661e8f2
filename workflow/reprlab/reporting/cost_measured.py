"""Seconds and lengths of runs that were made here, from their own files and the engine's benchmark files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.reporting.cost_layout import CostRun

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Measured:
    """Facts from a run's own files."""

    seconds: float
    text_length: float
    """Mean tokens of a sequence before corruption."""
    steps: int = 0
    """Updates of one training, where they follow from the data."""
    share: float = 1.0
    """Share of the run that the seconds belong to."""
    layers: int = 0
    """Layers that were kept, where losses choose them."""
    told: bool = True
    """Whether the files tell what was read: seconds alone are no test of the count."""
    longest: int = 0
    """Tokens of the longest sequence, with what is around its text; 0: not told."""


def measure(run: CostRun, benchmarks: Path) -> Measured | None:
    """Time and mean length of a run; None where it was not made, or its times are not kept."""
    if not run.measured:
        seconds = _benchmarked(run, benchmarks)
        return None if seconds is None else Measured(seconds, run.text_length, told=False)
    if run.stage == "pretrain_lm":
        return _from_throughput(run)
    if run.stage == "measure_finetuning":
        return _from_timings(run)
    if run.stage == "train_encoder":
        return _from_encoders(run)
    seconds = _benchmarked(run, benchmarks)
    if seconds is None:
        return None
    if run.stage == "train_reranker":
        return Measured(seconds, *_from_losses(run), share=1.0)
    length = _length(run)
    return Measured(seconds, length) if length else None


def _benchmarked(run: CostRun, benchmarks: Path) -> float | None:
    """Seconds of all jobs of a run; None where one was not made."""
    files = [benchmarks / name for name in run.benchmarks]
    if not files or not all(file.exists() for file in files):
        return None
    return sum(float(read_tsv(file)["s"].iloc[0]) for file in files)


def _length(run: CostRun) -> float:
    """Mean tokens of an example; 0 where nothing was read."""
    if run.stage == "collect_states":
        tokens = [read_parquet(path, ["tokens"]).column("tokens").to_numpy() for path in run.measured]
        return float(sum(part.sum() for part in tokens)) / max(1, sum(len(part) for part in tokens))
    tables = [read_tsv(path) for path in run.measured]
    if run.stage == "train_adapter":
        last = [table.iloc[-1] for table in tables]
        read = float(sum(row["tokens"] for row in last))
        return read / max(1.0, float(sum(row["step"] for row in last)) * run.batch_size)
    if run.stage == "evaluate_lm":
        return float(_joined(tables)["tokens"].mean()) / run.batch_size
    # Each file has its own cells, which have the same names in another file.
    cells = _joined([table.drop_duplicates(["name", "learning_rate"]) for table in tables])
    seen = float(cells["steps"].sum()) * run.batch_size
    return float(cells["tokens"].sum()) / seen if seen else 0.0


def _joined(tables: list[pandas.DataFrame]) -> pandas.DataFrame:
    import pandas

    return pandas.concat(tables, ignore_index=True)


def _from_losses(run: CostRun) -> tuple[float, int]:
    """Mean tokens of a sequence, and updates of one training, from losses by step with the tokens read so far."""
    steps = tokens = longest = 0
    for path in run.measured:
        table = read_tsv(path)
        table = table[table["chosen"] == 1] if "chosen" in table else table
        last = table.groupby("seed")[["step", "tokens"]].max()
        steps, tokens = steps + int(last["step"].sum()), tokens + int(last["tokens"].sum())
        longest = max(longest, int(last["step"].max()))
    return tokens / (steps * run.batch_size * run.sequences), longest


def _from_encoders(run: CostRun) -> Measured:
    """Encoders, which say themselves how long the updates of the chosen rate took."""
    spent = _joined([read_tsv(path) for path in run.spent])
    share = len(spent) / run.jobs
    layers, longest = (int(spent[name].max()) for name in ("layers", "longest"))
    return Measured(float(spent["seconds"].sum()), *_from_losses(run), share=share, layers=layers, longest=longest)


def _from_timings(run: CostRun) -> Measured:
    """Timed runs, which say themselves how long their optimizer steps took."""
    rows = _joined([read_tsv(path) for path in run.measured])
    read = float(rows["tokens"].sum()) / (float(rows["steps"].sum()) * run.batch_size)
    return Measured(float(rows["train_seconds"].sum()), read)


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
    return Measured(seconds, tokens / steps / run.batch_size, share=steps / run.steps)
