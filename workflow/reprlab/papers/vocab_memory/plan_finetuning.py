"""Plan of the fine-tuning half: every model, task and seed with and without PEMA, its rivals, and the timed runs."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from reprlab.config.load import LoadedConfig
from reprlab.papers.vocab_memory.names import FACTORISED, TRIMMED, label_of
from reprlab.papers.vocab_memory.plan_counting import NO_DATA, add_readable_task
from reprlab.papers.vocab_memory.schema import VocabMemorySettings
from reprlab.planning.finetuning_jobs import add_finetuning_job, add_trivial
from reprlab.planning.plan import Job, Plan
from reprlab.planning.shared_jobs import add_model, add_tokenizer
from reprlab.results.sources import Missing, Source
from reprlab.settings.base import derive
from reprlab.training.embedding_settings import EmbeddingWay, Factorised, PartialRows, TrimmedRows
from reprlab.training.finetuned_models import kept_name
from reprlab.training.finetuning_settings import FinetuneSettings, TaskSettings
from reprlab.training.settings import EngineSettings


@dataclass(frozen=True)
class Arm:
    """A way to treat the embedding: its name in keys of jobs, its value of the factor `pema`, its settings."""

    name: str
    shown: str
    way: EmbeddingWay | None = None


_VALIDATION = "validation"
_SETTING = "papers.vocab-memory"
_MEASURED = [
    "vocabulary",
    "used",
    "width",
    "parameters",
    "moments",
    "examples",
    "peak_bytes",
    "pema_seconds",
    "train_seconds",
]


def run_key(model: str, task: str, seed: int, arm: str) -> str:
    """Key of one run, model/task/cell: of fine-tuning, and of the timed run that is like it."""
    return f"vocab_memory_{model}/{task}/{arm}.s{seed}"


def _run_factors(model: str, seed: int, arm: Arm) -> dict[str, Any]:
    return {"model": label_of(model), "entry": model, "pema": arm.shown, "seed": seed}


class Finetuning:
    """The fine-tuning half at the config's scale."""

    def __init__(self, plan: Plan, config: LoadedConfig, paper: VocabMemorySettings) -> None:
        self.plan, self.config, self.paper = plan, config, paper
        self.whole = Arm("whole", "no")
        self.pema = Arm("pema", "yes", PartialRows(splits=list(paper.finetuning.partial_splits)))

    def arms(self, model: str) -> list[Arm]:
        """The whole matrix, PEMA, and of the models that have them the rivals of PEMA."""
        rivals = self.paper.neighbours
        if model not in rivals.models:
            return [self.whole, self.pema]
        trimmed = Arm(TRIMMED, TRIMMED, TrimmedRows(splits=list(rivals.trimmed.splits)))
        return [self.whole, self.pema, trimmed, Arm(FACTORISED, FACTORISED, Factorised(rank=rivals.factorised.rank))]

    def entries(self) -> Iterator[Source | Missing]:
        """Rows of Tables 9 and 10, in the paper's order; MNLI's mismatched part comes last."""
        finetuning, timed = self.paper.finetuning, self.paper.runtime_table
        data = {task: settings.dataset for task, settings in self.paper.tasks.items()}
        ran = [task for task, dataset in data.items() if dataset is not None and task in finetuning.tasks]
        divided = {task for task in ran if self.config.datasets.tasks[str(data[task])].role == "mnli"}
        for task in data:
            if task in ran:
                yield from self.scores(task, task, "matched" if task in divided else "")
            else:
                yield self.missing("table10_glue", task, "finetuning.tasks")
        for task in filter(divided.__contains__, ran):
            yield from self.scores(task, f"{task}_mm", "mismatched")
        for task, dataset in data.items():
            if timed.model is None or task not in timed.tasks or dataset is None:
                yield self.missing("table9_runtime", task, "runtime_table")
                continue
            for seed, arm in product(range(1, timed.repeats + 1), self.arms(timed.model)):
                yield self.add_timing(timed.model, task, seed, arm)

    def missing(self, table: str, task: str, setting: str) -> Missing:
        """A column of a task that has no row, and why."""
        reason = NO_DATA if self.paper.tasks[task].dataset is None else f"not run at this scale: {_SETTING}.{setting}"
        return Missing(factors={"table": table, "column": task}, reason=reason)

    def scores(self, task: str, column: str, subset: str) -> Iterator[Source]:
        """Baselines and runs of a column of Table 10: of a task, or of one part of it."""
        finetuning = self.paper.finetuning
        about: dict[str, Any] = {"table": "table10_glue", "column": column}
        where = {"metric": self.paper.tasks[task].metric, "split": _VALIDATION}
        where |= {"subset": subset} if subset else {}
        baselines = self.add_baselines(task)
        own: dict[str, Any] = {"where": where, "data": self.title(task)}
        shown: dict[str, Any] = {"keys": {"model": "name"}, "unjudged": "baselines"}
        yield Source(path=baselines["baselines"][0].path, factors=about, **shown, **own)
        for model in finetuning.models:
            for arm, seed in product(self.arms(model), finetuning.seeds):
                yield Source(
                    path=self.add_run(model, task, seed, arm),
                    factors=about | _run_factors(model, seed, arm),
                    **baselines,
                    **own,
                )

    def title(self, task: str) -> str:
        """True name of the data of a task."""
        return self.config.datasets.tasks[str(self.paper.tasks[task].dataset)].title

    def examples(self, task: str) -> str:
        """Plan the examples of a task; returns their path."""
        return add_readable_task(self.plan, self.config, str(self.paper.tasks[task].dataset))

    def add_baselines(self, task: str) -> dict[str, Any]:
        """Plan the most frequent label and a bag of words, on the examples that the models get."""
        finetuning, settings = self.paper.finetuning, self.paper.tasks[task]
        entry, key = self.config.datasets.tasks[str(settings.dataset)], f"vocab_memory_{settings.dataset}"
        limits: dict[str, Any] = {
            "train_limit": finetuning.train_examples,
            "eval_limit": finetuning.evaluation_examples,
        }
        return add_trivial(self.plan, entry, key, self.examples(task), metrics=[settings.metric], **limits)

    def add_run(self, model: str, task: str, seed: int, arm: Arm) -> Path:
        """Plan one run of Table 10; returns its scores."""
        folder, tokenizer = self.model(model, seed)
        recipe = self.recipe(model, task, seed, arm, self.paper.finetuning.steps)
        key, models = run_key(model, task, seed, arm.name), {f"s{seed}": folder}
        made = add_finetuning_job(self.plan, key, models, [folder], tokenizer, self.examples(task), recipe)
        if arm is self.pema and seed == self.paper.finetuning.seeds[0]:
            # Made when it is asked for: fine-tuning cuts the model by itself.
            inputs = {"model": folder, "tokenizer": tokenizer, "examples": self.examples(task)}
            cut = {"settings": recipe.model_copy(update={"keep": False})}
            self.plan.add("pema_adapt", f"vocab_memory_{model}/{task}", Job(inputs, cut))
        if arm is self.pema and recipe.keep:
            inputs = {"trained": made["out_metrics"], "original": folder, "tokenizer": tokenizer}
            kept = {"name": kept_name(f"s{seed}", recipe.learning_rates[0])}
            self.plan.add("pema_restore", key, Job(inputs, kept))
        return Path(made["out_metrics"])

    def add_timing(self, model: str, task: str, seed: int, arm: Arm) -> Source:
        """Plan one run of Table 9."""
        folder, tokenizer = self.model(model, seed)
        recipe = self.recipe(model, task, seed, arm, self.paper.runtime_table.steps or self.paper.finetuning.steps)
        inputs = {"model": folder, "tokenizer": tokenizer, "examples": self.examples(task)}
        made = self.plan.add(
            "measure_finetuning", run_key(model, task, seed, arm.name), Job(inputs, {"settings": recipe})
        )
        known = {"table": "table9_runtime", "column": task, **_run_factors(model, seed, arm)}
        own: dict[str, Any] = {"keys": {"device": "device"}, "wide": _MEASURED, "data": self.title(task)}
        return Source(path=Path(made["out"]), factors=known, **own)

    def model(self, model: str, seed: int) -> tuple[str, str]:
        """Plan a model and its tokenizer; returns their folders."""
        return add_model(self.plan, self.config, model, seed=seed), add_tokenizer(self.plan, self.config, model)

    def recipe(self, model: str, task: str, seed: int, arm: Arm, steps: int | None) -> FinetuneSettings:
        """The fine-tuning settings of one run; arms differ in nothing but what becomes of the embedding."""
        finetuning, settings = self.paper.finetuning, self.paper.tasks[task]
        entry = self.config.datasets.tasks[str(settings.dataset)]
        rate = finetuning.learning_rates.get(model, finetuning.optimizer.learning_rate)
        optimizer = finetuning.optimizer.model_copy(update={"learning_rate": rate})
        dtype = self.config.arithmetic(finetuning.dtype)
        return derive(
            FinetuneSettings,
            finetuning,
            task=derive(
                TaskSettings,
                finetuning,
                kind="regression" if entry.kind == "similarity" else "classification",
                labels=list(entry.labels),
                metrics=[settings.metric],
            ),
            # Where epochs decide the number of steps is not used.
            engine=derive(EngineSettings, finetuning, steps=steps or 1, optimizer=optimizer, dtype=dtype, seed=seed),
            learning_rates=[rate],
            epochs=None if steps else finetuning.epochs,
            splits=[_VALIDATION],
            train_limit=finetuning.train_examples,
            eval_limit=finetuning.evaluation_examples,
            embedding=arm.way,
            keep=self.config.workflow.keep_finetuned,
        )
