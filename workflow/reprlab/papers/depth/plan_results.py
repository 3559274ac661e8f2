"""DEPTH's result files: which artifacts feed which table, figure and claim."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from reprlab.papers import paths
from reprlab.papers.cost_jobs import add_cost
from reprlab.papers.depth.layouts import ClaimsLayout, ErrorSampleLayout, MeansLayout, SampledRun
from reprlab.papers.depth.names import Ladder
from reprlab.papers.depth.plan_cost import cost_layout
from reprlab.papers.depth.plan_finetuning import Finetuned
from reprlab.papers.depth.plan_pretraining import Pretrained
from reprlab.papers.plan import Job, Plan
from reprlab.papers.published_jobs import audit_job, published_files
from reprlab.reporting.layouts import (
    BenchmarkLayout,
    Checkpoint,
    Column,
    FinetunedRun,
    LossLayout,
    PretrainedRun,
    Statistics,
    paths_of,
)

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.depth import DepthSettings

SLUG = "depth"
BENCHMARKS = ("glue", "discoeval", "ni")
MNLI_SUBSETS = {"mnli_m": "matched", "mnli_mm": "mismatched"}
FIGURES = {
    "fig_glue": ["glue"],
    "fig_discoeval": ["discoeval"],
    "fig_ni": ["ni"],
    "loss_fs": ["loss_fs"],
    "loss_cpt": ["loss_cpt"],
    "loss_decomposition": ["loss_decomposition"],
    "packing_lr": ["packing_lr"],
    "sentence_weight": ["sentence_weight"],
    "padding_in_loss": ["padding_in_loss"],
    "int8_bug": ["int8_bug"],
}


def add_results(
    plan: Plan,
    config: "LoadedConfig",
    paper: "DepthSettings",
    pretrained: Pretrained,
    finetuned: list[Finetuned],
) -> None:
    """Plan tables, comparison, audit, claims and figures."""
    layouts = _Layouts(config, paper, pretrained, finetuned)
    tables = layouts.tables()
    for table, layout in tables.items():
        inputs = sorted({str(path) for path in paths_of(layout)})
        plan.add(
            "tabulate_paper",
            f"{SLUG}/{table}",
            Job(inputs={"inputs": inputs}, settings={"layout": layout}, plugins=("papers.depth.tables",)),
        )
    compared = ["table1", "table2_scale", *BENCHMARKS, "loss_fs", "loss_cpt"]
    plan.add(
        "compare_published",
        SLUG,
        Job(
            inputs={"tables": [paths.result(SLUG, f"{table}.tsv") for table in compared]},
            settings={"scale": config.scale},
            plugins=("papers.depth.comparison",),
            files={"published": published_files(config.root, SLUG)},
        ),
    )
    plan.add("audit_paper", SLUG, audit_job(config.root, SLUG, "papers.depth.audit"))
    claims = layouts.claims()
    plan.add(
        "test_claims",
        SLUG,
        Job(
            inputs={"inputs": sorted({str(path) for path in paths_of(claims)})},
            settings={"layout": claims},
            plugins=("papers.depth.claims",),
        ),
    )
    add_cost(plan, SLUG, cost_layout(config, paper, plan, pretrained, finetuned))
    for figure, sources in FIGURES.items():
        plan.add(
            "plot_figure",
            f"{SLUG}/{figure}",
            Job(
                inputs={"tables": [paths.result(SLUG, f"{table}.tsv") for table in sources]},
                settings={"scale": config.scale},
                plugins=("papers.depth.figures",),
                files={"published": published_files(config.root, SLUG)},
            ),
        )
    plan.add_targets(
        SLUG, [paths.result(SLUG, f"preview_{objective}.tsv") for objective in plan.jobs["preview_corruption"]]
    )
    plan.add_targets(SLUG, [paths.result(SLUG, f"{table}.tsv") for table in tables if not table.endswith("_cells")])
    plan.add_targets(SLUG, [paths.result(SLUG, f"{name}.tsv") for name in ("comparison", "audit", "claims", "cost")])
    plan.add_targets(SLUG, [paths.result(SLUG, f"{figure}.png") for figure in FIGURES])


class _Layouts:
    def __init__(
        self,
        config: "LoadedConfig",
        paper: "DepthSettings",
        pretrained: Pretrained,
        finetuned: list[Finetuned],
    ) -> None:
        self.config, self.paper, self.pretrained, self.finetuned = config, paper, pretrained, finetuned
        self.scale: Any = config.scale
        self.corpus = config.datasets.corpora[paper.data.corpus].title
        statistics = paper.statistics
        self.statistics = Statistics(
            resamples=statistics.bootstrap, confidence=statistics.confidence, seed=statistics.seed
        )

    def tables(self) -> dict[str, BaseModel]:
        """Layout by table."""
        benchmarks = {name: self.benchmark(name) for name in BENCHMARKS}
        ladders = self.pretrained.ladders
        return {
            **benchmarks,
            **{f"{name}_cells": layout for name, layout in benchmarks.items()},
            "table1": MeansLayout(scale=self.scale, discoeval=Path(paths.result(SLUG, "discoeval.tsv"))),
            "table2_scale": self.losses(self.main_runs(ladders)),
            "loss_fs": self.losses(self.main_runs(ladders, init="fs")),
            "loss_cpt": self.losses(self.main_runs(ladders, init="cpt")),
            "loss_decomposition": self.losses(self.main_runs(ladders, objective="depth")),
            **{name: self.losses(self.variants(name), name) for name in _SIDE_EXPERIMENTS},
            "error_sample": self.error_sample(),
        }

    def losses(self, runs: list[PretrainedRun], experiment: str = "") -> LossLayout:
        reason = "" if runs else f"papers.depth.ablations.{experiment}.enabled is false at scale {self.scale}"
        return LossLayout(scale=self.scale, data=self.corpus, runs=runs, statistics=self.statistics, reason=reason)

    def main_runs(self, ladders: Iterable[Ladder], init: str = "", objective: str = "") -> list[PretrainedRun]:
        pretraining = self.paper.pretraining
        return [
            PretrainedRun(
                model=ladder.objective,
                init=ladder.init,
                seed=ladder.seed,
                packing=pretraining.packing and ladder.objective == "t5",
                learning_rate=pretraining.optimizer.learning_rate,
                metrics=Path(paths.pretraining_metrics(ladder.name)),
                evaluation=Path(self.pretrained.evaluated[ladder.name].table),
                evaluation_run=ladder.name,
                parameters=self.parameters(),
                batch_size=pretraining.batch_size,
            )
            for ladder in ladders
            if init in ("", ladder.init) and objective in ("", ladder.objective)
        ]

    def parameters(self) -> int:
        """Parameters of the model with the tokenizer's vocabulary; counted, so that planning needs no torch."""
        from reprlab.models.formula import t5_parameters
        from reprlab.text.vocabulary import Vocabulary

        wanted = self.paper.tokenizer
        vocabulary = Vocabulary(wanted.pieces, wanted.sentinels, wanted.sentence_tokens)
        entry = self.config.models[self.paper.pretraining.model]
        return t5_parameters(entry.config, vocabulary.padded_size, entry.tie_output)

    def variants(self, experiment: str) -> list[PretrainedRun]:
        found = self.pretrained.side_experiments[experiment]
        return [
            PretrainedRun(
                model=variant.objective,
                seed=variant.seed,
                variant=variant.label,
                packing=variant.packing,
                learning_rate=variant.learning_rate,
                metrics=Path(paths.pretraining_metrics(variant.name)),
                evaluation=Path(variant.evaluation.table),
                evaluation_run=variant.evaluation.run,
                parameters=self.parameters(),
                batch_size=variant.batch_size,
            )
            for variant in found
        ]

    def benchmark(self, table: str) -> BenchmarkLayout:
        columns = [column for task, name in self.columns_of(table) for column in [self.column(table, task, name)]]
        extra = [
            column.model_copy(update={"name": f"{column.name}_teacher_forced", "eval_mode": "teacher_forced"})
            for column in columns
            if column.task and "teacher_forced" in self.paper.finetuning.tasks[column.task].eval_modes[1:]
        ]
        return BenchmarkLayout(scale=self.scale, columns=columns, extra_columns=extra, runs=self.finetuned_runs(table))

    def columns_of(self, table: str) -> list[tuple[str, str]]:
        tasks = self.paper.finetuning.tasks
        return [(task, name) for task, entry in tasks.items() if entry.table == table for name in entry.columns]

    def column(self, table: str, task: str, name: str) -> Column:
        settings = self.paper.finetuning.tasks[task]
        if settings.dataset is None:
            return Column(
                name=name, reason=f"no data at scale {self.scale}: papers.depth.finetuning.tasks.{task}.dataset is null"
            )
        if table not in self.paper.finetuning.tables:
            return Column(name=name, reason=f"papers.depth.finetuning.tables leaves {table} out at scale {self.scale}")
        entry = self.config.datasets.tasks[settings.dataset]
        return Column(
            name=name,
            task=task,
            data=entry.title,
            metric=settings.metric,
            split=settings.report_split or self.paper.finetuning.report_split,
            eval_mode=settings.eval_modes[0],
            subset=MNLI_SUBSETS.get(name, ""),
            baselines=Path(paths.baselines(settings.dataset)),
            trivial="copy" if settings.metric == "rouge_l" else "majority",
        )

    def finetuned_runs(self, table: str, *, predictions: bool = False) -> list[FinetunedRun]:
        metrics = {run.name: paths.pretraining_metrics(run.name) for run in self.pretrained.ladders}
        return [
            FinetunedRun(
                init="baseline" if run.ladder.init == "untrained" else run.ladder.init,
                model={"untrained": "untrained", "public": "t5-base"}.get(run.ladder.init, run.ladder.objective),
                seed=run.ladder.seed,
                task=run.task,
                checkpoints=[Checkpoint(name=name, step=step) for name, step in zip(run.names, run.steps, strict=True)],
                metrics=[Path(run.metrics)],
                predictions=[Path(path) for path in run.predictions] if predictions else [],
                selection=Path(run.selection),
                pretraining=Path(metrics[run.ladder.name]) if run.ladder.name in metrics else None,
                trained=run.trained,
            )
            for run in self.finetuned
            if self.paper.finetuning.tasks[run.task].table == table
        ]

    def error_sample(self) -> ErrorSampleLayout:
        sampled = []
        for run in [one for table in BENCHMARKS for one in self.finetuned_runs(table, predictions=True) if one.trained]:
            settings = self.paper.finetuning.tasks[run.task]
            entry = self.config.datasets.tasks[str(settings.dataset)]
            sampled.append(
                SampledRun(
                    run=run,
                    examples=Path(paths.examples(str(settings.dataset))),
                    labels=list(entry.labels),
                    data=entry.title,
                    split=settings.report_split or self.paper.finetuning.report_split,
                )
            )
        wanted = self.paper.error_sample
        return ErrorSampleLayout(scale=self.scale, runs=sampled, examples=wanted.examples, seed=wanted.seed)

    def claims(self) -> ClaimsLayout:
        cells: dict[Any, Path] = {name: Path(paths.result(SLUG, f"{name}_cells.tsv")) for name in BENCHMARKS}
        return ClaimsLayout(
            scale=self.scale,
            fs=self.main_runs(self.pretrained.ladders, init="fs"),
            cpt=self.main_runs(self.pretrained.ladders, init="cpt"),
            sentence_weight=self.variants("sentence_weight"),
            packing_lr=self.variants("packing_lr"),
            cells=cells,
            statistics=self.statistics,
        )


_SIDE_EXPERIMENTS = ("packing_lr", "sentence_weight", "padding_in_loss", "int8_bug")
