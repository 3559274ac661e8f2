"""Results of a run before it starts: which are stale, and what happens to those that were edited."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from reprlab.runtime.plan_file import PlannedJob
from reprlab.runtime.seals import remove_seal
from reprlab.runtime.stale import Results
from reprlab.runtime.versions import others, version_of


@dataclass
class Checked:
    """What was found. `stale` are the results that must be made again, by stage and key of their job."""

    stale: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def untouched(self) -> str:
        """What a command that only gives results another date is told."""
        count = len(self.stale)
        stale = f"results of {count} job{'s' * (count != 1)} are stale and stay so (`make explain` says why)"
        return f"nothing was run or changed, for dates decide nothing here; {stale if count else 'no result is stale'}"


def check_results(jobs: Iterable[PlannedJob], run_folder: Path, *, dry: bool = False) -> Checked:
    """Find stale results of planned jobs, and keep edited ones under another name, so that no edit is lost.

    `dry` moves nothing, and nothing is moved while an engine holds the lock of the run, for it may be writing them.
    """
    results, found = Results(run_folder), Checked()
    edited: dict[str, None] = {}
    made_by: Counter[str] = Counter()
    for job in jobs:
        stale = list(results.of_job(job))
        if stale:
            found.stale[job.stage, job.key] = list(job.outputs.values())
            edited |= dict.fromkeys(one.path for one in stale if one.kind == "edited")
        else:
            seals = filter(None, map(results.seal, filter(results.has, job.outputs.values())))
            versions = (others(seal.made.versions) for seal in seals)
            made_by.update({f"{name} {version}" for found in versions for name, version in found.items()})
    keeps = not dry and not is_in_use(run_folder)
    found.notes += [_set_aside(Path(path), run_folder) if keeps else _EDITED.format(path) for path in edited]
    found.notes += _of_versions(made_by)
    return found


_EDITED = "{}: changed since it was made; a run keeps it under another name and makes it again"


def is_in_use(run_folder: Path) -> bool:
    """Whether an engine holds the lock of the run."""
    return any((run_folder / ".snakemake/locks").glob("*.lock"))


def _set_aside(path: Path, run_folder: Path) -> str:
    aside = _free_name(run_folder, path)
    os.replace(run_folder / path, run_folder / aside)
    remove_seal(path, run_folder)
    return f"{path}: changed since it was made (edited or cut off); kept as {aside}, and made again"


def _free_name(run_folder: Path, path: Path) -> Path:
    number = 1
    while (run_folder / (aside := path.with_name(f"{path.name}.changed-{number}"))).exists():
        number += 1
    return aside


def _of_versions(made_by: Counter[str]) -> Iterator[str]:
    for version, jobs in sorted(made_by.items()):
        name = version.partition(" ")[0]
        now = version_of(name) or "not installed"
        yield f"{jobs} job{'s' * (jobs != 1)} with results here ran with {version} (now {now}); they are kept"
