"""Which jobs faults are tried on, found from the plans: no list names a stage or a paper."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Iterator

import reprlab.stages
from reprlab.papers.plan import Plan
from reprlab.papers.run_plan import RunPlan
from reprlab.preflight.planned_jobs import paper_plan
from reprlab.runtime.plan_file import PlannedJob

from tests.checkouts import ROOT

PAPERS = sorted(path.stem for path in (ROOT / "config/papers").glob("*.yaml"))


def training_stages() -> list[str]:
    """Stages that train: whatever keeps unfinished work from which it goes on, and every `train_…`."""
    names = [module.name for module in pkgutil.iter_modules(reprlab.stages.__path__)]
    return [name for name in names if name.startswith("train_") or "work" in _parameters(name)]


def _parameters(stage: str) -> Iterable[str]:
    return inspect.signature(getattr(importlib.import_module(f"reprlab.stages.{stage}"), stage)).parameters


def data_jobs(plan: RunPlan) -> list[PlannedJob]:
    """The jobs that make corpora and tasks."""
    return [job for job in plan.jobs.values() if job.stage in ("build_documents", "build_examples")]


def nano_plan(paper: str) -> RunPlan:
    """The plan of one paper alone."""
    return RunPlan(_plan(paper), ROOT)


def _plan(paper: str) -> Plan:
    return paper_plan(ROOT, paper, "nano")


def smallest_trainings(plans: Iterable[RunPlan]) -> dict[str, PlannedJob]:
    """For each stage that trains and that some plan has, the job that needs the fewest others."""
    found: dict[str, tuple[int, str, PlannedJob]] = {}
    wanted = set(training_stages())
    for plan in plans:
        for job in plan.jobs.values():
            if job.stage in wanted:
                entry = (len(list(ancestors(plan, job))), job.key, job)
                found[job.stage] = min(found.get(job.stage, entry), entry, key=lambda one: one[:2])
    return {stage: job for stage, (_, _, job) in sorted(found.items())}


def ancestors(plan: RunPlan, job: PlannedJob) -> Iterator[PlannedJob]:
    """Every job that another needs, once."""
    seen, waiting = set(), [job]
    while waiting:
        for path in input_paths(waiting.pop()):
            made_by = _maker(plan, path)
            if made_by not in seen:
                seen.add(made_by)
                waiting.append(plan.jobs[made_by])
                yield plan.jobs[made_by]


def input_paths(job: PlannedJob) -> list[str]:
    """The files and folders that a job reads."""
    values = [value if isinstance(value, list) else [value] for value in job.inputs.values()]
    return [path for paths in values for path in paths if path]


def _maker(plan: RunPlan, path: str) -> tuple[str, str]:
    """A path may lie inside of a folder that a job makes."""
    parts = path.split("/")
    return next(
        plan.makers["/".join(parts[:length])]
        for length in range(len(parts), 0, -1)
        if "/".join(parts[:length]) in plan.makers
    )
