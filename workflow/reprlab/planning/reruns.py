"""The jobs that a change makes run again, found without an engine.

`reruns` holds two plans in memory against each other; `running` takes any other reason that a job may have to run.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from reprlab.planning import paths
from reprlab.planning.asked import nearest_target
from reprlab.planning.run_plan import RunPlan
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.plan_file import PlannedJob

NOT_MADE, READS_NEW = "not made yet", "what it reads is made again"


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

    return [(job.stage, job.key) for job, _ in running(after, targets, changed, lambda path: True)]


def running(
    plan: RunPlan, targets: Iterable[str], reasons: Callable[[PlannedJob], list[str]], has: Callable[[str], bool]
) -> Iterator[tuple[PlannedJob, list[str]]]:
    """The jobs that run, with why, each after those that make its inputs.

    These are the jobs with reasons of their own, those that read what another one makes again, and those whose results
    are missing where a target or one of the others needs them. What is missing and needed by none of them stays so.

    Args:
        reasons: of a job whose results are there.
        has: whether a result is there.
    """
    targets = list(targets)
    jobs = {(job.stage, job.key): job for job in needed_jobs(plan, targets)}
    readers: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for name, job in jobs.items():
        for maker in _makers(plan, job):
            readers.setdefault(maker, []).append(name)
    asked = {path for path in _files(plan, targets) if not has(path)}
    found = {name: why for name, job in jobs.items() if (why := reasons(job))}
    found |= {plan.makers[path]: [NOT_MADE] for path in asked}
    waiting = list(found)
    while waiting:
        name = waiting.pop()
        missing = [plan.makers[path] for path in jobs[name].reads if path in plan.makers and not has(path)]
        for other in [*readers.get(name, []), *missing]:
            if other not in found:
                made = any(map(has, jobs[other].outputs.values()))
                found[other] = [READS_NEW if made and other not in missing else NOT_MADE]
                waiting.append(other)
    yield from ((job, found[name]) for name, job in jobs.items() if name in found)


def needed_jobs(plan: RunPlan, targets: Iterable[str]) -> Iterator[PlannedJob]:
    """The jobs that the targets need, each after those that make its inputs.

    Raises:
        ReprlabError: no job makes a target.
    """
    wanted = list(_files(plan, targets))
    for path in wanted:
        if path not in plan.makers:
            raise ReprlabError(f"{path}: no job makes it{nearest_target(path, plan.asked)}")
    waiting, seen = [(plan.makers[path], False) for path in reversed(wanted)], set()
    while waiting:
        maker, fed = waiting.pop()
        if fed:
            yield plan.jobs[maker]
        elif maker not in seen:
            seen.add(maker)
            waiting.append((maker, True))
            waiting += [(one, False) for one in _makers(plan, plan.jobs[maker])]


def wanted_jobs(plan: RunPlan, targets: Sequence[str]) -> list[PlannedJob]:
    """The jobs that a command needs. A target may also be the rule of a stage with one job; what no job makes needs
    none, and the engine refuses it."""
    wanted: list[str] = []
    for target in targets or ["all"]:
        alone = plan.jobs.get((target, paths.ONLY))
        wanted += alone.outputs.values() if alone else _files(plan, [os.path.normpath(target)])
    return list(needed_jobs(plan, [path for path in wanted if path in plan.makers]))


def _files(plan: RunPlan, targets: Iterable[str]) -> Iterator[str]:
    papers = {slug.replace("-", "_"): files for slug, files in plan.targets.items()}
    for target in targets:
        if target == "all":
            yield from paths.outputs("write_report", paths.ONLY).values()
        else:
            yield from papers.get(target.replace("-", "_"), [target])


def _makers(plan: RunPlan, job: PlannedJob) -> Iterator[tuple[str, str]]:
    yield from (plan.makers[path] for path in job.reads if path in plan.makers)
