"""Which jobs faults are tried on, found from the plans: no list names a stage or a paper."""

import csv
import functools
import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import reprlab.stages
from reprlab.planning.run_plan import RunPlan
from reprlab.preflight.planned_jobs import TABLE, paper_plan
from reprlab.runtime.plan_file import PlannedJob

from tests.checkouts import ROOT

PAPERS = sorted(path.stem for path in (ROOT / "config/papers").glob("*.yaml"))


@functools.cache
def training_stages() -> list[str]:
    """Stages that train: whatever keeps unfinished work from which it goes on, and every `train_…`."""
    names = [module.name for module in pkgutil.iter_modules(reprlab.stages.__path__)]
    return [name for name in names if name.startswith("train_") or "work" in _parameters(name)]


def _parameters(stage: str) -> list[str]:
    return list(inspect.signature(getattr(importlib.import_module(f"reprlab.stages.{stage}"), stage)).parameters)


def trainings() -> list[tuple[str, str]]:
    """Every paper with each of its stages that train."""
    with (ROOT / TABLE).open(encoding="utf-8", newline="") as handle:
        rows = [row for row in csv.DictReader(handle, delimiter="\t") if row["scale"] == "nano"]
    return [(row["paper"], row["rule"]) for row in rows if row["rule"] in training_stages()]


@functools.cache
def nano_plan(paper: str) -> RunPlan:
    """The plan of one paper alone."""
    return RunPlan(paper_plan(ROOT, paper, "nano"), ROOT)


def smallest_job(plan: RunPlan, stage: str) -> PlannedJob:
    """The job of a stage that needs the fewest others."""
    jobs = [job for job in plan.jobs.values() if job.stage == stage]
    return min(jobs, key=lambda job: (len(list(ancestors(plan, job))), job.key))


def ancestors(plan: RunPlan, job: PlannedJob) -> Iterator[PlannedJob]:
    """Every job that another needs, once."""
    seen, waiting = set(), [job]
    while waiting:
        for path in input_paths(waiting.pop()):
            maker = making(plan, path)
            if (maker.stage, maker.key) not in seen:
                seen.add((maker.stage, maker.key))
                waiting.append(maker)
                yield maker


def input_paths(job: PlannedJob) -> list[str]:
    """The files and folders that a job reads."""
    values = [value if isinstance(value, list) else [value] for value in job.inputs.values()]
    return [path for paths in values for path in paths if path]


def making(plan: RunPlan, path: str) -> PlannedJob:
    """The job that makes a file, or the folder that it lies in."""
    parts = path.split("/")
    names = ("/".join(parts[:length]) for length in range(len(parts), 0, -1))
    return plan.jobs[next(plan.makers[name] for name in names if name in plan.makers)]
