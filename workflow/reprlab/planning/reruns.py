"""The jobs that a change makes run again, found without an engine.

`reruns` holds two plans in memory against each other; `running` takes any other reason that a job may have to run.
"""

from collections.abc import Callable, Iterable, Iterator

from reprlab.planning import paths
from reprlab.planning.run_plan import RunPlan
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.plan_file import PlannedJob
from reprlab.settings.errors import nearest

READS_NEW = "what it reads is made again"


def reruns(before: RunPlan, after: RunPlan, targets: Iterable[str]) -> list[tuple[str, str]]:
    """Stage and key of the jobs that run after an edit, in an order in which they can.

    Args:
        before: the plan whose results are all there.
        after: the plan with the edit.
        targets: result files, papers, or `all`, of the plan with the edit.

    Raises:
        ReprlabError: no job makes a target.
    """

    def changed(job: PlannedJob) -> list[str]:
        known = before.jobs.get((job.stage, job.key))
        return [] if known is not None and known.digest == job.digest else ["another job"]

    return [(job.stage, job.key) for job, _ in running(after, targets, changed)]


def running(
    plan: RunPlan, targets: Iterable[str], reasons: Callable[[PlannedJob], list[str]]
) -> Iterator[tuple[PlannedJob, list[str]]]:
    """The jobs that run: those with reasons of their own, and those that read what another one makes again."""
    found: set[tuple[str, str]] = set()
    for job in needed_jobs(plan, targets):
        why = reasons(job)
        if not why and any(maker in found for maker in _makers(plan, job)):
            why = [READS_NEW]
        if why:
            found.add((job.stage, job.key))
            yield job, why


def needed_jobs(plan: RunPlan, targets: Iterable[str]) -> Iterator[PlannedJob]:
    """The jobs that the targets need, each after those that make its inputs.

    Raises:
        ReprlabError: no job makes a target.
    """
    wanted = list(_files(plan, targets))
    for path in wanted:
        if path not in plan.makers:
            raise ReprlabError(f"{path}: no job makes it{nearest(path, plan.makers)}")
    waiting, seen = [(plan.makers[path], False) for path in reversed(wanted)], set()
    while waiting:
        maker, fed = waiting.pop()
        if fed:
            yield plan.jobs[maker]
        elif maker not in seen:
            seen.add(maker)
            waiting.append((maker, True))
            waiting += [(one, False) for one in _makers(plan, plan.jobs[maker])]


def _files(plan: RunPlan, targets: Iterable[str]) -> Iterator[str]:
    papers = {slug.replace("-", "_"): files for slug, files in plan.targets.items()}
    for target in targets:
        if target == "all":
            yield from paths.outputs("write_report", paths.ONLY).values()
            yield from (path for files in papers.values() for path in files)
        else:
            yield from papers.get(target.replace("-", "_"), [target])


def _makers(plan: RunPlan, job: PlannedJob) -> Iterator[tuple[str, str]]:
    for value in job.inputs.values():
        for path in value if isinstance(value, list) else [value]:
            if path in plan.makers:
                yield plan.makers[path]
