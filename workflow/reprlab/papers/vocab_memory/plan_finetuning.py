"""Plan of the fine-tuning half: every model, task and seed with and without PEMA, and the timed runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from reprlab.config.settings import derive
from reprlab.evaluation.settings import BaselineSettings
from reprlab.papers.plan import Job, Plan
from reprlab.papers.shared_jobs import add_model
from reprlab.papers.vocab_memory.names import label_of
from reprlab.papers.vocab_memory.plan_counting import NO_DATA, add_readable_task
from reprlab.papers.vocabulary_jobs import add_tokenizer
from reprlab.results.sources import Baseline, Missing, Source
from reprlab.runtime.machine import resolve_dtype
from reprlab.training.finetuning_settings import FinetuneSettings, TaskSettings
from reprlab.training.settings import EngineSettings

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.vocab_memory import VocabMemorySettings

ARMS = {True: "pema", False: "whole"}
_VALIDATION = "validation"
_SETTING = "papers.vocab-memory"
_COUNTED = ["vocabulary", "used", "width", "moments", "examples", "peak_bytes"]
_MEASURED = [*_COUNTED, "pema_seconds", "train_seconds"]


def run_key(model: str, task: str, seed: int, pema: bool) -> str:
    """Key of one run, model/task/cell: of fine-tuning, and of the timed run that is like it."""
    return f"vocab_memory_{model}/{task}/{ARMS[pema]}.s{seed}"


def resolved(config: "LoadedConfig", paper: "VocabMemorySettings") -> Literal["float32", "bfloat16"]:
    """The arithmetic of fine-tuning, where `auto` is what it stands for."""
    wanted = paper.finetuning.dtype
    return resolve_dtype(config.numerics.dtype if wanted == "auto" else wanted, config.runtime.device)


class Finetuning:
    """The fine-tuning half at the config's scale."""

    def __init__(self, plan: Plan, config: "LoadedConfig", paper: "VocabMemorySettings") -> None:
        self.plan, self.config, self.paper = plan, config, paper
        self.dtype = resolved(config, paper)

    def entries(self) -> Iterator[Source | Missing]:
        """Rows of Tables 9 and 10, in the paper's order; MNLI's mismatched part comes last."""
        yield from self.scores("matched")
        yield from self.scores("mismatched")
        timed = self.paper.runtime_table
        for task, settings in self.paper.tasks.items():
            known = timed.model is not None and task in timed.tasks
            if not known or settings.dataset is None:
                about: dict[str, str | int | float] = {"table": "table9_runtime", "column": task}
                yield Missing(factors=about, reason=self.reason(task, "runtime_table"))
                continue
            for seed in range(1, timed.repeats + 1):
                yield from (self.add_timing(str(timed.model), task, seed, pema) for pema in (True, False))

    def reason(self, task: str, part: str) -> str:
        """Why a task has no row."""
        return NO_DATA if self.paper.tasks[task].dataset is None else f"not run at this scale: {_SETTING}.{part}"

    def scores(self, part: str) -> Iterator[Source | Missing]:
        """Baselines and runs of Table 10: of every task, on MNLI's `part`, or of that part alone."""
        finetuning = self.paper.finetuning
        ran = [task for task in finetuning.tasks if self.paper.tasks[task].dataset is not None]
        for task, settings in self.paper.tasks.items():
            column = task if part == "matched" else f"{task}_mm"
            divided = task in ran and self.config.datasets.tasks[str(settings.dataset)].role == "mnli"
            about: dict[str, Any] = {"table": "table10_glue", "column": column}
            if task not in ran and part == "matched":
                yield Missing(factors=about, reason=self.reason(task, "finetuning.tasks"))
            if task not in ran or (part == "mismatched" and not divided):
                continue
            where: dict[str, Any] = {
                "metric": settings.metric,
                "split": _VALIDATION,
                **({"subset": part} if divided else {}),
            }
            baselines, title = self.add_baselines(task), self.title(task)
            own: dict[str, Any] = {"where": where, "data": title}
            yield Source(path=baselines, factors=about, keys={"model": "name"}, **own)
            for model in finetuning.models:
                for pema in (False, True):
                    for seed in finetuning.seeds:
                        known = about | {"model": label_of(model), "entry": model, "pema": "yes" if pema else "no"}
                        yield Source(
                            path=self.add_run(model, task, seed, pema),
                            factors=known | {"seed": seed},
                            baselines=[Baseline(name="majority", path=baselines, where={"name": "majority"})],
                            **own,
                        )

    def title(self, task: str) -> str:
        """True name of the data of a task."""
        return self.config.datasets.tasks[str(self.paper.tasks[task].dataset)].title

    def inputs(self, model: str, task: str) -> dict[str, str | list[str]]:
        """What both arms and the timed runs read beside the model."""
        examples = add_readable_task(self.plan, self.config, str(self.paper.tasks[task].dataset))
        return {"tokenizer": add_tokenizer(self.plan, self.config, model), "examples": examples}

    def add_baselines(self, task: str) -> Path:
        """Plan the most frequent label and a bag of words, on the examples that the models get."""
        finetuning, settings = self.paper.finetuning, self.paper.tasks[task]
        scored = BaselineSettings(
            metrics=[settings.metric],
            train_limit=finetuning.train_examples,
            eval_limit=finetuning.evaluation_examples,
        )
        examples = add_readable_task(self.plan, self.config, str(settings.dataset))
        job = Job(inputs={"examples": examples}, settings={"settings": scored})
        return Path(self.plan.add("evaluate_baselines", f"vocab_memory_{settings.dataset}", job)["out"])

    def add_run(self, model: str, task: str, seed: int, pema: bool) -> Path:
        """Plan one run of Table 10; returns its scores."""
        folder = add_model(self.plan, self.config, model, seed=seed)
        settings = {
            "settings": self.recipe(model, task, seed, pema, self.paper.finetuning.steps),
            "models": [folder],
            "names": [f"s{seed}"],
        }
        job = Job(inputs={"after": [folder], **self.inputs(model, task)}, settings=settings)
        return Path(self.plan.add("finetune_model", run_key(model, task, seed, pema), job)["out_metrics"])

    def add_timing(self, model: str, task: str, seed: int, pema: bool) -> Source:
        """Plan one run of Table 9."""
        steps = self.paper.runtime_table.steps or self.paper.finetuning.steps
        job = Job(
            inputs={"model": add_model(self.plan, self.config, model, seed=seed), **self.inputs(model, task)},
            settings={"settings": self.recipe(model, task, seed, pema, steps)},
        )
        path = Path(self.plan.add("measure_finetuning", run_key(model, task, seed, pema), job)["out"])
        about: dict[str, Any] = {"table": "table9_runtime", "column": task, "model": label_of(model), "entry": model}
        known = about | {"pema": "yes" if pema else "no", "seed": seed}
        return Source(path=path, factors=known, keys={"device": "device"}, wide=_MEASURED, data=self.title(task))

    def recipe(self, model: str, task: str, seed: int, pema: bool, steps: int | None) -> FinetuneSettings:
        """The fine-tuning settings of one run; both arms differ in nothing but the rows that are trained."""
        finetuning, settings = self.paper.finetuning, self.paper.tasks[task]
        entry = self.config.datasets.tasks[str(settings.dataset)]
        rate = finetuning.learning_rates.get(model, finetuning.optimizer.learning_rate)
        optimizer = finetuning.optimizer.model_copy(update={"learning_rate": rate})
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
            engine=derive(
                EngineSettings, finetuning, steps=steps or 1, optimizer=optimizer, dtype=self.dtype, seed=seed
            ),
            learning_rates=[rate],
            epochs=None if steps else finetuning.epochs,
            splits=[_VALIDATION],
            train_limit=finetuning.train_examples,
            eval_limit=finetuning.evaluation_examples,
            partial_embedding=list(finetuning.partial_splits) if pema else [],
            keep=self.config.workflow.keep_finetuned,
        )
