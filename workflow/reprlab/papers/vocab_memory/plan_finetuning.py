"""Plan of the fine-tuning half: every model, task and seed with and without PEMA, and the timed runs."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from reprlab.config.settings import derive
from reprlab.evaluation.settings import BaselineSettings
from reprlab.papers import paths
from reprlab.papers.plan import Job, Plan
from reprlab.papers.shared_jobs import add_model
from reprlab.papers.vocab_memory.layouts import Arm, Timing, seed_name
from reprlab.papers.vocab_memory.plan_counting import add_readable_task
from reprlab.papers.vocabulary_jobs import add_tokenizer
from reprlab.runtime.machine import resolve_dtype
from reprlab.training.finetuning_settings import FinetuneSettings, TaskSettings
from reprlab.training.settings import EngineSettings

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.vocab_memory import VocabMemorySettings

ARMS = {True: "pema", False: "whole"}
_VALIDATION = "validation"


@dataclass
class Finetuned:
    """The runs and their baselines."""

    arms: list[Arm] = field(default_factory=list)
    """Runs of Table 10."""
    timings: list[Timing] = field(default_factory=list)
    """Runs of Table 9."""
    baselines: dict[str, Path] = field(default_factory=dict)
    """Task: scores of its trivial baselines."""


def add_finetuning(plan: Plan, config: "LoadedConfig", paper: "VocabMemorySettings") -> Finetuned:
    """Plan baselines, fine-tuning and timed runs of every task that has data."""
    planner, found = _Planner(plan, config, paper), Finetuned()
    for task in paper.finetuning.tasks:
        if paper.tasks[task].dataset is None:
            continue
        found.baselines[task] = planner.add_baselines(task)
        found.arms += [
            planner.add_arm(model, task, pema) for model in paper.finetuning.models for pema in (False, True)
        ]
    timed = paper.runtime_table
    for task in timed.tasks if timed.model else []:
        if paper.tasks[task].dataset is not None:
            found.timings += [
                planner.add_timing(str(timed.model), task, seed, pema)
                for seed in range(1, timed.repeats + 1)
                for pema in (True, False)
            ]
    return found


def run_key(model: str, task: str, seed: int, pema: bool) -> str:
    """Key of one run, model/task/cell: of fine-tuning, and of the timed run that is like it."""
    return f"vocab_memory_{model}/{task}/{ARMS[pema]}.s{seed}"


def resolved(config: "LoadedConfig", paper: "VocabMemorySettings") -> Literal["float32", "bfloat16"]:
    """The arithmetic of fine-tuning, where `auto` is what it stands for."""
    wanted = paper.finetuning.dtype
    return resolve_dtype(config.numerics.dtype if wanted == "auto" else wanted, config.runtime.device)


class _Planner:
    def __init__(self, plan: Plan, config: "LoadedConfig", paper: "VocabMemorySettings") -> None:
        self.plan, self.config, self.paper = plan, config, paper
        self.dtype = resolved(config, paper)

    def examples(self, task: str) -> str:
        """Plan the examples of a task."""
        return add_readable_task(self.plan, self.config, str(self.paper.tasks[task].dataset))

    def add_baselines(self, task: str) -> Path:
        """Plan the most frequent label and a bag of words, on the examples that the models get."""
        finetuning, settings = self.paper.finetuning, self.paper.tasks[task]
        key = f"vocab_memory_{settings.dataset}"
        scored = BaselineSettings(
            metrics=[settings.metric],
            train_limit=finetuning.train_examples,
            eval_limit=finetuning.evaluation_examples,
        )
        examples = self.examples(task)
        self.plan.add("evaluate_baselines", key, Job(inputs={"examples": examples}, settings={"settings": scored}))
        return Path(paths.baselines(key))

    def add_arm(self, model: str, task: str, pema: bool) -> Arm:
        """Plan the runs of a model on a task, one for each seed, and the table of their scores."""
        seeds, metrics = self.paper.finetuning.seeds, []
        for seed in seeds:
            folder = add_model(self.plan, self.config, model, seed=seed)
            key = run_key(model, task, seed, pema)
            metrics.append(f"{paths.finetuned(key)}/metrics.tsv")
            self.plan.add(
                "finetune_model",
                key,
                Job(
                    inputs={
                        "after": [folder],
                        "tokenizer": add_tokenizer(self.plan, self.config, model),
                        "examples": self.examples(task),
                    },
                    settings={
                        "settings": self.recipe(model, task, seed, pema, self.paper.finetuning.steps),
                        "models": [folder],
                        "names": [seed_name(seed)],
                    },
                ),
            )
        collected = f"vocab_memory_{model}/{task}/{ARMS[pema]}"
        self.plan.add(
            "select_learning_rate", collected, Job(inputs={"metrics": metrics}, settings={"split": _VALIDATION})
        )
        path = Path(f"{paths.finetuned(collected)}.metrics.tsv")
        return Arm(model=model, task=task, pema=pema, seeds=list(seeds), metrics=path)

    def add_timing(self, model: str, task: str, seed: int, pema: bool) -> Timing:
        """Plan one run of Table 9."""
        key = run_key(model, task, seed, pema)
        steps = self.paper.runtime_table.steps or self.paper.finetuning.steps
        self.plan.add(
            "measure_finetuning",
            key,
            Job(
                inputs={
                    "model": add_model(self.plan, self.config, model, seed=seed),
                    "tokenizer": add_tokenizer(self.plan, self.config, model),
                    "examples": self.examples(task),
                },
                settings={"settings": self.recipe(model, task, seed, pema, steps)},
            ),
        )
        return Timing(
            model=model, task=task, seed=seed, pema=pema, measured=Path(paths.output("measure_finetuning", "out", key))
        )

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
