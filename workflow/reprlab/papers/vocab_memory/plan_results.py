"""The paper's result files: which artifacts feed which table, figure and claim."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from reprlab.papers import paths
from reprlab.papers.cost_jobs import add_cost
from reprlab.papers.plan import Job, Plan
from reprlab.papers.published_jobs import audit_job, published_files
from reprlab.papers.vocab_memory.counting_tables import splits_name
from reprlab.papers.vocab_memory.layouts import (
    ClaimsLayout,
    GlueLayout,
    ModelRow,
    ReductionLayout,
    RuntimeLayout,
    ScoredColumn,
    SizesLayout,
    TrendLayout,
    UnseenLayout,
)
from reprlab.papers.vocab_memory.names import label_of, size_label_of
from reprlab.papers.vocab_memory.plan_cost import cost_layout
from reprlab.papers.vocab_memory.plan_counting import NO_DATA, Counted
from reprlab.papers.vocab_memory.plan_finetuning import Finetuned
from reprlab.reporting.layouts import Statistics, paths_of

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.vocab_memory import VocabMemorySettings

SLUG = "vocab-memory"
_MODULE = "papers.vocab_memory"
_FIGURES = {"fig2_vocab_trend": "fig2_vocab_trend", "fig_memory": "table9_runtime"}


def add_results(
    plan: Plan, config: "LoadedConfig", paper: "VocabMemorySettings", counted: Counted, finetuned: Finetuned
) -> None:
    """Plan tables, comparison, audit, claims, cost and figures."""
    layouts = _Layouts(config, paper, counted, finetuned)
    tables = layouts.tables()
    for table, layout in tables.items():
        inputs = sorted({str(path) for path in paths_of(layout)})
        plan.add(
            "tabulate_paper",
            f"{SLUG}/{table}",
            Job(inputs={"inputs": inputs}, settings={"layout": layout}, plugins=(f"{_MODULE}.tables",)),
        )
    plan.add(
        "compare_published",
        SLUG,
        Job(
            inputs={"tables": [_result(table) for table in tables if table != "fig2_vocab_trend"]},
            settings={"scale": config.scale},
            plugins=(f"{_MODULE}.comparison",),
            files={"published": published_files(config.root, SLUG)},
        ),
    )
    plan.add("audit_paper", SLUG, audit_job(config.root, SLUG, f"{_MODULE}.audit"))
    add_cost(plan, SLUG, cost_layout(config, paper))
    files = [_result(table) for table in tables]
    if finetuned.timings and finetuned.arms:
        claims = layouts.claims()
        plan.add(
            "test_claims",
            SLUG,
            Job(
                inputs={"inputs": sorted({str(path) for path in paths_of(claims)})},
                settings={"layout": claims},
                plugins=(f"{_MODULE}.claims",),
            ),
        )
        files.append(_result("claims"))
    for figure, table in _FIGURES.items():
        if table in tables:
            plan.add(
                "plot_figure",
                f"{SLUG}/{figure}",
                Job(
                    inputs={"tables": [_result(table)]},
                    settings={"scale": config.scale},
                    plugins=(f"{_MODULE}.figures",),
                    files={"published": published_files(config.root, SLUG)},
                ),
            )
            files.append(paths.result(SLUG, f"{figure}.png"))
    plan.add_targets(SLUG, [*files, *(_result(name) for name in ("comparison", "audit", "cost"))])


def _result(table: str) -> str:
    return paths.result(SLUG, f"{table}.tsv")


class _Layouts:
    def __init__(
        self, config: "LoadedConfig", paper: "VocabMemorySettings", counted: Counted, finetuned: Finetuned
    ) -> None:
        self.config, self.paper, self.counted, self.finetuned = config, paper, counted, finetuned
        self.sizes = Path(counted.sizes)
        self.scale: Any = config.scale

    def tables(self) -> dict[str, BaseModel]:
        """The layout of every table that this scale makes."""
        counted, paper = self.counted, self.paper
        found: dict[str, BaseModel] = {
            "table1_unseen_tokens": self.unseen(),
            "table2_reduction": self.reduction(counted.reduction, glue=True),
            "table3_deberta_sizes": self.reduction(counted.family_savings, glue=True, millions=True),
            "table4_xnli": self.reduction(counted.multilingual, glue=False),
            "table5_models": self.listed(paper.listed_models),
            "table6_deberta": self.listed(paper.family_models, family=True),
            "fig2_vocab_trend": TrendLayout(
                scale=self.scale,
                tokenizers=counted.trend,
                columns=counted.trend_data,
                splits=list(paper.counting.compared),
            ),
        }
        if self.finetuned.arms:
            found["table10_glue"] = GlueLayout(scale=self.scale, columns=self.scored(), arms=self.finetuned.arms)
        if self.finetuned.timings:
            titles = {task: self.title(task) for task in dict.fromkeys(one.task for one in self.finetuned.timings)}
            found["table9_runtime"] = RuntimeLayout(scale=self.scale, columns=titles, timings=self.finetuned.timings)
        return found

    def reduction(self, rows: list[ModelRow], *, glue: bool, millions: bool = False) -> ReductionLayout:
        """Table 2, 3 or 4."""
        return ReductionLayout(
            scale=self.scale,
            sizes=self.sizes,
            models=rows,
            columns=self.counted.glue if glue else self.counted.xnli,
            splits=[list(splits) for splits in self.paper.counting.splits],
            compared=list(self.paper.counting.compared),
            millions=millions,
            mean=glue,
            note="n and tokens: all columns together; tokens without padding",
        )

    def listed(self, models: list[str], *, family: bool = False) -> SizesLayout:
        """Table 5 or 6."""
        label = size_label_of if family else label_of
        rows = [ModelRow(name=model, label=label(model)) for model in models]
        return SizesLayout(scale=self.scale, sizes=self.sizes, models=rows, family=family)

    def unseen(self) -> UnseenLayout:
        """Table 1."""
        counted = self.counted
        return UnseenLayout(
            scale=self.scale,
            tokenizers=counted.unseen,
            folders=counted.unseen_folders,
            counts=counted.unseen_counts,
            data=counted.corpus,
            examples=self.paper.unseen.examples,
            reason="" if counted.unseen else "no corpus: the paper does not name its Wikipedia dump; set unseen.corpus",
        )

    def scored(self) -> list[ScoredColumn]:
        """Columns of Table 10; MNLI has one for each part of its validation set."""
        found, ran = [], {arm.task for arm in self.finetuned.arms}
        for task, settings in self.paper.tasks.items():
            subsets = self.has_subsets(task)
            common = ScoredColumn(name=task, reason=NO_DATA if settings.dataset is None else "not run at this scale")
            if task in ran:
                common = ScoredColumn(
                    name=task,
                    data=self.title(task),
                    metric=settings.metric,
                    subset="matched" if subsets else "",
                    task=task,
                    baselines=self.finetuned.baselines[task],
                )
            found.append(common)
            if task in ran and subsets:
                found.append(common.model_copy(update={"name": f"{task}_mm", "subset": "mismatched"}))
        return found

    def has_subsets(self, task: str) -> bool:
        """Whether the data has a matched and a mismatched part."""
        dataset = self.paper.tasks[task].dataset
        return dataset is not None and self.config.datasets.tasks[dataset].role == "mnli"

    def title(self, task: str) -> str:
        """True name of the data of a task."""
        return self.config.datasets.tasks[str(self.paper.tasks[task].dataset)].title

    def claims(self) -> ClaimsLayout:
        """The evidence of the claims."""
        statistics = self.paper.statistics
        return ClaimsLayout(
            scale=self.scale,
            trend=Path(_result("fig2_vocab_trend")),
            reduction=Path(_result("table2_reduction")),
            family=Path(_result("table3_deberta_sizes")),
            xnli=Path(_result("table4_xnli")),
            runtime=Path(_result("table9_runtime")),
            compared=splits_name(list(self.paper.counting.compared)),
            arms=self.finetuned.arms,
            metrics={task: settings.metric for task, settings in self.paper.tasks.items()},
            statistics=Statistics(resamples=statistics.bootstrap, seed=statistics.seed),
        )
