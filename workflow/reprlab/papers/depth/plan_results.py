"""DEPTH's result files: which artifacts feed them, and cells that stay empty."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.evaluation.prediction_sample import SampledModel, SampleSettings
from reprlab.models.formula import t5_parameters
from reprlab.papers import paths
from reprlab.papers.cost_jobs import add_cost
from reprlab.papers.depth.measures import SUMS
from reprlab.papers.depth.names import BENCHMARKS
from reprlab.papers.depth.plan_cost import Costs
from reprlab.papers.depth.plan_finetuning import Finetuned
from reprlab.papers.depth.plan_pretraining import Pretrained
from reprlab.papers.depth.plan_runs import Evaluated
from reprlab.papers.depth.plan_text import vocabulary_rows
from reprlab.papers.depth.results import RESULTS, SIDE_EXPERIMENTS
from reprlab.papers.plan import Job, Plan
from reprlab.results.planning import add_results as add_records
from reprlab.results.sources import Baseline, Missing, Source

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.depth import DepthSettings, FinetuningTask

SLUG = "depth"
_SUBSETS = {"mnli_m": "matched", "mnli_mm": "mismatched"}
_FORCED = "_teacher_forced"
_MODELS = {"untrained": "untrained", "public": "t5-base"}


def add_results(
    plan: Plan,
    config: "LoadedConfig",
    paper: "DepthSettings",
    pretrained: Pretrained,
    finetuned: list[Finetuned],
) -> None:
    """Plan the frame of results and what is made of it, the sample for annotation, and the costs."""
    planner = _Planner(config, paper, pretrained, finetuned)
    options = {"confidence": paper.statistics.confidence, "tried": planner.tried()}
    add_records(plan, SLUG, RESULTS, list(planner.entries()), root=config.root, scale=config.scale, options=options)
    plan.add("sample_predictions", SLUG, planner.sample())
    made = [f"preview_{objective}" for objective in plan.jobs["preview_corruption"]]
    plan.add_targets(SLUG, [paths.result(SLUG, f"{name}.tsv") for name in (*made, "error_sample")])
    add_cost(plan, config, SLUG, lambda settings, scale: Costs(config, plan, settings, scale).runs())


class _Planner:
    def __init__(
        self,
        config: "LoadedConfig",
        paper: "DepthSettings",
        pretrained: Pretrained,
        finetuned: list[Finetuned],
    ) -> None:
        self.config, self.paper, self.pretrained, self.finetuned = config, paper, pretrained, finetuned
        self.scale = config.scale
        self.corpus = config.datasets.corpora[paper.data.corpus].title

    def entries(self) -> Iterator[Source | Missing]:
        """Scores by benchmark, baselines first; main runs; side experiments."""
        for table in BENCHMARKS:
            columns = list(self.columns(table))
            for task, column, _ in columns:
                yield from self.trivial(table, task, column)
            for run in self.finetuned:
                for task, column, mode in columns:
                    if run.task == task:
                        yield from self.scores(run, table, column, mode)
        about: dict[str, Any]
        for ladder in self.pretrained.ladders:
            about = {"experiment": "main", "model": ladder.objective, "init": ladder.init, "seed": ladder.seed}
            optimizer, batch = self.paper.pretraining.optimizer, self.paper.pretraining.batch_size
            about |= {"lr": optimizer.learning_rate, "batch_size": batch, "params": self.parameters()}
            packing = self.paper.pretraining.packing and ladder.objective == "t5"
            about |= {"packing": "yes" if packing else "no"}
            yield from self.losses(about, ladder.name, self.pretrained.evaluated[ladder.name])
        for experiment in SIDE_EXPERIMENTS:
            variants = self.pretrained.side_experiments[experiment]
            for one in variants:
                about = {"experiment": experiment, "variant": one.label, "model": one.objective, "init": "fs"}
                about |= {"seed": one.seed, "packing": "yes" if one.packing else "no", "lr": one.learning_rate}
                yield from self.losses(about | {"batch_size": one.batch_size}, one.name, one.evaluation)
            if not variants:
                reason = f"papers.depth.ablations.{experiment}.enabled is false at scale {self.scale}"
                yield Missing(factors={"experiment": experiment}, reason=reason)

    def losses(self, about: dict[str, Any], run: str, evaluation: Evaluated) -> Iterator[Source]:
        """Training curve and validation sums of a run."""
        yield Source(
            path=Path(paths.pretraining_metrics(run)),
            factors={**about, "part": "training"},
            keys={"step": "step"},
            wide=["loss", "diverged"],
            data=self.corpus,
        )
        yield Source(
            path=Path(evaluation.table),
            factors={**about, "part": "validation"},
            keys={"step": "step", "shuffled": "shuffled", "batch": "batch"},
            where={"run": evaluation.run},
            # The tokens of a batch are no metric of ours, and not those of a training.
            wide=[*SUMS, "tokens"],
            data=self.corpus,
        )

    def columns(self, table: str) -> Iterator[tuple[str, str, str]]:
        """Task, column and way of predicting, in the paper's order; columns that it does not have behind."""
        tasks = {name: task for name, task in self.paper.finetuning.tasks.items() if task.table == table}
        for name, task in tasks.items():
            yield from ((name, column, task.eval_modes[0]) for column in task.columns)
        for name, task in tasks.items():
            if "teacher_forced" in task.eval_modes[1:]:
                yield from ((name, f"{column}{_FORCED}", "teacher_forced") for column in task.columns)

    def split(self, task: "FinetuningTask") -> str:
        return task.report_split or self.paper.finetuning.report_split

    def where(self, task: "FinetuningTask", column: str) -> dict[str, Any]:
        """The rows of a column in files of scores."""
        subset = _SUBSETS.get(column.removesuffix(_FORCED), "")
        return {"metric": task.metric, "split": self.split(task), "subset": subset}

    def trivial(self, table: str, name: str, column: str) -> Iterator[Source | Missing]:
        """Baselines without training, or why the column is empty."""
        task = self.paper.finetuning.tasks[name]
        about: dict[str, Any] = {"experiment": table, "part": "finetuning", "column": column}
        if task.dataset is None:
            reason = f"no data at scale {self.scale}: papers.depth.finetuning.tasks.{name}.dataset is null"
            yield Missing(factors=about, reason=reason)
        elif table not in self.paper.finetuning.tables:
            reason = f"papers.depth.finetuning.tables leaves {table} out at scale {self.scale}"
            yield Missing(factors=about, reason=reason)
        else:
            names = [*self.paper.finetuning.baselines.trivial]
            free_text = task.metric == "rouge_l"
            for baseline in [*(one for one in names if one != "tfidf"), "copy"] if free_text else names:
                yield Source(
                    path=Path(paths.baselines(task.dataset)),
                    factors=about | {"init": "baseline", "model": baseline},
                    where={**self.where(task, column), "name": baseline},
                    data=self.config.datasets.tasks[task.dataset].title,
                )

    def scores(self, run: Finetuned, table: str, column: str, mode: str) -> Iterator[Source]:
        """The scores of a fine-tuned ladder, a source for each checkpoint."""
        task = self.paper.finetuning.tasks[run.task]
        dataset = str(task.dataset)
        init = "baseline" if run.ladder.init == "untrained" else run.ladder.init
        about: dict[str, Any] = {"experiment": table, "part": "finetuning", "column": column, "init": init}
        about |= {"model": _MODELS.get(run.ladder.init, run.ladder.objective)}
        about |= {"seed": run.ladder.seed, "tuning_seed": run.seed}
        where = {**self.where(task, column), "eval_mode": mode}
        trivial = "copy" if task.metric == "rouge_l" else "majority"
        against = Baseline(name=trivial, path=Path(paths.baselines(dataset)), where={"name": trivial})
        # Released weights are another model than the untrained one.
        untrained: dict[str, Any] = {"experiment": table, "column": column, "init": "baseline", "model": "untrained"}
        judged = run.trained and trivial in (*self.paper.finetuning.baselines.trivial, "copy")
        for name, step in zip(run.names, run.steps, strict=True):
            yield Source(
                path=Path(run.metrics),
                factors={**about, "step": step},
                keys={"lr": "learning_rate", "outside_labels": "outside_labels"},
                where={**where, "name": name},
                data=self.config.datasets.tasks[dataset].title,
                selection=Path(run.selection),
                baselines=[against] if judged else [],
                untrained=untrained if run.trained and run.ladder.init != "public" else {},
            )

    def tried(self) -> dict[str, int]:
        """Learning rates among which the best was chosen on the very rows of a column."""
        finetuning = self.paper.finetuning
        return {
            column: len(task.learning_rates or finetuning.learning_rates)
            for table in BENCHMARKS
            for name, column, _ in self.columns(table)
            for task in [finetuning.tasks[name]]
            if self.split(task) == finetuning.select_split
        }

    def parameters(self) -> int:
        """Parameters of the model with the tokenizer's vocabulary; counted, so that planning needs no torch."""
        entry = self.config.models[self.paper.pretraining.model]
        return t5_parameters(entry.config, vocabulary_rows(self.paper), entry.tie_output)

    def sample(self) -> Job:
        """Predictions of the last checkpoint of each trained model, by benchmark."""
        finetuning, wanted = self.paper.finetuning, self.paper.error_sample
        models = [
            self.sampled(run)
            for table in BENCHMARKS
            for run in self.finetuned
            if run.trained and finetuning.tasks[run.task].table == table
        ]
        settings = SampleSettings(scale=self.scale, models=models, examples=wanted.examples, seed=wanted.seed)
        read = {path for one in models for path in (one.metrics, one.selection, one.examples, *one.predictions)}
        return Job(inputs={"inputs": sorted(map(str, read))}, settings={"settings": settings})

    def sampled(self, run: Finetuned) -> SampledModel:
        task = self.paper.finetuning.tasks[run.task]
        dataset = str(task.dataset)
        entry = self.config.datasets.tasks[dataset]
        about: dict[str, str | int] = {"task": run.task, "init": run.ladder.init, "step": run.steps[-1]}
        about |= {"model": _MODELS.get(run.ladder.init, run.ladder.objective), "seed": run.ladder.seed}
        return SampledModel(
            about=about | {"data_task": entry.title},
            name=run.names[-1],
            metrics=Path(run.metrics),
            predictions=[Path(path) for path in run.predictions],
            selection=Path(run.selection),
            examples=Path(paths.examples(dataset)),
            labels=list(entry.labels),
            split=self.split(task),
        )
