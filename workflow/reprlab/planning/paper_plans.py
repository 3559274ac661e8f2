"""The plan of the papers that are asked for."""

from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import ValidationError

from reprlab.planning.job_checks import check_jobs
from reprlab.planning.neighbour_jobs import add_neighbours
from reprlab.planning.plan import Plan
from reprlab.planning.report_job import add_report
from reprlab.plugins import load_plugin
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig


def make_plan(config: "LoadedConfig") -> Plan:
    """Jobs of the papers that are needed, shared ones once, and the report where all that it shows are planned.

    Raises:
        ReprlabError: two papers give one name different settings, or a setting names what is not there.
    """
    plan = Plan()
    for slug in (slug for slug in config.needed if slug in config.papers):
        try:
            load_plugin("papers", f"{slug.replace('-', '_')}.plan").add_jobs(plan, config)
        except ValidationError as error:
            # Two settings that are each valid may not go together in a stage.
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ReprlabError(f"papers.{slug}: {error.title} {where}: {first['msg']}") from None
        except ReprlabError as error:
            raise ReprlabError(config.as_named(str(error))) from None
    _add_variations(plan, config)
    check_jobs(plan, config)
    neighbours = add_neighbours(plan, config.workflow.build)
    if neighbours and set(config.workflow.build) <= plan.targets.keys():
        add_report(plan, config, neighbours)
    return plan


def _add_variations(plan: Plan, config: "LoadedConfig") -> None:
    """Claims say what they depend on where somebody made that table, which no run makes by itself."""
    for slug, job in plan.jobs.get("test_claims", {}).items():
        path = f"results/{slug}/sensitivity.tsv"
        if (config.run_folder / path).is_file():
            plan.jobs["test_claims"][slug] = replace(job, inputs={**job.inputs, "varied": path})
