"""Which jobs faults are tried on, found from the plans: no list names a stage or a paper."""

import csv
import functools
import importlib
import inspect
import json
import pkgutil
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import reprlab.stages
from reprlab.config.load import load_config
from reprlab.planning import paths
from reprlab.planning.run_plan import RunPlan
from reprlab.preflight.explain import leaves
from reprlab.preflight.planned_jobs import TABLE, paper_plan
from reprlab.runtime.plan_file import PlannedJob, parsed

from tests.checkouts import ROOT

PAPERS = sorted(path.stem for path in (ROOT / "config/papers").glob("*.yaml"))


@functools.cache
def training_stages() -> list[str]:
    """Stages that train: whatever keeps unfinished work from which it goes on, and every `train_…`."""
    names = [module.name for module in pkgutil.iter_modules(reprlab.stages.__path__)]
    return [name for name in names if name.startswith("train_") or "work" in _parameters(name)]


def _parameters(stage: str) -> list[str]:
    return list(inspect.signature(getattr(importlib.import_module(f"reprlab.stages.{stage}"), stage)).parameters)


def trained_at(scale: str) -> dict[tuple[str, str], int]:
    """Jobs of every paper with each of its stages that train, by the table of planned jobs."""
    with (ROOT / TABLE).open(encoding="utf-8", newline="") as handle:
        rows = [row for row in csv.DictReader(handle, delimiter="\t") if row["scale"] == scale]
    return {(row["paper"], row["rule"]): int(row["jobs"]) for row in rows if row["rule"] in training_stages()}


def trainings() -> list[tuple[str, str]]:
    """Every paper with each of its stages that train."""
    return list(trained_at("nano"))


@functools.cache
def nano_plan(paper: str) -> RunPlan:
    """The plan of one paper alone."""
    return plan_at(paper, "nano")


def plan_at(paper: str, scale: str) -> RunPlan:
    """The plan of one paper alone at a scale."""
    return RunPlan(paper_plan(ROOT, paper, scale), ROOT)


def data_of(paper: str) -> list[str]:
    """The tables of documents, examples and tracks that a paper has at `nano`."""
    jobs = paper_plan(ROOT, paper, "nano").jobs
    stages = ("build_documents", "build_examples", "build_tracks")
    return [path for stage in stages for key in jobs.get(stage, {}) for path in paths.outputs(stage, key).values()]


def choices(job: PlannedJob) -> set[tuple[str, str]]:
    """How a job trains: its settings that are chosen from a few; that others are given; which of its inputs it has."""
    found = {("input", name) for name, value in job.inputs.items() if value}
    for name, value in leaves({name: parsed(value) for name, value in job.settings.items()}):
        given = value is None or isinstance(value, bool | str)
        # Paths and names of results differ from job to job and choose nothing.
        if not (isinstance(value, str) and "/" in value):
            found.add((name, json.dumps(value) if given else f"[{type(value).__name__}, {bool(value)}]"))
    return found


def killed_jobs(plan: RunPlan, stage: str) -> list[PlannedJob]:
    """Jobs of a stage that together make every choice that any of its jobs makes, the smallest first."""
    jobs = {job.key: choices(job) for job in plan.jobs.values() if job.stage == stage}
    found = [smallest_job(plan, stage)]
    left = set().union(*jobs.values()) - jobs[found[0].key]
    while left:
        key = min(jobs, key=lambda one: (-len(jobs[one] & left), one))
        found.append(plan.jobs[stage, key])
        left -= jobs[key]
    return found


def as_at_mini(paper: str, job: PlannedJob) -> PlannedJob:
    """A job of `nano` with what only `mini` chooses: booleans, and choices of the engine and of starts, where they
    name nothing that `nano` has not made."""
    mini: dict[str, set[str]] = {}
    here: dict[str, set[str]] = {}
    for plan, found in ((plan_at(paper, "mini"), mini), (nano_plan(paper), here)):
        for one in plan.jobs.values():
            if one.stage == job.stage:
                for name, value in choices(one):
                    found.setdefault(name, set()).add(value)
    settings = {name: parsed(value) for name, value in job.settings.items()}
    for name, values in sorted(mini.items()):
        new = sorted(value for value in values - here.get(name, set()) if not value.startswith("["))
        if new and (new[0] in ("true", "false") or ".engine." in name or name.endswith("start")):
            *path, last = name.split(".")
            place: Any = settings
            for part in path:
                place = place.get(part) if isinstance(place, dict) else None
            if isinstance(place, dict) and last in place:
                place[last] = json.loads(new[0])
    return replace(job, settings={n: json.dumps(v) if isinstance(v, dict) else v for n, v in settings.items()})


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


def deepest_training(paper: str) -> PlannedJob:
    """Of the smallest job of each stage that trains, that which needs the most others: it stands for those on its
    way."""
    plan = nano_plan(paper)
    jobs = [smallest_job(plan, stage) for one, stage in trainings() if one == paper]
    assert jobs, f"{paper} trains nothing at nano"
    return max(jobs, key=lambda one: (len(list(ancestors(plan, one))), one.stage))


def other_trainings(paper: str) -> str:
    """An edit of every training of a paper, which no name in a plan tells of: the norm that gradients are clipped to,
    and where a paper clips none, the rate."""
    settings = load_config(ROOT, {"scale": "nano"}).papers[paper].model_dump(mode="json")
    found = dict(leaves(settings))
    clipped = {name: 0.7 for name in found if name.endswith("clip_norm")}
    rates = {name: 0.7 * value for name, value in found.items() if name.endswith("learning_rate") and value}
    return "; ".join(f"papers.{paper}.{name}={value}" for name, value in (clipped or rates).items())
