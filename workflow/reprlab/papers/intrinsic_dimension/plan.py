"""Plan of the paper on intrinsic dimension: prompts, adapters, states, estimates, tables."""

from typing import TYPE_CHECKING

from reprlab.papers.intrinsic_dimension.plan_results import add_results
from reprlab.papers.intrinsic_dimension.plan_states import StatesPlanner
from reprlab.papers.plan import Plan

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig

SLUG = "intrinsic-dimension"


def add_jobs(plan: Plan, config: "LoadedConfig") -> None:
    """Plan all of the paper at the config's scale."""
    paper = config.papers[SLUG]
    planner = StatesPlanner(plan, config, paper)
    planner.gather()
    planner.finish()
    add_results(plan, config, paper, planner)
