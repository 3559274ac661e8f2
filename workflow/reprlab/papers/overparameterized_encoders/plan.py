"""Plan of L3Prune: losses by layer, encoders of each depth, their scores beside those without training."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.baselines.vectors import LEXICAL
from reprlab.models.sizes import layers_of
from reprlab.papers.overparameterized_encoders.printed_hours import with_hours
from reprlab.papers.overparameterized_encoders.results import CHOSEN, COSTS, PARTS, RESULTS, TRIPLES
from reprlab.planning import paths
from reprlab.planning.adapted_layers import adapted_layers
from reprlab.planning.cost_jobs import add_cost
from reprlab.planning.encoder_jobs import (
    TextBaselines,
    add_encoder,
    add_published,
    add_triples,
    check_positions,
    embedding_task,
)
from reprlab.planning.plan import Plan
from reprlab.planning.result_jobs import add_results
from reprlab.planning.shared_jobs import add_task
from reprlab.planning.warm_starts import Recipe, add_start
from reprlab.results.sources import Source
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.depths import kept_layers
from reprlab.sentences.settings import (
    MAIN_METRICS,
    ContrastiveTraining,
    EncoderSettings,
    Evaluation,
    LayerLosses,
    LowRank,
    TextForm,
    TripleSample,
    TripleTexts,
)
from reprlab.settings.base import derive
from reprlab.training.settings import EngineSettings, OptimizerSettings, ScheduleSettings

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.papers.overparameterized_encoders.schema import OverparameterizedEncodersSettings

SLUG = "overparameterized-encoders"
_NAME = "l3prune"


def add_jobs(plan: Plan, config: "LoadedConfig") -> None:
    """Plan all of the paper at the config's scale."""
    paper = config.papers[SLUG]
    entries: list[Source] = []
    scored = {name: paper.evaluation.tasks[name] for name in paper.evaluation.scored}
    own = {"seeds": paper.training.seeds[:1]}
    baselines = TextBaselines(plan, config, _NAME, scored, paper.training, paper.evaluation, **own)
    for name in paper.compared:
        jobs = _Backbone(plan, config, paper, name, baselines)
        entries.append(jobs.curve())
        for depth in paper.backbones[name].depths:
            entries += jobs.at(depth)
    entries += [source for name in paper.beside for source in _published(plan, config, paper, name)]
    entries += baselines.shown({"model": LEXICAL, "part": "published"}, {"seed": "seed", "layers": "layers"})
    options = {"tasks": len(paper.evaluation.scored)}
    add_results(plan, SLUG, RESULTS, entries, root=config.root, scale=config.scale, options=options)
    add_cost(plan, config, SLUG, lambda run: with_hours(config.root, run))


def _published(
    plan: Plan, config: "LoadedConfig", paper: "OverparameterizedEncodersSettings", name: str
) -> list[Source]:
    """An encoder of others: its score on each task, and its parameters."""
    tasks = {one: paper.evaluation.tasks[one] for one in paper.evaluation.scored}
    groups, key = (paper.training, paper.evaluation), f"{name}/{_NAME}_published"
    own = {"setting": f"papers.{SLUG}.published.{name}", "dtype": config.arithmetic(paper.dtype)}
    out = add_published(plan, config, key, paper.published[name], tasks, *groups, **own)
    fixed: dict[str, Any] = {"path": Path(out), "keys": {"seed": "seed", "layers": "layers"}}
    about: dict[str, Any] = {"model": name, "part": "published"}
    found = [
        Source(
            factors={**about, "dataset": one, "category": task.category},
            where={"dataset": one, "metric": MAIN_METRICS[task.category]},
            data=config.datasets.tasks[task.dataset].title,
            unjudged="a published encoder, as it is",
            **fixed,
        )
        for one, task in tasks.items()
    ]
    return [*found, Source(factors=about, where={"dataset": next(iter(tasks))}, wide=["parameters"], **fixed)]


class _Backbone:
    """Jobs of one decoder, and the files that hold their results."""

    def __init__(
        self,
        plan: Plan,
        config: "LoadedConfig",
        paper: "OverparameterizedEncodersSettings",
        name: str,
        baselines: TextBaselines,
    ) -> None:
        self.plan, self.config, self.paper, self.name = plan, config, paper, name
        self.baselines = baselines
        self.backbone, self.dtype = paper.backbones[name], config.arithmetic(paper.dtype)
        recipe = Recipe(
            warm=paper.warm_start,
            setting=f"papers.{SLUG}.warm_start",
            name=_NAME,
            optimizer=paper.training.optimizer,
            schedule="linear",
            tokenizer={"sentinels": 1, "sentence_tokens": 1},
        )
        self.start = add_start(plan, config, self.backbone.model, recipe)
        self.tasks = {name: paper.evaluation.tasks[name] for name in paper.evaluation.scored}
        self.triples = [add_task(plan, config, dataset) for dataset in paper.triples]
        titles = [config.datasets.tasks[dataset].title for dataset in paper.triples]
        self.texts = derive(
            TripleTexts, paper.training, form=self._form(), instructions=self._instructions(), split="train"
        )
        self.about = {"model": name}
        self.data = "; ".join(titles)

    def curve(self) -> Source:
        """The losses of all layers without training."""
        settings = derive(
            LayerLosses,
            self.paper.sample,
            self.paper.training,
            encoder=self._encoder("none", None),
            dtype=self.dtype,
        )
        job = self.start.job({"triples": self._tokens("train")}, {"settings": settings})
        return Source(
            path=Path(self.plan.add("measure_layers", f"{self.name}/{_NAME}", job)["out"]),
            factors={**self.about, "part": "layers"},
            keys={"layer": "layer", "batch": "batch", "batch_size": "triples", "temperature": "temperature"},
            wide=["loss"],
            data=self.data,
        )

    def at(self, depth: str) -> list[Source]:
        """Jobs of one depth: the training, its cost, and scores with and without it."""
        trained = self._trained(depth)
        about = {**self.about, "depth": depth}
        of_runs: dict[str, Any] = {"keys": {"seed": "seed"}, "data": self.data}
        found = [
            Source(
                path=Path(trained["metrics"]),
                factors={**about, "part": "training", "training": PARTS[0]},
                keys={"seed": "seed", "step": "step", "rate": "rate"},
                where={"chosen": 1},
                wide=["loss"],
                data=self.data,
            ),
            Source(
                path=Path(trained["cost"]),
                factors={**about, "part": "cost", "training": PARTS[0]},
                wide=list(COSTS),
                **of_runs,
            ),
        ]
        for training in PARTS:
            path = Path(self._evaluated(depth, training, trained if training == PARTS[0] else {}))
            found += self._scores(path, {**about, "part": "scores", "training": training})
        return found

    def _layers(self, depth: str) -> Any:
        """Layers that are kept: a number, or what the losses choose."""
        if depth in CHOSEN:
            return depth
        if depth == "one":
            return 1
        entry = self.config.models[self.backbone.model]
        return kept_layers(layers_of(entry), int(depth[1:]))

    def _instructions(self) -> dict[str, list[str]]:
        for name in self.paper.instructions:
            if name not in self.config.datasets.tasks:
                raise ReprlabError(
                    f"papers.{SLUG}.instructions.{name}: config/datasets.yaml has no such data set under tasks; its "
                    "triples would have no instruction"
                )
        return {name: self.paper.instructions[name] for name in self.paper.triples if name in self.paper.instructions}

    def _form(self) -> TextForm:
        return derive(TextForm, self.backbone, max_length=self.paper.max_length, stripped=True)

    def _tokens(self, split: Any) -> str:
        """The triples of a split as the decoder reads them."""
        return add_triples(
            self.plan, self.start.tokenizer, self.triples, self.texts.model_copy(update={"split": split})
        )

    def _encoder(self, method: Any, depth: str | None) -> EncoderSettings:
        given = self.paper.training.adapter
        targets = adapted_layers(
            self.config, self.backbone.model, given.targets, f"papers.{SLUG}.training.adapter.targets"
        )
        adapter = derive(LowRank, given, self.backbone, targets=targets)
        made = EncoderSettings(
            method=method,
            pooling=self.paper.pooling,
            layers=None if depth is None else self._layers(depth),
            adapter=adapter if method == "lora" else None,
            form=self._form(),
        )
        return check_positions(self.config, self.backbone.model, made, f"papers.{SLUG}.max_length")

    def _chosen(self, depth: str) -> dict[str, str | list[str]]:
        return {"depths": paths.output("measure_layers", "out", f"{self.name}/{_NAME}")} if depth in CHOSEN else {}

    def _trained(self, depth: str) -> dict[str, str]:
        recipe, backbone = self.paper.training, self.backbone
        engine = derive(
            EngineSettings,
            recipe,
            backbone,
            optimizer=derive(OptimizerSettings, recipe.optimizer, backbone),
            schedule=ScheduleSettings(name=recipe.schedule, warmup_steps=backbone.warmup_steps),
            dtype=self.dtype,
        )
        settings = derive(
            ContrastiveTraining,
            recipe,
            encoder=self._encoder("lora", depth),
            engine=engine,
            learning_rates=[backbone.learning_rate],
            # Nothing is held out as published: the last update counts.
            evaluate_every=backbone.steps,
        )
        inputs = {"tokenizer": self.start.tokenizer, "triples": self._tokens("train"), **self._chosen(depth)}
        return add_encoder(self.plan, f"{self.name}/{_NAME}_{depth}", self.start, inputs, settings)

    def _evaluated(self, depth: str, training: str, trained: dict[str, str]) -> str:
        paper = self.paper
        tasks = [embedding_task(self.config, name, task) for name, task in self.tasks.items()]
        settings = derive(
            Evaluation,
            paper.training,
            paper.evaluation,
            encoder=self._encoder("lora" if trained else "none", depth),
            tasks=tasks,
            sample=derive(
                TripleSample,
                paper.sample,
                paper.training,
                batches=paper.evaluation.loss_batches,
                split=paper.evaluation.loss_split,
            ),
            dtype=self.dtype,
        )
        inputs: dict[str, str | list[str]] = {
            "tokenizer": self.start.tokenizer,
            "triples": self._tokens(paper.evaluation.loss_split),
            "tasks": [add_task(self.plan, self.config, task.dataset) for task in self.tasks.values()],
        }
        inputs |= {"encoders": trained["out"], "training": trained["metrics"]} if trained else self._chosen(depth)
        job = self.start.job(inputs, {"settings": settings})
        return self.plan.add("evaluate_encoder", f"{self.name}/{_NAME}_{depth}_{training}", job)["out"]

    def _scores(self, path: Path, about: dict[str, Any]) -> list[Source]:
        """Each task, and the loss of the triples; what is trained must beat what is not, and what knows nothing."""
        keys = {"seed": "seed", "layers": "layers"}
        found = [
            Source(
                path=path,
                factors={**about, "dataset": TRIPLES},
                keys=keys,
                where={"dataset": TRIPLES, "metric": "contrastive_loss"},
                data=self.data,
            )
        ]
        for name, task in self.tasks.items():
            trained = about["training"] == PARTS[0]
            found.append(
                Source(
                    path=path,
                    factors={**about, "dataset": name, "category": task.category},
                    keys=keys,
                    where={"dataset": name, "metric": MAIN_METRICS[task.category]},
                    data=self.config.datasets.tasks[task.dataset].title,
                    **(
                        self.baselines.of(name)
                        if trained
                        else {"unjudged": "not trained: trained rows are judged against it"}
                    ),
                    untrained={**about, "dataset": name, "training": PARTS[1]} if trained else {},
                )
            )
        return found
