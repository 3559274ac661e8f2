"""Plan of event relations: the folds of each corpus, contrasts between them, and the results."""

from typing import TYPE_CHECKING

from reprlab.papers.event_relations.plan_contrasts import contrasts
from reprlab.papers.event_relations.results import RESULTS
from reprlab.planning.cost_jobs import add_cost
from reprlab.planning.plan import Plan
from reprlab.planning.result_jobs import add_results
from reprlab.results.sources import Missing, Source

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig

from reprlab.papers.event_relations.names import MATCHED
from reprlab.papers.event_relations.plan_folds import RETRIEVERS, SLUG, Fold


def add_jobs(plan: Plan, config: "LoadedConfig") -> None:
    """Plan all of the paper at the config's scale."""
    paper = config.papers[SLUG]
    entries: list[Source | Missing] = []
    for name, data in paper.data.items():
        folds = [Fold(plan, config, paper, name, data, fold) for fold in data.tested]
        for jobs in folds:
            entries += jobs.entries()
            entries += jobs.measured() if "compare_answers" not in plan.jobs else []
        entries += contrasts(folds, (retriever for retriever in ("none", *RETRIEVERS) if retriever != MATCHED))
    entries += [
        Missing(factors={"dataset": name}, reason=reason)
        for name, reason in paper.unavailable.items()
        if name not in paper.data
    ]
    if not paper.zero_shot.enabled:
        reason = (
            f"the weights of {paper.zero_shot.chat.model} are not released; it is asked for every pair, for money: "
            f"set papers.{SLUG}.zero_shot.enabled=true"
        )
        entries.append(Missing(factors={"classifier": "gpt", "retriever": "none"}, reason=reason))
    if paper.graph.parser is None:
        reason = f"off: it needs a dependency parser; set papers.{SLUG}.graph.parser"
        entries.append(Missing(factors={"encoding": "graph"}, reason=reason))
    entries += [
        Missing(factors={"classifier": name}, reason=f"needs pretrained weights that no package carries ({name})")
        for name, classifier in paper.classifiers.items()
        if classifier.model is None
    ]
    add_results(
        plan, SLUG, RESULTS, entries, root=config.root, scale=config.scale, options={"k": paper.k, "ks": paper.ks}
    )
    add_cost(plan, config, SLUG)
