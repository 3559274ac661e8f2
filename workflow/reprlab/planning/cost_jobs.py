"""The job that any paper with training or inference asks for: what it costs, read off the settings of its jobs."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from reprlab.config.load import LoadedConfig
from reprlab.config.runtime import REHEARSAL
from reprlab.planning import paths
from reprlab.planning.plan import Job, Plan
from reprlab.reporting.cost_layout import CostLayout, CostRun
from reprlab.training.finetuning_settings import FinetuneSettings
from reprlab.training.settings import EngineSettings

# The output of a job that tells its times or its tokens.
_MEASURED = {
    "pretrain_lm": "throughput",
    "evaluate_lm": "out",
    "finetune_model": "out_metrics",
    "measure_finetuning": "out",
    "train_adapter": "metrics",
    "collect_states": "table",
    "train_encoder": "metrics",
    "train_reranker": "metrics",
}
# That of a job that writes its seconds apart from its losses.
_SPENT = {"train_encoder": "cost"}
_TIMES_ITSELF = ("pretrain_lm", "measure_finetuning", "train_encoder")
# Examples of data whose number nobody gave.
_UNKNOWN = 10_000
_TIMED_WHOLE = "seconds hold the start of the process and loading"


def add_cost(plan: Plan, config: LoadedConfig, slug: str, runs: Callable[[Any, str], Iterable[CostRun]]) -> None:
    """Plan `cost.tsv` as a target: published runs first, then those of the active scale. At paper scale these are the
    published ones with the edits of the user, and nothing need have run.

    Args:
        runs: the cost runs of settings of the paper at a scale.
    """
    paper = config.papers[slug]
    scales = {"paper": paper if config.scale == "paper" else config.published[slug]}
    if config.scale != REHEARSAL:
        scales[config.scale] = paper
    found = [run for scale, settings in scales.items() for run in runs(settings, scale)]
    models = {run.model: config.models[run.model] for run in found}
    layout = CostLayout(accelerator=paper.cost.accelerator, models=models, runs=found)
    measured = sorted({str(path) for run in found for path in (*run.measured, *run.spent)})
    made = plan.add("estimate_cost", slug, Job(inputs={"inputs": measured}, settings={"layout": layout}))
    plan.add_targets(slug, [made["out"]])


def equal_jobs(scale: str, stage: Any, keys: Sequence[str], *, note: str = "", **described: Any) -> CostRun:
    """The run of equal jobs of a stage, with the files that tell the times of those that are made here."""
    if scale == "paper" or stage not in _MEASURED:
        return CostRun(scale=scale, stage=stage, note=note, **described)
    timed = "" if stage in _TIMES_ITSELF else _TIMED_WHOLE
    return CostRun(
        scale=scale,
        stage=stage,
        measured=[Path(paths.output(stage, _MEASURED[stage], key)) for key in keys],
        spent=[Path(paths.output(stage, _SPENT[stage], key)) for key in keys] if stage in _SPENT else [],
        benchmarks=[paths.benchmark(stage, key).removeprefix("results/benchmarks/") for key in keys],
        note="; ".join(filter(None, (note, timed))),
        **described,
    )


def computed(config: LoadedConfig, dtype: str, scale: str) -> str:
    """The arithmetic of a setting; what published runs leave open is the short one of their accelerator, not what this
    machine takes."""
    return "bfloat16" if scale == "paper" and dtype == "auto" else config.arithmetic(dtype)


def examples_of(known: Mapping[str, int], data: str, limit: int | None, setting: str) -> tuple[int, str]:
    """How many examples of a data set are taken, at most `limit`, and a note where neither says how many there are.

    Args:
        known: numbers by data set, the value of the dotted `setting`.
    """
    most = known.get(data, limit)
    if most is None:
        return _UNKNOWN, f"{setting} has no number for {data}: {_UNKNOWN} taken"
    return min(most, limit or most), ""


def of_engine(engine: EngineSettings, devices: int = 1) -> dict[str, Any]:
    """What a training loop says of its cost."""
    return {
        "steps": engine.steps,
        "batch_size": engine.batch_size,
        "part_size": max(1, engine.batch_size // engine.accumulation // devices),
        "devices": devices,
        "dtype": engine.dtype,
    }


def of_finetuning(settings: FinetuneSettings, trained: int | None, scored: int) -> dict[str, Any]:
    """What fine-tuning says of its cost.

    Args:
        settings: of the jobs.
        trained: examples of the training set; None, if it is not known: the steps of the engine are taken.
        scored: examples of all splits that are scored.
    """
    found = {**of_engine(settings.engine), "text_length": settings.task.input_length}
    if settings.epochs is not None and trained:
        rows = min(trained, settings.train_limit or trained)
        found["steps"] = math.ceil(settings.epochs * rows / found["batch_size"])
    if settings.eval_limit is not None:
        scored = min(scored, settings.eval_limit * len(settings.splits))
    return {**found, "forwarded": scored * len(settings.task.eval_modes)}
