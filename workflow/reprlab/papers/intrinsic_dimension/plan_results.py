"""Result files of the paper on intrinsic dimension: which collections feed them, and cells that stay empty."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from reprlab.papers.cost_jobs import add_cost
from reprlab.papers.intrinsic_dimension.plan_cost import Costs
from reprlab.papers.intrinsic_dimension.plan_needs import Collection
from reprlab.papers.intrinsic_dimension.plan_states import StatesPlanner
from reprlab.papers.intrinsic_dimension.results import EXPERIMENTS, FINETUNED, RESULTS
from reprlab.papers.paths import SHARED
from reprlab.papers.plan import Plan
from reprlab.results.planning import add_results as add_records
from reprlab.results.sources import Baseline, Missing, Source

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.intrinsic_dimension import IntrinsicDimensionSettings

SLUG = "intrinsic-dimension"
_SETTING = f"papers.{SLUG}"


def add_results(
    plan: Plan, config: "LoadedConfig", paper: "IntrinsicDimensionSettings", planner: StatesPlanner
) -> None:
    """Plan the frame of results, what is made of it, and the costs."""
    options = {
        "auc": f"auc_{paper.estimation.norm}",
        "confidence": paper.estimation.confidence,
        "equal": f"first {min(paper.data.train_items, paper.data.validation_items)}",
    }
    entries = list(_entries(config, paper, planner))
    add_records(plan, SLUG, RESULTS, entries, root=config.root, scale=config.scale, options=options)
    add_cost(plan, config, SLUG, lambda settings, scale: Costs(config, planner, settings, scale).runs())


def _entries(
    config: "LoadedConfig", paper: "IntrinsicDimensionSettings", planner: StatesPlanner
) -> Iterator[Source | Missing]:
    """Sources by experiment and data set, in the paper's order."""
    for experiment in EXPERIMENTS:
        sets = paper.icl_unique.datasets if experiment == "icl_unique" else paper.data.datasets
        for name, entry in sets.items():
            if entry.dataset is None:
                about: dict[str, str | int | float] = {"experiment": experiment, "dataset": name}
                yield Missing(factors=about, reason=f"no data at scale {config.scale}")
                continue
            title = config.datasets.tasks[entry.dataset].title
            for key, one in planner.collections.items():
                if one.dataset == name and experiment in one.experiments:
                    yield from _sources(key, one, experiment, title, paper)
    if not paper.collection.precision_items:
        reason = f"not run: {_SETTING}.collection.precision_items is 0"
        yield Missing(factors={"experiment": "precision"}, reason=reason)
    if not paper.replication.seeds:
        reason = f"not run: {_SETTING}.replication.seeds is empty"
        yield Missing(factors={"experiment": "replication"}, reason=reason)


def _sources(
    key: str, one: Collection, experiment: str, title: str, paper: "IntrinsicDimensionSettings"
) -> Iterator[Source]:
    """Estimates and accuracies of one collection as an experiment reads them."""
    tuned = one.run is not None
    main_seed = paper.finetuning.seed if tuned else paper.data.demonstration_seed
    about: dict[str, Any] = {
        "experiment": experiment,
        "model": one.model,
        "dataset": one.dataset,
        "condition": FINETUNED if tuned else f"icl_{one.k}",
        "k": one.k,
        "dtype": one.dtype,
        "split": one.split,
        "seed": main_seed if one.seed is None else one.seed,
    }
    compared = tuned and experiment in ("comparison", "replication")
    where: dict[str, Any] = {"step": one.compared} if compared else {}
    dimensions: Any = f"{SHARED}/dimensions/{key}.tsv"
    keys = {name: name for name in ("step", "layer", "estimator", "spread", "n_zero")}
    if experiment == "precision":
        # One of the two passes is the collection's own, over more prompts, of which the first are taken.
        first = "all" if one.limit else f"first {paper.collection.precision_items}"
        where = {"subset": first, "metric": "id"}
        yield Source(path=dimensions, factors={**about, "subset": "all"}, keys=keys, where=where, data=title)
        return
    scores: Any = f"{SHARED}/states/{key}/scores.tsv"
    majority = Baseline(name="majority", path=scores, where={"name": "majority"})
    own = {**where, "name": "model"}
    yield Source(path=scores, factors=about, keys={"step": "step"}, where=own, data=title, baselines=[majority])
    yield Source(path=dimensions, factors=about, keys=keys, where=where, data=title)
