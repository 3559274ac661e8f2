"""The plan of vocab-memory: counts, fine-tuning with and without PEMA, results."""

from reprlab.config.load import LoadedConfig
from reprlab.papers.vocab_memory.plan_counting import Counting
from reprlab.papers.vocab_memory.plan_finetuning import Finetuning
from reprlab.papers.vocab_memory.printed_hours import with_hours
from reprlab.papers.vocab_memory.results import RESULTS
from reprlab.planning import paths
from reprlab.planning.cost_jobs import add_cost
from reprlab.planning.plan import Plan
from reprlab.planning.result_jobs import add_results

SLUG = "vocab-memory"


def add_jobs(plan: Plan, config: LoadedConfig) -> None:
    """Plan all of the paper at the config's scale."""
    paper = config.papers[SLUG]
    entries = [*Counting(plan, config, paper).entries(), *Finetuning(plan, config, paper).entries()]
    options = {
        "compared": "+".join(paper.counting.compared),
        "weight_decay": paper.finetuning.optimizer.weight_decay,
    }
    add_results(plan, SLUG, RESULTS, entries, root=config.root, scale=config.scale, options=options)
    plan.add_targets(SLUG, [paths.output("pema_restore", "out", key) for key in plan.jobs.get("pema_restore", {})])
    add_cost(plan, config, SLUG, lambda run: with_hours(config.root, paper, run))
