"""DEPTH's plan: its jobs, what feeds its results, and cells that stay empty."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reprlab.config.load import LoadedConfig
from reprlab.evaluation.prediction_sample import SampledModel, SampleSettings
from reprlab.models.formula import t5_parameters
from reprlab.papers.depth.measures import SUMS
from reprlab.papers.depth.names import BENCHMARKS, SIDE_EXPERIMENTS
from reprlab.papers.depth.plan_ablations import add_ablations
from reprlab.papers.depth.plan_finetuning import Finetuned, add_finetuning, report_split
from reprlab.papers.depth.plan_runs import Run, RunPlanner
from reprlab.papers.depth.plan_text import vocabulary_rows
from reprlab.papers.depth.results import RESULTS
from reprlab.papers.depth.schema import FinetuningTask
from reprlab.planning import paths
from reprlab.planning.cost_jobs import add_cost
from reprlab.planning.plan import Job, Plan
from reprlab.planning.result_jobs import add_results
from reprlab.results.sources import Missing, Source, rivals

SLUG = "depth"
_SUBSETS = {"mnli_m": "matched", "mnli_mm": "mismatched"}
_FORCED = "_teacher_forced"


def add_jobs(plan: Plan, config: LoadedConfig) -> None:
    """Plan all of the paper at the config's scale."""
    paper = config.papers[SLUG]
    pretrained = RunPlanner(plan, config, paper)
    ablations = add_ablations(pretrained)
    pretrained.finish()
    results = _Results(config, pretrained, ablations, add_finetuning(plan, config, pretrained))
    options = {"confidence": paper.statistics.confidence, "tried": results.tried()}
    entries = list(results.entries())
    add_results(plan, SLUG, RESULTS, entries, root=config.root, scale=config.scale, options=options)
    plan.add("sample_predictions", SLUG, results.sample())
    made = [f"preview_{objective}" for objective in plan.jobs["preview_corruption"]]
    plan.add_targets(SLUG, [paths.result(SLUG, f"{name}.tsv") for name in (*made, "error_sample")])
    add_cost(plan, config, SLUG)


class _Results:
    """Registration of the files that feed the results."""

    def __init__(
        self, config: LoadedConfig, pretrained: RunPlanner, ablations: dict[str, list[Run]], finetuned: list[Finetuned]
    ) -> None:
        self.config, self.paper, self.pretrained = config, pretrained.paper, pretrained
        self.ablations, self.finetuned = ablations, finetuned
        self.tasks = self.paper.finetuning.tasks

    def entries(self) -> Iterator[Source | Missing]:
        """Scores by benchmark, baselines first; main runs; side experiments."""
        for table in BENCHMARKS:
            columns = list(self.columns(table))
            for task, column, _ in columns:
                yield from self.trivial(table, task, column)
            for one in self.finetuned:
                for task, column, mode in columns:
                    if one.task == task:
                        yield from self.scores(one, table, column, mode)
        entry = self.config.models[self.paper.pretraining.model]
        # Counted in closed form, so that planning needs no torch.
        parameters = t5_parameters(entry.config, vocabulary_rows(self.paper), entry.tie_output)
        for run in self.pretrained.runs:
            yield from self.losses(run, {"experiment": "main", "params": parameters})
        for experiment in SIDE_EXPERIMENTS:
            for run in self.ablations[experiment]:
                yield from self.losses(run, {"experiment": experiment, "variant": run.variant})
            if not self.ablations[experiment]:
                reason = f"papers.depth.ablations.{experiment}.enabled is false at scale {self.config.scale}"
                yield Missing(factors={"experiment": experiment}, reason=reason)

    def losses(self, run: Run, about: dict[str, Any]) -> Iterator[Source]:
        """Training curve and validation sums of a run."""
        corpus = self.config.datasets.corpora[self.paper.data.corpus].title
        settings, engine = run.settings, run.settings.engine
        about |= {"model": settings.objective, "init": run.init, "seed": run.seed, "batch_size": engine.batch_size}
        about |= {"packing": "yes" if settings.packing else "no", "lr": engine.optimizer.learning_rate}
        yield Source(
            path=Path(paths.pretraining_metrics(run.name)),
            factors={**about, "part": "training"},
            keys={"step": "step"},
            wide=["loss", "diverged"],
            data=corpus,
        )
        yield Source(
            path=Path(run.losses),
            factors={**about, "part": "validation"},
            keys={"step": "step", "shuffled": "shuffled", "batch": "batch"},
            where={"run": run.evaluated},
            # The tokens of a batch are not a metric of ours, and not those of a training.
            wide=[*SUMS, "tokens"],
            data=corpus,
        )

    def columns(self, table: str) -> Iterator[tuple[str, str, str]]:
        """Task, column and way of predicting, in the paper's order; columns that it does not have behind."""
        tasks = {name: task for name, task in self.tasks.items() if task.table == table}
        for name, task in tasks.items():
            mode = "argmax" if self.paper.finetuning.has_head(task) else task.eval_modes[0]
            yield from ((name, column, mode) for column in task.columns)
        for name, task in tasks.items():
            if "teacher_forced" in task.eval_modes[1:] and not self.paper.finetuning.has_head(task):
                yield from ((name, f"{column}{_FORCED}", "teacher_forced") for column in task.columns)

    def where(self, task: FinetuningTask, column: str) -> dict[str, Any]:
        """The rows of a column in files of scores."""
        subset = _SUBSETS.get(column.removesuffix(_FORCED), "")
        return {"metric": task.metric, "split": report_split(self.paper, task), "subset": subset}

    def trivial(self, table: str, name: str, column: str) -> Iterator[Source | Missing]:
        """Baselines without training, or why the column is empty."""
        task, scale = self.tasks[name], self.config.scale
        about: dict[str, Any] = {"experiment": table, "part": "finetuning", "column": column}
        if task.dataset is None:
            reason = f"no data at scale {scale}: papers.depth.finetuning.tasks.{name}.dataset is null"
            yield Missing(factors=about, reason=reason)
        elif table not in self.paper.finetuning.tables:
            reason = f"papers.depth.finetuning.tables leaves {table} out at scale {scale}"
            yield Missing(factors=about, reason=reason)
        else:
            entry = self.config.datasets.tasks[task.dataset]
            for baseline in entry.trivial():
                yield Source(
                    path=Path(paths.baselines(task.dataset)),
                    factors=about | {"init": "baseline", "model": baseline},
                    where={**self.where(task, column), "name": baseline},
                    data=entry.title,
                    unjudged="a baseline",
                )

    def scores(self, one: Finetuned, table: str, column: str, mode: str) -> Iterator[Source]:
        """The scores of a fine-tuned ladder, a source for each checkpoint."""
        task, model = self.tasks[one.task], one.model
        dataset = str(task.dataset)
        cells: dict[str, Any] = {"experiment": table, "column": column}
        init = model.init if one.trained else "baseline"
        about = {**cells, "part": "finetuning", "init": init, "model": model.label}
        about |= {"seed": model.seed, "tuning_seed": one.seed}
        entry = self.config.datasets.tasks[dataset]
        beside: dict[str, Any] = {"unjudged": "not pre-trained: trained rows are judged against it"}
        if one.trained and entry.answer:
            beside = rivals(entry.answer, paths.baselines(dataset), entry.trivial())
        # Released weights are another model than the untrained one.
        own = one.trained and model.init != "public"
        for name, step in zip(model.checkpoints, model.folders, strict=True):
            yield Source(
                path=Path(one.metrics),
                factors={**about, "step": step},
                keys={"lr": "learning_rate", "outside_labels": "outside_labels"},
                where={**self.where(task, column), "eval_mode": mode, "name": name},
                data=entry.title,
                selection=Path(one.selection),
                **beside,
                untrained=cells | {"init": "baseline", "model": "untrained"} if own else {},
            )

    def tried(self) -> dict[str, int]:
        """Learning rates among which the best was chosen on the very rows of a column."""
        finetuning = self.paper.finetuning
        return {
            column: len(self.tasks[name].learning_rates or finetuning.learning_rates)
            for table in BENCHMARKS
            for name, column, _ in self.columns(table)
            if report_split(self.paper, self.tasks[name]) == finetuning.select_split
        }

    def sample(self) -> Job:
        """Predictions of the last checkpoint of each trained model, by benchmark."""
        wanted = self.paper.error_sample
        models = [
            self.sampled(one)
            for table in BENCHMARKS
            for one in self.finetuned
            if one.trained and self.tasks[one.task].table == table
        ]
        settings = SampleSettings(scale=self.config.scale, models=models, examples=wanted.examples, seed=wanted.seed)
        read = {path for one in models for path in (one.metrics, one.selection, one.examples, *one.predictions)}
        return Job({"inputs": sorted(map(str, read))}, {"settings": settings})

    def sampled(self, one: Finetuned) -> SampledModel:
        """The predictions of one model."""
        task, model = self.tasks[one.task], one.model
        entry = self.config.datasets.tasks[str(task.dataset)]
        about: dict[str, str | int] = {"task": one.task, "init": model.init, "step": list(model.folders)[-1]}
        about |= {"model": model.label, "seed": model.seed, "data_task": entry.title}
        return SampledModel(
            about=about,
            name=list(model.checkpoints)[-1],
            metrics=Path(one.metrics),
            predictions=[Path(path) for path in one.predictions],
            selection=Path(one.selection),
            examples=Path(paths.examples(str(task.dataset))),
            labels=list(entry.labels),
            split=report_split(self.paper, task),
        )
