"""Jobs as a run writes them down: with their outputs, their code and the content of the checkout's files."""

import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path

from reprlab.planning import paths
from reprlab.planning.plan import Plan
from reprlab.runtime.code_digest import module_digests
from reprlab.runtime.given import state_of
from reprlab.runtime.plan_file import Code, PlannedJob, digest_of, paths_of
from reprlab.runtime.versions import distributions


@functools.cache
def _code(stage: str, *plugins: str) -> Code:
    code = Code(module_digests(stage, *plugins))
    code.distributions = distributions(code)
    return code


def planned_jobs(
    plan: Plan, root: Path, settings: Path | None = None, run_folder: Path | None = None
) -> Iterator[PlannedJob]:
    """Every job of the plan as it is written down, each after those that make its inputs; `config/` is that of the
    checkout `root`, or of `settings`. Jobs work in `run_folder`, by default `root`."""
    states = functools.cache(lambda *paths: state_of((run_folder or root) / path for path in paths))
    makers = plan.makers()
    done: dict[tuple[str, str], PlannedJob] = {}

    def add(stage: str, key: str) -> PlannedJob:
        if (stage, key) not in done:
            job = plan.jobs[stage][key]
            upstream = {add(*makers[path]).digest for path in paths_of(job.inputs) if path in makers}
            done[stage, key] = PlannedJob(
                stage,
                key,
                inputs=job.inputs,
                outputs=plan.outputs(stage, key),
                settings=job.settings,
                factors={**paths.wildcard_values(stage, key), **job.factors},
                files={name: _contents(root, settings or root, value) for name, value in job.files.items()},
                given={name: {"paths": paths, "state": states(*paths)} for name, paths in job.given.items()},
                neutral=job.neutral,
                code=_code(stage, *job.plugins),
                upstream=digest_of(sorted(upstream)) if upstream else "",
            )
        return done[stage, key]

    for stage, jobs in plan.jobs.items():
        for key in jobs:
            add(stage, key)
    yield from done.values()


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
