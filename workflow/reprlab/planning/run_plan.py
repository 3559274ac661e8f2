"""The plan of one run: its jobs as they are written down."""

import functools
from pathlib import Path

from reprlab.config.load import LoadedConfig
from reprlab.config.runtime import REHEARSAL
from reprlab.planning import paths
from reprlab.planning.asked import nearest_target
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.plan import Plan
from reprlab.planning.planned_jobs import planned_jobs
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.plan_file import FOLDER, PlannedJob, plan_name, write_plan


class RunPlan:
    """Jobs by stage and key, with the questions that rules ask of a plan."""

    def __init__(self, plan: Plan, root: Path, settings: Path | None = None, run_folder: Path | None = None) -> None:
        self.targets = plan.targets
        self.jobs: dict[tuple[str, str], PlannedJob] = {
            (one.stage, one.key): one for one in planned_jobs(plan, root, settings, run_folder)
        }

    @functools.cached_property
    def path(self) -> Path:
        """Where the plan is written, relative to the run's folder."""
        return FOLDER / plan_name(self.jobs.values(), self.targets)

    def job(self, stage: str, key: str) -> PlannedJob:
        """One job.

        Raises:
            ReprlabError: the config plans no such output.
        """
        try:
            return self.jobs[stage, key]
        except KeyError:
            name = next(iter(paths.outputs(stage, key).values()))
            hint = nearest_target(name, self.asked)
            raise ReprlabError(f"{name}: these settings do not produce it{hint}") from None

    @functools.cached_property
    def asked(self) -> list[str]:
        """What can be asked for: papers, results, and all files on the way to them."""
        names = {name for slug in self.targets for name in (slug, slug.replace("-", "_"))}
        return ["all", *sorted(names), *(path for job in self.jobs.values() for path in job.outputs.values())]

    def keys(self, stage: str) -> list[str]:
        """The keys of a stage's jobs."""
        return sorted(key for made_by, key in self.jobs if made_by == stage)

    def write(self, run_folder: Path) -> None:
        """Write the plan into the run's folder, if it is not there."""
        write_plan(run_folder / self.path, self.jobs.values(), self.targets)

    @functools.cached_property
    def makers(self) -> dict[str, tuple[str, str]]:
        """Stage and key of the job that makes each file or folder."""
        return {path: made_by for made_by, job in self.jobs.items() for path in job.outputs.values()}


def plan_run(config: LoadedConfig) -> RunPlan:
    """The plan of a run of these settings; of a rehearsal, one job for each class."""
    plan = make_plan(config)
    if config.scale == REHEARSAL:
        from reprlab.planning.rehearsal import rehearse

        plan = rehearse(plan, config).plan
    return RunPlan(plan, config.root, config.config_root, config.run_folder)
