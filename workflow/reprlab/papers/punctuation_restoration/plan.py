"""Plan of punctuation restoration: models before, after restoration and after the control, on structure tasks."""

from typing import TYPE_CHECKING

from reprlab.papers.punctuation_restoration.plan_models import SLUG, Models
from reprlab.papers.punctuation_restoration.plan_tasks import Tasks
from reprlab.papers.punctuation_restoration.results import RESULTS
from reprlab.papers.punctuation_restoration.tables_structure import MEASURES
from reprlab.planning.cost_jobs import add_cost
from reprlab.planning.plan import Plan
from reprlab.planning.result_jobs import add_results
from reprlab.results.sources import Missing, Source, Value

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig


def add_jobs(plan: Plan, config: "LoadedConfig") -> None:
    """Plan all of the paper at the config's scale."""
    paper = config.papers[SLUG]
    models = Models(plan, config, paper)
    entries: list[Source | Missing] = [*models.entries()]
    if paper.corpus is None:
        entries += [
            Missing(factors={"part": part, "init": init}, reason=paper.unavailable)
            for part in ("arms", "generative", "joint", "discriminative", "losses")
            for init in paper.inits
            if init != "t5"
        ]
    tasks = Tasks(plan, config, paper, models)
    for name in paper.trained:
        entries += tasks.generative(name)
    for name, absent in paper.absent.items():
        about: dict[str, Value] = {"task": absent.task, "train_set": name}
        entries += [
            Missing(factors={**about, "part": part, "eval_set": one}, reason=absent.reason)
            for part in ("generative", "pairs")
            for one in absent.eval_sets
        ]
    entries += tasks.joint() if paper.joint else [Missing(factors={"part": "joint"}, reason=paper.joint_unavailable)]
    for name in paper.discriminative.tasks:
        entries += tasks.discriminative(name)
    prefix = "" if paper.measures == "ours" else "upstream_"
    options = {name: prefix + name for name in MEASURES}
    if paper.corpus is not None:
        options["restored"] = config.datasets.corpora[paper.corpus].title
    add_results(plan, SLUG, RESULTS, entries, root=config.root, scale=config.scale, options=options)
    add_cost(plan, config, SLUG)
