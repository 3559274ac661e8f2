"""DEPTH's fine-tuning: every checkpoint that the settings name, on every task that has data."""

from dataclasses import dataclass

from reprlab.config.load import LoadedConfig
from reprlab.papers.depth.plan_runs import RunPlanner
from reprlab.papers.depth.plan_text import add_passages
from reprlab.papers.depth.schema import DepthSettings, FinetuningTask
from reprlab.planning import paths
from reprlab.planning.finetuning_jobs import add_finetuning_job, add_selection, add_trivial
from reprlab.planning.plan import Plan
from reprlab.planning.shared_jobs import add_task
from reprlab.settings.base import derive
from reprlab.training.finetuning_settings import FinetuneSettings, TaskSettings
from reprlab.training.settings import EngineSettings, OptimizerSettings, ScheduleSettings


@dataclass(frozen=True)
class Candidate:
    """Checkpoints that are fine-tuned together: of a pre-training run, or a single reference model."""

    name: str
    objective: str
    init: str
    seed: int
    folders: dict[int, str]
    """Their folders by step."""
    source: str
    """Inputs of their job: the folder of the ladder or of the model."""

    @property
    def checkpoints(self) -> dict[str, str]:
        """Their folders by the names that they have in results."""
        return {f"{self.name}.{paths.checkpoint_name(step)}": folder for step, folder in self.folders.items()}

    @property
    def label(self) -> str:
        """The model in tables."""
        return {"untrained": "untrained", "public": "t5-base"}.get(self.init, self.objective)


@dataclass(frozen=True)
class Finetuned:
    """Checkpoints fine-tuned on one task, and where the files are."""

    model: Candidate
    task: str
    seed: int
    metrics: str
    """Scores of all jobs in one table."""
    predictions: list[str]
    """Answers of the last checkpoint, one file for each job."""
    selection: str

    @property
    def trained(self) -> bool:
        """Whether they were pre-trained."""
        return self.model.init != "untrained"


def report_split(paper: DepthSettings, task: FinetuningTask) -> str:
    """The split whose scores are reported."""
    return task.report_split or paper.finetuning.report_split


def add_finetuning(plan: Plan, config: LoadedConfig, pretrained: RunPlanner) -> list[Finetuned]:
    """Plan tasks, baselines, fine-tuning and the choice of learning rates."""
    planner, wanted = _Planner(plan, config, pretrained), pretrained.paper.finetuning
    found = []
    for task, settings in wanted.tasks.items():
        if settings.dataset is not None and settings.table in wanted.tables:
            planner.add_examples(settings, settings.dataset)
            for seed in wanted.seeds:
                for group in planner.groups(seed):
                    found += planner.add_group(task, settings, group, seed)
    return found


class _Planner:
    def __init__(self, plan: Plan, config: LoadedConfig, pretrained: RunPlanner) -> None:
        self.plan, self.config, self.pretrained, self.paper = plan, config, pretrained, pretrained.paper

    def add_examples(self, settings: FinetuningTask, dataset: str) -> None:
        """Plan the task's examples and its baselines."""
        finetuning, entry = self.paper.finetuning, self.config.datasets.tasks[dataset]
        passages = {corpus: add_passages(self.plan, self.config, self.paper, corpus) for corpus in entry.documents}
        examples = add_task(self.plan, self.config, dataset, passages)
        add_trivial(
            self.plan,
            entry,
            dataset,
            examples,
            metrics=[settings.metric],
            splits=self.splits(settings),
            train_limit=finetuning.train_examples,
            eval_limit=finetuning.evaluation_examples,
            resamples=self.paper.statistics.bootstrap,
        )

    def splits(self, settings: FinetuningTask) -> list[str]:
        """The splits that are scored: to choose by, and to report."""
        return list(dict.fromkeys([self.paper.finetuning.select_split, report_split(self.paper, settings)]))

    def groups(self, seed: int) -> list[list[Candidate]]:
        """Candidates by job: each for itself, or all that read one format together."""
        candidates = [*self.of_runs(), *self.reference_models(seed)]
        if self.paper.finetuning.jobs != "task":
            return [[candidate] for candidate in candidates]
        formats = dict.fromkeys(candidate.objective for candidate in candidates)
        return [[one for one in candidates if one.objective == objective] for objective in formats]

    def of_runs(self) -> list[Candidate]:
        """The checkpoints of the main runs that the settings choose."""
        found = []
        for run in self.pretrained.runs:
            ladder = run.settings.engine.ladder
            chosen = {"all": ladder, "first_and_last": sorted({ladder[0], ladder[-1]}), "last": ladder[-1:]}
            steps = chosen[self.paper.finetuning.checkpoints]
            folders = {step: paths.checkpoint(run.name, step) for step in steps}
            source = paths.pretrained(run.name)
            found.append(Candidate(run.name, run.settings.objective, run.init, run.seed, folders, source))
        return found

    def reference_models(self, seed: int) -> list[Candidate]:
        """Random and published weights, in T5's format: rows to compare with."""
        wanted, pretraining = self.paper.finetuning.baselines, self.paper.pretraining
        found = []
        for drawn, folder in self.pretrained.models.items() if wanted.untrained else ():
            found.append(Candidate(f"depth_untrained_s{drawn}", "t5", "untrained", drawn, {0: folder}, folder))
        if wanted.published:
            folder = self.pretrained.initial(pretraining.published_weights, seed)
            folders = {pretraining.published_steps: folder}
            found.append(Candidate(f"depth_public_s{seed}", "t5", "public", seed, folders, folder))
        return found

    def add_group(self, task: str, settings: FinetuningTask, group: list[Candidate], seed: int) -> list[Finetuned]:
        """Plan the jobs of a group on one task, and the choice of their learning rates."""
        finetuning, objective = self.paper.finetuning, group[0].objective
        models = {name: folder for candidate in group for name, folder in candidate.checkpoints.items()}
        rates = settings.learning_rates or finetuning.learning_rates
        if finetuning.jobs == "checkpoint":
            cells = {f"{name}.lr{rate:g}.s{seed}": ([name], [rate]) for name in models for rate in rates}
        else:
            # One process for all cells: below paper scale a process start costs as much as a cell.
            cells = {f"all.s{seed}": (list(models), list(rates))}
        recipe = self.recipe(settings, objective == "depth", seed)
        key = f"{group[0].name if len(group) == 1 else f'depth_{objective}_all'}/{task}"
        jobs = [
            add_finetuning_job(
                self.plan,
                f"{key}/{cell}",
                {name: models[name] for name in names},
                [candidate.source for candidate in group],
                self.pretrained.text.tokenizer,
                paths.examples(str(settings.dataset)),
                recipe.model_copy(update={"learning_rates": chosen}),
            )
            for cell, (names, chosen) in cells.items()
        ]
        metrics = [job["out_metrics"] for job in jobs]
        selected = add_selection(self.plan, f"{key}/s{seed}", metrics, finetuning.select_split)
        found = []
        for candidate in group:
            last = list(candidate.checkpoints)[-1]
            made = [job for job, (names, _) in zip(jobs, cells.values(), strict=True) if last in names]
            answers = [job["out_predictions"] for job in made]
            found.append(Finetuned(candidate, task, seed, selected["collected"], answers, selected["out"]))
        return found

    def recipe(self, settings: FinetuningTask, depth_format: bool, seed: int) -> FinetuneSettings:
        """The fine-tuning settings of a task."""
        finetuning = self.paper.finetuning
        labels = list(self.config.datasets.tasks[str(settings.dataset)].labels)
        scored = {"labels": labels, "metrics": [settings.metric]}
        if finetuning.has_head(settings):
            task = derive(TaskSettings, settings, kind="classification", **scored)
        else:
            task = derive(
                TaskSettings,
                settings,
                kind="text_to_text",
                field_order=finetuning.mnli_field_order if settings.template == "mnli" else "right",
                label_words=list(settings.labels),
                depth_format=depth_format,
                mask_padding=self.paper.attention.mask_padding or not depth_format,
                **scored,
            )
        return derive(
            FinetuneSettings,
            finetuning,
            task=task,
            engine=EngineSettings(
                # Where epochs are given they decide, and this number is not used.
                steps=settings.steps or 1,
                batch_size=settings.batch_size,
                optimizer=derive(OptimizerSettings, finetuning.optimizer, learning_rate=finetuning.learning_rates[0]),
                schedule=ScheduleSettings(name=settings.schedule, warmup_steps=settings.warmup_steps),
                dtype=self.config.arithmetic(self.paper.pretraining.dtype),
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
