"""Jobs as a run writes them down: with their outputs, their code and the content of the checkout's files."""

import functools
import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from reprlab.planning import paths
from reprlab.planning.plan import Job, Plan
from reprlab.runtime.code_digest import module_digests
from reprlab.runtime.plan_file import PlannedJob, digest_of

_digests = functools.cache(module_digests)


def planned_jobs(plan: Plan, root: Path, settings: Path | None = None) -> Iterator[PlannedJob]:
    """Every job of the plan as it is written down, each after those that make its inputs; `config/` is that of the
    checkout `root`, or of `settings`."""
    makers = {
        path: (stage, key)
        for stage, jobs in plan.jobs.items()
        for key in jobs
        for path in plan.outputs(stage, key).values()
    }
    done: dict[tuple[str, str], PlannedJob] = {}

    def add(stage: str, key: str) -> PlannedJob:
        if (stage, key) not in done:
            job = _planned(stage, key, plan.jobs[stage][key], plan.outputs(stage, key), root, settings or root)
            upstream = {add(*makers[path]).digest for path in job.reads if path in makers}
            done[stage, key] = replace(job, upstream=digest_of(sorted(upstream))) if upstream else job
        return done[stage, key]

    for stage, jobs in plan.jobs.items():
        for key in jobs:
            add(stage, key)
    yield from done.values()


def _planned(stage: str, key: str, job: Job, outputs: dict[str, str], root: Path, settings: Path) -> PlannedJob:
    return PlannedJob(
        stage,
        key,
        inputs=dict(job.inputs),
        outputs=outputs,
        settings=dict(job.settings),
        factors={**paths.wildcard_values(stage, key), **job.factors},
        files={name: _contents(root, settings, value) for name, value in job.files.items()},
        neutral=dict(job.neutral),
        code=_digests(stage, *job.plugins),
    )


def _contents(root: Path, settings: Path, names: str | list[str]) -> dict[str, str] | str:
    """Digests by path; those of a list stay apart from that of a single file."""

    def place(name: str) -> Path:
        return (settings if name.startswith("config/") else root) / name

    if isinstance(names, str):
        return f"{names} {_digest(place(names))}"
    return {name: _digest(place(name)) for name in names}


@functools.cache
def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
