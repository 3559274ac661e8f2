"""The job that any paper with training or inference asks for: what it costs."""

from typing import TYPE_CHECKING

from reprlab.papers.plan import Job, Plan

if TYPE_CHECKING:
    from reprlab.reporting.cost_layout import CostLayout


def add_cost(plan: Plan, paper: str, layout: "CostLayout") -> None:
    """Plan `cost.tsv`, which reads the tables of the runs that were measured."""
    measured = sorted({str(path) for run in layout.runs for path in run.measured})
    plan.add("estimate_cost", paper, Job(inputs={"inputs": measured}, settings={"layout": layout}))
