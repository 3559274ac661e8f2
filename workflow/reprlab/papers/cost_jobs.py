"""The job that any paper with training or inference asks for: what it costs."""

from typing import TYPE_CHECKING

from reprlab.papers.plan import Job, Plan

if TYPE_CHECKING:
    from reprlab.reporting.cost_layout import CostLayout


def add_cost(plan: Plan, paper: str, layout: "CostLayout") -> None:
    """Plan `cost.tsv`, which reads the tables of the runs that were measured."""
    measured = sorted({str(path) for run in layout.runs for path in run.measured})
    # Without what has its default: a command line holds at most 128 KiB.
    short = layout.model_dump(mode="json", exclude_defaults=True)
    plan.add("estimate_cost", paper, Job(inputs={"inputs": measured}, settings={"layout": short}))
