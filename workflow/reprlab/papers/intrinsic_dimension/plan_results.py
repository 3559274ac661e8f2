"""Result files of the paper on intrinsic dimension: which collections feed which table, figure and claim."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from reprlab.papers import paths
from reprlab.papers.cost_jobs import add_cost
from reprlab.papers.intrinsic_dimension.layouts import FINETUNED, Experiment, GridLayout
from reprlab.papers.intrinsic_dimension.plan_cost import cost_layout
from reprlab.papers.intrinsic_dimension.plan_states import StatesPlanner
from reprlab.papers.plan import Job, Plan
from reprlab.papers.published_jobs import audit_job, published_files

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.intrinsic_dimension import IntrinsicDimensionSettings, PromptedDataset

SLUG = "intrinsic-dimension"
_ALL: tuple[Experiment, ...] = ("comparison", "sft_dynamics", "icl_dynamics", "icl_unique")
TABLES: dict[str, tuple[Experiment, ...]] = {
    "accuracy": ("comparison",),
    "accuracy_cells": ("comparison",),
    "id_layers": ("comparison", "sft_dynamics", "icl_dynamics"),
    "auc": ("comparison", "sft_dynamics", "icl_dynamics"),
    "auc_heatmap": ("comparison",),
    "sft_dynamics": ("sft_dynamics",),
    "icl_dynamics": ("icl_dynamics",),
    "icl_unique": ("icl_unique",),
    "twonn_vs_mle": ("comparison",),
    "precision": ("precision",),
    "seeds": ("replication",),
}
FIGURES = {
    "id_layers": "id_layers",
    "auc_heatmap": "auc_heatmap",
    "auc_by_condition": "auc",
    "auc_by_model": "auc",
    "sft_dynamics": "sft_dynamics",
    "icl_dynamics": "icl_dynamics",
    "icl_unique": "icl_unique",
    "twonn_vs_mle": "twonn_vs_mle",
}
COMPARED = ("accuracy", "twonn_vs_mle", "auc", "icl_dynamics")


def add_results(
    plan: Plan, config: "LoadedConfig", paper: "IntrinsicDimensionSettings", planner: StatesPlanner
) -> None:
    """Plan tables, comparison, audit, claims, cost and figures."""
    for table, experiments in TABLES.items():
        _add_gridded(plan, "tabulate_paper", f"{SLUG}/{table}", _grid(config, paper, planner, experiments), "tables")
    _add_gridded(plan, "test_claims", SLUG, _grid(config, paper, planner, _ALL), "claims")
    plan.add("audit_paper", SLUG, audit_job(config.root, SLUG, "papers.intrinsic_dimension.audit"))
    plan.add(
        "compare_published",
        SLUG,
        Job(
            inputs={"tables": [paths.result(SLUG, f"{table}.tsv") for table in COMPARED]},
            settings={"scale": config.scale},
            plugins=("papers.intrinsic_dimension.comparison",),
            files={"published": published_files(config.root, SLUG)},
        ),
    )
    add_cost(plan, SLUG, cost_layout(config, paper, planner))
    for figure, table in FIGURES.items():
        plan.add(
            "plot_figure",
            f"{SLUG}/{figure}",
            Job(
                inputs={"tables": [paths.result(SLUG, f"{table}.tsv")]},
                settings={"scale": config.scale},
                plugins=("papers.intrinsic_dimension.figures",),
                files={"published": published_files(config.root, SLUG)},
            ),
        )
    plan.add_targets(SLUG, [paths.result(SLUG, f"{table}.tsv") for table in TABLES])
    plan.add_targets(SLUG, [paths.result(SLUG, f"{name}.tsv") for name in ("comparison", "audit", "claims", "cost")])
    plan.add_targets(SLUG, [paths.result(SLUG, f"{figure}.png") for figure in FIGURES])


def _add_gridded(plan: Plan, stage: str, key: str, grid: GridLayout, module: str) -> None:
    inputs = [str(path) for path in grid.paths()]
    # Without what has its default: the command line of the largest table must stay below 128 KiB.
    short = grid.model_dump(mode="json", exclude_defaults=True)
    plugins = (f"papers.intrinsic_dimension.{module}",)
    plan.add(stage, key, Job(inputs={"inputs": inputs}, settings={"layout": short}, plugins=plugins))


def _grid(
    config: "LoadedConfig",
    paper: "IntrinsicDimensionSettings",
    planner: StatesPlanner,
    experiments: tuple[Experiment, ...],
) -> GridLayout:
    data = paper.data
    precision = experiments == ("precision",)
    return GridLayout(
        scale=config.scale,
        collected=planner.collected(experiments),
        experiments=list(experiments),
        data=_titles(config, data.datasets),
        unique_data=_titles(config, paper.icl_unique.datasets) if "icl_unique" in experiments else {},
        datasets=list(data.datasets),
        conditions=[*(f"icl_{k}" for k in paper.comparison.shots), FINETUNED],
        norm=paper.estimation.norm,
        confidence=paper.estimation.confidence,
        seed=paper.finetuning.seed,
        subset=paper.collection.precision_items if precision else min(data.train_items, data.validation_items),
        main_seeds={"icl": data.demonstration_seed, "sft": paper.finetuning.seed}
        if "replication" in experiments
        else {},
    )


def _titles(config: "LoadedConfig", entries: Mapping[str, "PromptedDataset"]) -> dict[str, str]:
    return {name: config.datasets.tasks[entry.dataset].title for name, entry in entries.items() if entry.dataset}
