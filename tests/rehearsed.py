"""Planned jobs run one after the other in this process, where a start of its own costs more than most of them."""

import contextlib
import importlib
import os
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from reprlab.planning.run_plan import RunPlan
from reprlab.runtime import planned
from reprlab.runtime.plan_file import PlannedJob

NEUTRAL = {"device": "cpu", "save_every": 500, "inference_batch": 16}


@dataclass(frozen=True)
class Outcome:
    """A job and what became of it: empty where it is done."""

    job: PlannedJob
    error: str
    trace: str = ""


def run_jobs(plan: RunPlan, wanted: Iterable[tuple[str, str]], folder: Path, checkout: Path) -> list[Outcome]:
    """Run jobs with all that they need below `folder`, with the registries of `checkout`; what is there already stays.

    A job whose inputs failed is not started.
    """
    outcomes: dict[tuple[str, str], Outcome] = {}

    def run(name: tuple[str, str]) -> Outcome:
        if name in outcomes:
            return outcomes[name]
        job = plan.jobs[name]
        makers = [plan.makers[path] for path in job.reads if path in plan.makers]
        lacking = next((maker for maker in makers if run(maker).error), None)
        error, trace = (f"needs {' '.join(lacking)}", "") if lacking else _done(job, folder)
        outcomes[name] = Outcome(job, error, trace)
        return outcomes[name]

    own, planned._root = planned._root, lambda: checkout
    try:
        for name in wanted:
            run(name)
    finally:
        planned._root = own
    return list(outcomes.values())


def _done(job: PlannedJob, folder: Path) -> tuple[str, str]:
    if all((folder / path).exists() for path in job.outputs.values()):
        return "", ""
    function = getattr(importlib.import_module(f"reprlab.stages.{job.stage}"), job.stage)
    with contextlib.chdir(folder):
        for path in job.outputs.values():
            os.makedirs(Path(path).parent, exist_ok=True)
        try:
            function(**planned.arguments_of(function, job, NEUTRAL))
        except Exception as error:
            return f"{type(error).__name__}: {error}", traceback.format_exc()
    return "", ""
