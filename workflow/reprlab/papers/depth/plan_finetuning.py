"""DEPTH's fine-tuning: every checkpoint that the settings name, on every task that has data."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reprlab.config.settings import derive
from reprlab.evaluation.settings import BaselineSettings
from reprlab.papers import paths
from reprlab.papers.depth.names import Ladder
from reprlab.papers.depth.plan_pretraining import Pretrained
from reprlab.papers.depth.plan_text import add_sentences
from reprlab.papers.plan import Job, Plan
from reprlab.papers.shared_jobs import add_model, add_task
from reprlab.runtime.machine import resolve_dtype
from reprlab.training.finetuning_settings import FinetuneSettings, TaskSettings
from reprlab.training.settings import EngineSettings, OptimizerSettings, ScheduleSettings

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.depth import DepthSettings, FinetuningTask


@dataclass(frozen=True)
class Finetuned:
    """One model fine-tuned on one task: where its files are and which checkpoints they hold."""

    ladder: Ladder
    task: str
    seed: int
    steps: list[int]
    names: list[str]
    metrics: str
    """Scores of all its jobs in one table."""
    predictions: list[str]
    """Answers of its last checkpoint, one file for each job."""
    selection: str
    trained: bool = True


@dataclass(frozen=True)
class Candidate:
    """Checkpoints that are fine-tuned together: a ladder's, or a single reference model."""

    ladder: Ladder
    steps: list[int]
    folders: list[str]
    source: str
    """What their job depends on: the folder of the ladder or of the model."""
    trained: bool = True


def add_finetuning(
    plan: Plan, config: "LoadedConfig", paper: "DepthSettings", pretrained: Pretrained
) -> list[Finetuned]:
    """Plan tasks, baselines, fine-tuning and the choice of learning rates."""
    planner = _Planner(plan, config, paper, pretrained)
    found = []
    for task, settings in paper.finetuning.tasks.items():
        if settings.dataset is None or settings.table not in paper.finetuning.tables:
            continue
        planner.add_examples(task, settings)
        for seed in paper.finetuning.seeds:
            for group in planner.groups(seed):
                found += planner.add_group(task, settings, group, seed)
    return found


class _Planner:
    def __init__(self, plan: Plan, config: "LoadedConfig", paper: "DepthSettings", pretrained: Pretrained) -> None:
        self.plan, self.config, self.paper, self.pretrained = plan, config, paper, pretrained
        self.dtype = resolve_dtype(
            config.numerics.dtype if paper.pretraining.dtype == "auto" else paper.pretraining.dtype,
            config.runtime.device,
        )

    def add_examples(self, task: str, settings: "FinetuningTask") -> None:
        """Plan the task's examples and its baselines."""
        assert settings.dataset is not None
        finetuning = self.paper.finetuning
        entry = self.config.datasets.tasks[settings.dataset]
        sentences = {corpus: add_sentences(self.plan, self.config, self.paper, corpus) for corpus in entry.documents}
        add_task(self.plan, self.config, settings.dataset, sentences)
        free_text = settings.metric == "rouge_l"
        # Free text has no labels to classify; an answer that copies the input is its trivial rival.
        baselines: list[Any] = [name for name in finetuning.baselines.trivial if not (free_text and name == "tfidf")]
        self.plan.add(
            "evaluate_baselines",
            settings.dataset,
            Job(
                inputs={"examples": paths.examples(settings.dataset)},
                settings={
                    "settings": BaselineSettings(
                        metrics=[settings.metric],
                        baselines=[*baselines, "copy"] if free_text else baselines,
                        splits=self.splits(settings),
                        train_limit=finetuning.train_examples,
                        eval_limit=finetuning.evaluation_examples,
                        resamples=self.paper.statistics.bootstrap,
                    )
                },
            ),
        )

    def splits(self, settings: "FinetuningTask") -> list[str]:
        """The splits that are scored: to choose by, and to report."""
        finetuning = self.paper.finetuning
        return list(dict.fromkeys([finetuning.select_split, settings.report_split or finetuning.report_split]))

    def groups(self, seed: int) -> list[list[Candidate]]:
        """Candidates by job: each for itself, or all that read one format together."""
        candidates = [*map(self.of_ladder, self.pretrained.ladders), *self.reference_models(seed)]
        if self.paper.finetuning.jobs != "task":
            return [[candidate] for candidate in candidates]
        formats = dict.fromkeys(candidate.ladder.objective for candidate in candidates)
        return [[one for one in candidates if one.ladder.objective == objective] for objective in formats]

    def of_ladder(self, ladder: Ladder) -> Candidate:
        """The checkpoints of a ladder that the settings choose."""
        steps = {
            "all": ladder.steps,
            "first_and_last": sorted({ladder.steps[0], ladder.steps[-1]}),
            "last": ladder.steps[-1:],
        }[self.paper.finetuning.checkpoints]
        folders = [paths.checkpoint(ladder.name, step) for step in steps]
        return Candidate(ladder, steps, folders, paths.pretrained(ladder.name))

    def reference_models(self, seed: int) -> list[Candidate]:
        """Random and published weights, in T5's format: rows to compare with."""
        wanted, pretraining = self.paper.finetuning.baselines, self.paper.pretraining
        found = []
        if wanted.untrained:
            for model_seed, folder in self.pretrained.random_models.items():
                ladder = Ladder(f"depth_untrained_s{model_seed}", "t5", "untrained", model_seed, [0])
                found.append(Candidate(ladder, [0], [folder], folder, trained=False))
        if wanted.published:
            folder = add_model(
                self.plan, self.config, pretraining.published_weights, seed=seed, dropout=pretraining.dropout
            )
            ladder = Ladder(f"depth_public_s{seed}", "t5", "public", seed, [pretraining.published_steps])
            found.append(Candidate(ladder, ladder.steps, [folder], folder))
        return found

    def add_group(self, task: str, settings: "FinetuningTask", group: list[Candidate], seed: int) -> list[Finetuned]:
        """Plan the jobs of a group on one task, and the choice of their learning rates."""
        model = group[0].ladder.name if len(group) == 1 else f"depth_{group[0].ladder.objective}_all"
        folders = {
            f"{candidate.ladder.name}.{paths.checkpoint_name(step)}": folder
            for candidate in group
            for step, folder in zip(candidate.steps, candidate.folders, strict=True)
        }
        rates = settings.learning_rates or self.paper.finetuning.learning_rates
        recipe = self.recipe(task, settings, group[0].ladder.objective == "depth", seed)
        if self.paper.finetuning.jobs == "checkpoint":
            cells = {f"{name}.lr{rate:g}.s{seed}": ([name], [rate]) for name in folders for rate in rates}
        else:
            # One process for all cells: below paper scale a process start costs as much as a cell.
            cells = {f"all.s{seed}": (list(folders), list(rates))}
        sources = [candidate.source for candidate in group]
        by_name: dict[str, list[str]] = {name: [] for name in folders}
        for cell, (names, cell_rates) in cells.items():
            key = f"{model}/{task}/{cell}"
            self.plan.add(
                "finetune_model",
                key,
                Job(
                    inputs={
                        "after": sources,
                        "tokenizer": self.pretrained.text.tokenizer,
                        "examples": paths.examples(str(settings.dataset)),
                    },
                    settings={
                        "settings": recipe.model_copy(update={"learning_rates": cell_rates}),
                        "models": [folders[name] for name in names],
                        "names": names,
                    },
                ),
            )
            for name in names:
                by_name[name].append(paths.finetuned(key))
        selection = f"{model}/{task}/s{seed}"
        jobs = list(dict.fromkeys(folder for found in by_name.values() for folder in found))
        self.plan.add(
            "select_learning_rate",
            selection,
            Job(
                inputs={"metrics": [f"{folder}/metrics.tsv" for folder in jobs]},
                settings={"split": self.paper.finetuning.select_split},
            ),
        )
        return [
            Finetuned(
                ladder=candidate.ladder,
                task=task,
                seed=seed,
                steps=candidate.steps,
                names=(names := [f"{candidate.ladder.name}.{paths.checkpoint_name(step)}" for step in candidate.steps]),
                metrics=f"{paths.finetuned(selection)}.metrics.tsv",
                predictions=[f"{folder}/predictions.parquet" for folder in by_name[names[-1]]],
                selection=f"{paths.finetuned(selection)}.selected.json",
                trained=candidate.trained,
            )
            for candidate in group
        ]

    def recipe(self, task: str, settings: "FinetuningTask", depth_format: bool, seed: int) -> FinetuneSettings:
        """The fine-tuning settings of a task."""
        finetuning = self.paper.finetuning
        entry = self.config.datasets.tasks[str(settings.dataset)]
        return derive(
            FinetuneSettings,
            finetuning,
            task=derive(
                TaskSettings,
                settings,
                kind="text_to_text",
                field_order=finetuning.mnli_field_order if settings.template == "mnli" else "right",
                labels=list(entry.labels),
                label_words=list(settings.labels),
                metrics=[settings.metric],
                depth_format=depth_format,
                mask_padding=self.paper.attention.mask_padding or not depth_format,
            ),
            engine=EngineSettings(
                # Where epochs are given they decide, and this number is not used.
                steps=settings.steps or 1,
                batch_size=settings.batch_size,
                optimizer=derive(OptimizerSettings, finetuning.optimizer, learning_rate=finetuning.learning_rates[0]),
                schedule=ScheduleSettings(name=settings.schedule, warmup_steps=settings.warmup_steps),
                dtype=self.dtype,
                seed=seed,
            ),
            epochs=settings.epochs,
            splits=self.splits(settings),
            train_limit=finetuning.train_examples,
            train_limit_per_task=settings.instances_per_task,
            eval_limit=finetuning.evaluation_examples,
            resamples=self.paper.statistics.bootstrap,
            keep=self.config.workflow.keep_finetuned,
        )
