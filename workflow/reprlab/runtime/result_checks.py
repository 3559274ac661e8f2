"""Checks and repairs of a run's results before the engine plans by their dates."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from reprlab.runtime.clock import date_back_results
from reprlab.runtime.plan_file import PlannedJob
from reprlab.runtime.seals import is_in_use, set_changed_aside, signature_of


def check_results(run_folder: Path, *, dry: bool = False) -> Iterator[str]:
    """Date back results of the future, set changed ones aside; one line for each finding. `dry` only finds."""
    yield from date_back_results(run_folder, dry=dry)
    yield from map(str, set_changed_aside(run_folder, dry=dry))


def find_outdated(jobs: Iterable[PlannedJob], run_folder: Path) -> dict[tuple[str, str], list[str]]:
    """By stage and key the results that were made by another job: with other settings, inputs or code.

    The engine's own record of params can be lost (`.snakemake` deleted, results copied); what a result's seal says goes
    where the result goes. A result without a seal was made by nobody knows which job. While an engine holds the lock
    of the run nothing is found.
    """
    if is_in_use(run_folder):
        return {}
    found = {}
    for job in jobs:
        made = [path for path in job.outputs.values() if (run_folder / path).exists()]
        signatures = [signature_of(Path(path), run_folder) for path in made]
        if any(signature is None or signature.job != job.digest for signature in signatures):
            found[job.stage, job.key] = made
    return found
