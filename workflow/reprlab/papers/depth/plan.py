"""DEPTH's plan: text, pre-training runs, fine-tuning, tables."""

from typing import TYPE_CHECKING

from reprlab.papers.depth.plan_finetuning import add_finetuning
from reprlab.papers.depth.plan_pretraining import add_pretraining
from reprlab.papers.depth.plan_results import add_results
from reprlab.papers.plan import Plan

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig

SLUG = "depth"


def add_jobs(plan: Plan, config: "LoadedConfig") -> None:
    """Plan all of the paper at the config's scale."""
    pretrained = add_pretraining(plan, config, config.papers[SLUG])
    finetuned = add_finetuning(plan, config, config.papers[SLUG], pretrained)
    add_results(plan, config, config.papers[SLUG], pretrained, finetuned)
