"""Plan of the paper on intrinsic dimension: states and estimates, what feeds the results, cells that stay empty."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reprlab.config.load import LoadedConfig
from reprlab.papers.intrinsic_dimension.plan_states import Collection, StatesPlanner
from reprlab.papers.intrinsic_dimension.results import FINETUNED, RESULTS
from reprlab.planning import paths
from reprlab.planning.cost_jobs import add_cost
from reprlab.planning.plan import Plan
from reprlab.planning.result_jobs import add_results
from reprlab.results.sources import Baseline, Missing, Source, Value, rivals

SLUG = "intrinsic-dimension"


def add_jobs(plan: Plan, config: LoadedConfig) -> None:
    """Plan all of the paper at the config's scale."""
    paper = config.papers[SLUG]
    planner = StatesPlanner(plan, config, paper)
    planner.add_jobs()
    options = {
        "auc": f"auc_{paper.estimation.norm}",
        "confidence": paper.estimation.confidence,
        "drawn": paper.comparison.drawn,
        "equal": f"first {min(paper.data.train_items, paper.data.validation_items)}",
    }
    entries = [*_entries(planner), *_token_clouds(planner)]
    add_results(plan, SLUG, RESULTS, entries, root=config.root, scale=config.scale, options=options)
    add_cost(plan, config, SLUG)


def _entries(planner: StatesPlanner) -> Iterator[Source | Missing]:
    """Sources by experiment and data set, in the paper's order."""
    paper, config = planner.paper, planner.config
    for experiment in map(str, RESULTS.factors["experiment"].values):
        sets = paper.icl_unique.datasets if experiment in ("icl_unique", "drawn_unique") else paper.data.datasets
        for name, entry in sets.items():
            if entry.dataset is None:
                about: dict[str, Any] = {"experiment": experiment, "dataset": name}
                yield Missing(factors=about, reason=f"no data at scale {config.scale}")
                continue
            title = config.datasets.tasks[entry.dataset].title
            for key, one in planner.collections.items():
                if one.dataset == name and experiment in one.experiments:
                    yield from _sources(planner, key, one, experiment, title)
    if not paper.collection.precision_items:
        reason = f"not run: papers.{SLUG}.collection.precision_items is 0"
        yield Missing(factors={"experiment": "precision"}, reason=reason)
    if not paper.replication.seeds:
        reason = f"not run: papers.{SLUG}.replication.seeds is empty"
        yield Missing(factors={"experiment": "replication"}, reason=reason)


def _token_clouds(planner: StatesPlanner) -> Iterator[Source]:
    """Clouds of the tokens of single prompts, by model and data set; the drawn model is the last."""
    paper, config = planner.paper, planner.config
    wanted, drawn = paper.neighbours.token_geometry, paper.comparison.drawn
    about: dict[str, Value] = {
        "condition": f"icl_{wanted.shots}",
        "k": wanted.shots,
        "split": "validation",
        "dtype": planner.dtype,
    }
    about |= {"seed": paper.data.demonstration_seed}
    models = {"tokens": wanted.models, "drawn_tokens": [drawn] if wanted.models else []}
    for experiment, model, name in (
        (experiment, model, name) for experiment, known in models.items() for model in known for name in wanted.datasets
    ):
        yield Source(
            path=Path(planner.token_clouds(model, name)),
            factors={**about, "experiment": experiment, "model": model, "dataset": name},
            keys={"tokens_are": "tokens_are", "layer": "layer"},
            data=config.datasets.tasks[str(paper.data.datasets[name].dataset)].title,
        )


def _sources(planner: StatesPlanner, key: str, one: Collection, experiment: str, title: str) -> Iterator[Source]:
    """Estimates and accuracies of one collection as an experiment reads them."""
    paper, run = planner.paper, planner.runs[one.run] if one.run else None
    main_seed = paper.finetuning.seed if run else paper.data.demonstration_seed
    about: dict[str, Any] = {
        "experiment": experiment,
        "model": one.model,
        "dataset": one.dataset,
        "condition": FINETUNED if run else f"icl_{one.k}",
        "k": one.k,
        "dtype": one.dtype,
        "split": one.split,
        "seed": main_seed if one.seed is None else one.seed,
    }
    # The comparison takes the end of a run.
    where: dict[str, Any] = {"step": run.steps} if run and experiment in ("comparison", "replication") else {}
    dimensions = Path(paths.output("estimate_dimension", "out", key))
    keys = {name: name for name in ("step", "layer", "estimator", "spread", "n_zero")}
    if experiment == "precision":
        # One of the two passes is the collection's own, over more prompts, of which the first are taken.
        first = "all" if one.limit else f"first {paper.collection.precision_items}"
        where = {"subset": first, "metric": "id"}
        yield Source(path=dimensions, factors={**about, "subset": "all"}, keys=keys, where=where, data=title)
        return
    scores = Path(paths.output("collect_states", "scores", key))
    beside = rivals("class", planner.add_baselines(one))
    # What one answer can get at best on these very prompts is harder than the commonest of training.
    beside["baselines"] += [Baseline(name="best constant", path=scores, where={"name": "majority"})]
    own = {**where, "name": "model", "metric": "accuracy"}
    yield Source(path=scores, factors=about, keys={"step": "step"}, where=own, data=title, **beside)
    areas: list[Value] = [name for name in RESULTS.metrics if name != "accuracy"]
    yield Source(path=dimensions, factors=about, keys=keys, where={**where, "metric": areas}, data=title)
