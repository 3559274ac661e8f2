"""The sources: models as they are, fine-tuned on a task, or trained on coreference; and their states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.coreference.settings import AggregationSettings, CoreferenceTraining
from reprlab.planning.finetuning_jobs import add_finetuning_job, add_trivial
from reprlab.planning.language_model_jobs import add_sentences
from reprlab.planning.plan import Job, Plan
from reprlab.planning.shared_jobs import add_model, add_task
from reprlab.results.sources import Source
from reprlab.settings.base import derive
from reprlab.training.finetuned_models import kept_name
from reprlab.training.finetuning_settings import FinetuneSettings, TaskSettings
from reprlab.training.settings import EngineSettings, OptimizerSettings, ScheduleSettings

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.papers.reverse_probing.schema import Recipe, ReverseProbingSettings, SourceTask

SLUG, NAME = "reverse-probing", "reverse_probing"


@dataclass(frozen=True)
class Encoder:
    """A frozen source: the folder of its model, and what a rule depends on."""

    folder: str
    made_in: str


class Sources:
    """Jobs up to the states of the sources."""

    def __init__(self, plan: Plan, config: LoadedConfig, paper: ReverseProbingSettings) -> None:
        self.plan, self.config, self.paper = plan, config, paper
        self.title = config.datasets.tasks[paper.dataset].title
        self.key = f"{paper.dataset}/{NAME}"
        self.examples = self._examples(paper.dataset)
        # All sources have one vocabulary: it is that of the model that is trained on coreference.
        self.coreference = next(name for name, one in paper.sources.items() if one.tuned == "coreference")
        # Its embeddings below the first layer are static vectors: all sources are compared with them.
        start = paper.sources[self.coreference].model
        plain = (name for name, one in paper.sources.items() if one.tuned == "no" and one.model == start)
        self.static = next(plain, self.coreference)
        self.tokenizer = self._model(self.coreference)
        built = Job({"examples": self.examples, "tokenizer": self.tokenizer}, {"settings": paper.segments})
        self.documents = plan.add("build_coreference", self.key, built)["out"]
        ruled = {"settings": paper.segments, "resamples": paper.resamples}
        self.rules = plan.add("link_names", self.key, Job({"examples": self.examples}, ruled))["out"]
        self._encoders: dict[str, Encoder] = {}
        self._states: dict[str, str] = {}
        self.task_scores: list[Source] = []

    def encoder(self, name: str) -> Encoder:
        """The frozen encoder of a source."""
        if name not in self._encoders:
            tuned = self.paper.sources[name].tuned
            if tuned == "coreference":
                found = Encoder(f"{self.trained['out']}/seed-{self.paper.encoder_seeds[0]}", self.trained["out"])
            elif tuned == "task":
                found = self._tuned(name)
            else:
                found = Encoder(self._model(name), self._model(name))
            self._encoders[name] = found
        return self._encoders[name]

    @cached_property
    def trained(self) -> dict[str, str]:
        """The training of an encoder with a coreference head of its own: the published upper bound."""
        settings = self.training(
            self.paper.encoder,
            layers=[max(self.paper.layers)],
            aggregation=AggregationSettings(aggregation="mean"),
            seeds=self.paper.encoder_seeds,
            train_encoder=True,
        )
        inputs = {"documents": self.documents, "encoder": self._model(self.coreference), "tokenizer": self.tokenizer}
        return self.plan.add(
            "train_coreference", f"{NAME}_{self.coreference}/{self.key}", Job(inputs, {"settings": settings})
        )

    def training(self, recipe: Recipe, **own: Any) -> CoreferenceTraining:
        """Settings of a training with a coreference head."""
        paper = self.paper
        engine = EngineSettings(
            # The steps follow from the passes, the seed is that of each run.
            steps=1,
            batch_size=1,
            optimizer=derive(OptimizerSettings, recipe.optimizer, learning_rate=recipe.learning_rate),
            schedule=ScheduleSettings(name="linear"),
        )
        return derive(CoreferenceTraining, recipe, paper, engine=engine, head=paper.head, **own)

    def states(self, name: str) -> str:
        """The stored states of a source: of all layers that any cell reads."""
        if name not in self._states:
            paper, encoder = self.paper, self.encoder(name)
            joined = max((_joined(cell) for cell in paper.cells.single), default=1)
            last = max(paper.layers)
            below = [0] if name == self.static else []
            layers = sorted({*below, *paper.layers, *range(last - joined + 1, last + 1)})
            job = Job(
                {"after": [encoder.made_in], "documents": self.documents, "tokenizer": self.tokenizer},
                {"encoder": encoder.folder, "layers": layers},
            )
            self._states[name] = self.plan.add("embed_documents", f"{NAME}_{name}/{self.key}", job)["out"]
        return self._states[name]

    def _model(self, name: str) -> str:
        return add_model(self.plan, self.config, self.paper.sources[name].model, seed=self.paper.task_seed)

    def _tuned(self, name: str) -> Encoder:
        paper, task = self.paper, self.paper.tasks[name]
        examples, start = self._examples(task.dataset), self._model(name)
        settings = self._finetuning(task)
        key, model = f"{NAME}_{name}/{task.dataset}/s{paper.task_seed}", {name: start}
        made = add_finetuning_job(self.plan, key, model, [start], self.tokenizer, examples, settings)
        folder = str(Path(made["out_metrics"]).parent / "models" / kept_name(name, task.learning_rate))
        self.task_scores.append(
            Source(
                path=Path(made["out_metrics"]),
                factors={"part": "tasks", "combo": name},
                where={"metric": task.metric},
                data=self.config.datasets.tasks[task.dataset].title,
                **self._baselines(task, examples),
            )
        )
        return Encoder(folder, made["out_metrics"])

    def _finetuning(self, task: SourceTask) -> FinetuneSettings:
        paper = self.paper
        engine = EngineSettings(
            steps=1,
            batch_size=task.batch_size,
            accumulation=task.accumulation,
            optimizer=derive(OptimizerSettings, paper.task_optimizer, learning_rate=task.learning_rate),
            schedule=ScheduleSettings(name=task.schedule, warmup_steps=task.warmup_steps),
            seed=paper.task_seed,
        )
        return FinetuneSettings(
            task=TaskSettings(kind=task.kind, metrics=[task.metric], input_length=task.length),
            engine=engine,
            learning_rates=[task.learning_rate],
            epochs=task.epochs,
            group_by_length=True,
            dropout=paper.task_dropout,
            train_limit=task.examples,
            eval_limit=task.scored,
            resamples=paper.resamples,
            keep=True,
        )

    def _baselines(self, task: SourceTask, examples: str) -> dict[str, Any]:
        entry = self.config.datasets.tasks[task.dataset]
        limits: dict[str, Any] = {"train_limit": task.examples, "eval_limit": task.scored}
        return add_trivial(self.plan, entry, f"{NAME}_{task.dataset}", examples, metrics=[task.metric], **limits)

    def _examples(self, dataset: str) -> str:
        """Plan a data set, with the passages of the corpora that it is built from."""
        wanted = self.config.datasets.tasks[dataset].documents
        passages = {}
        if wanted and dataset in self.paper.texts:
            text = self.paper.texts[dataset]
            passages = {
                text.corpus: add_sentences(self.plan, self.config, text.corpus, f"{NAME}_{dataset}", text.segmentation)
            }
        return add_task(self.plan, self.config, dataset, passages)


def _joined(cell: str) -> int:
    from reprlab.papers.reverse_probing.schema import split_cell

    return split_cell(cell)[2]
