"""Jobs as a run writes them down: with their outputs, their code and the content of the checkout's files."""

import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path

from reprlab.planning import paths
from reprlab.planning.plan import Job, Plan
from reprlab.runtime.code_digest import module_digests
from reprlab.runtime.plan_file import PlannedJob

_digests = functools.cache(module_digests)


def planned_jobs(plan: Plan, root: Path, settings: Path | None = None) -> Iterator[PlannedJob]:
    """Every job of the plan as it is written down; `config/` is that of the checkout `root`, or of `settings`."""
    for stage, jobs in plan.jobs.items():
        for key, job in jobs.items():
            yield planned_job(stage, key, job, root, settings or root)


def planned_job(stage: str, key: str, job: Job, root: Path, settings: Path) -> PlannedJob:
    """One job as it is written down."""
    return PlannedJob(
        stage,
        key,
        inputs=dict(job.inputs),
        outputs=paths.outputs(stage, key),
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
