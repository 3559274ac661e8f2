"""The plan of vocab-memory: counts, fine-tuning with and without PEMA, tables."""

from typing import TYPE_CHECKING

from reprlab.papers.plan import Plan
from reprlab.papers.vocab_memory.plan_counting import add_counting
from reprlab.papers.vocab_memory.plan_finetuning import add_finetuning
from reprlab.papers.vocab_memory.plan_results import add_results

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig

SLUG = "vocab-memory"


def add_jobs(plan: Plan, config: "LoadedConfig") -> None:
    """Plan all of the paper at the config's scale."""
    counted = add_counting(plan, config, config.papers[SLUG])
    finetuned = add_finetuning(plan, config, config.papers[SLUG])
    add_results(plan, config, config.papers[SLUG], counted, finetuned)
