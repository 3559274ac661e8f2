"""Plan of L3Prune: decoders at each depth with their neighbours, encoders of others, baselines, results."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.baselines.vectors import LEXICAL
from reprlab.papers.overparameterized_encoders.plan_backbone import NAME, SLUG, Backbone
from reprlab.papers.overparameterized_encoders.plan_neighbours import neighbour_sources
from reprlab.papers.overparameterized_encoders.printed_hours import with_hours
from reprlab.papers.overparameterized_encoders.results import RESULTS
from reprlab.planning.cost_jobs import add_cost
from reprlab.planning.encoder_jobs import TextBaselines, add_published
from reprlab.planning.plan import Plan
from reprlab.planning.result_jobs import add_results
from reprlab.results.sources import Missing, Source
from reprlab.sentences.settings import MAIN_METRICS

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.papers.overparameterized_encoders.schema import OverparameterizedEncodersSettings


def add_jobs(plan: Plan, config: "LoadedConfig") -> None:
    """Plan all of the paper at the config's scale."""
    paper = config.papers[SLUG]
    entries: list[Source | Missing] = []
    scored = {name: paper.evaluation.tasks[name] for name in paper.evaluation.scored}
    own = {"seeds": paper.training.seeds[:1]}
    baselines = TextBaselines(plan, config, NAME, scored, paper.training, paper.evaluation, **own)
    for name in paper.compared:
        jobs = Backbone(plan, config, paper, name, baselines)
        entries.append(jobs.curve())
        for depth in paper.backbones[name].depths:
            entries += jobs.at(depth)
        entries += neighbour_sources(jobs)
    entries += [source for name in paper.beside for source in _published(plan, config, paper, name)]
    entries += baselines.shown({"model": LEXICAL, "part": "published"}, {"seed": "seed", "layers": "layers"})
    options = {"tasks": len(paper.evaluation.scored)}
    add_results(plan, SLUG, RESULTS, entries, root=config.root, scale=config.scale, options=options)
    add_cost(plan, config, SLUG, lambda run: with_hours(config.root, run))


def _published(
    plan: Plan, config: "LoadedConfig", paper: "OverparameterizedEncodersSettings", name: str
) -> list[Source]:
    """An encoder of others: its score on each task, and its parameters."""
    tasks = {one: paper.evaluation.tasks[one] for one in paper.evaluation.scored}
    groups, key = (paper.training, paper.evaluation), f"{name}/{NAME}_published"
    own = {"setting": f"papers.{SLUG}.published.{name}", "dtype": config.arithmetic(paper.dtype)}
    out = add_published(plan, config, key, paper.published[name], tasks, *groups, **own)
    fixed: dict[str, Any] = {"path": Path(out), "keys": {"seed": "seed", "layers": "layers"}}
    about: dict[str, Any] = {"model": name, "part": "published"}
    found = [
        Source(
            factors={**about, "dataset": one, "category": task.category},
            where={"dataset": one, "metric": MAIN_METRICS[task.category]},
            data=config.datasets.tasks[task.dataset].title,
            unjudged="a published encoder, as it is",
            **fixed,
        )
        for one, task in tasks.items()
    ]
    return [*found, Source(factors=about, where={"dataset": next(iter(tasks))}, wide=["parameters"], **fixed)]
