"""Plan of amuro-char: checkpoints, prompts, fine-tuning, scores, tables."""

from reprlab.config.load import LoadedConfig
from reprlab.papers.amuro_char.plan_results import add_results
from reprlab.papers.amuro_char.plan_runs import add_runs
from reprlab.papers.plan import Plan

SLUG = "amuro-char"


def add_jobs(plan: Plan, config: LoadedConfig) -> None:
    """Plan all of the paper at the config's scale."""
    paper = config.papers[SLUG]
    add_results(plan, config, paper, add_runs(plan, config, paper))
