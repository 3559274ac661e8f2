"""Jobs of one decoder of L3Prune: losses by layer, encoders of each depth, their scores with and without training."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.models.pooling import Pooling
from reprlab.models.sizes import layers_of
from reprlab.papers.overparameterized_encoders.results import CHOSEN, COSTS, PARTS, TRIPLES
from reprlab.planning import paths
from reprlab.planning.adapted_layers import adapted_layers
from reprlab.planning.encoder_jobs import (
    TextBaselines,
    add_encoder,
    add_triples,
    check_positions,
    embedding_task,
)
from reprlab.planning.plan import Plan
from reprlab.planning.shared_jobs import add_task
from reprlab.planning.warm_starts import Recipe, Start, add_start
from reprlab.results.sources import Source
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.block_pruning import PruningSettings
from reprlab.sentences.depths import kept_layers
from reprlab.sentences.settings import (
    MAIN_METRICS,
    ContrastiveTraining,
    EncoderSettings,
    Evaluation,
    LayerLosses,
    LowRank,
    Matryoshka2D,
    TextForm,
    TripleSample,
    TripleTexts,
    Whitening,
)
from reprlab.settings.base import derive
from reprlab.training.settings import EngineSettings, OptimizerSettings, ScheduleSettings

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.papers.overparameterized_encoders.schema import OverparameterizedEncodersSettings

SLUG = "overparameterized-encoders"
NAME = "l3prune"


@dataclass(frozen=True)
class Reading:
    """How texts become vectors: the paper's way, or a neighbour's."""

    pooling: Pooling
    """What is pooled of the states."""
    part_size: int
    """Texts of a forward pass of the training."""
    name: str = ""
    """What is before the depth in names of jobs; empty: the paper's."""
    echo: str | None = None
    """See `TextForm`."""
    both_ends: bool = False
    """See `EncoderSettings`."""
    whitening: Whitening | None = None
    """See `Evaluation`."""
    pruning: Mapping[str, Any] | None = None
    """Settings of `PruningSettings` but for layers and arithmetic, by which layers are removed; None: the last ones."""
    objective: Matryoshka2D | None = None
    """What is added to the loss of one training for all depths; None: each depth has its own."""


class Backbone:
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
            name=NAME,
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
        self.plain = Reading(pooling=paper.pooling, part_size=paper.training.part_size)
        self.about = {"model": name}
        self.data = "; ".join(titles)

    def curve(self) -> Source:
        """The losses of all layers without training."""
        settings = derive(
            LayerLosses,
            self.paper.sample,
            self.paper.training,
            encoder=self._encoder("none", None, self.plain),
            dtype=self.dtype,
        )
        job = self.start.job({"triples": self.tokens("train")}, {"settings": settings})
        return Source(
            path=Path(self.plan.add("measure_layers", f"{self.name}/{NAME}", job)["out"]),
            factors={**self.about, "part": "layers"},
            keys={"layer": "layer", "batch": "batch", "batch_size": "triples", "temperature": "temperature"},
            wide=["loss"],
            data=self.data,
        )

    def at(self, depth: str) -> list[Source]:
        """Jobs of one depth: the training, its cost, and scores with and without it."""
        trained = self.trained(depth, self.plain)
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
            scored = {**about, "part": "scores", "training": training}
            path = Path(self.evaluated(depth, training, trained if training == PARTS[0] else {}, self.plain))
            found.append(
                Source(
                    path=path,
                    factors={**scored, "dataset": TRIPLES},
                    keys={"seed": "seed", "layers": "layers"},
                    where={"dataset": TRIPLES, "metric": "contrastive_loss"},
                    data=self.data,
                )
            )
            found += self.scores(path, scored)
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

    def _form(self, echo: str | None = None) -> TextForm:
        return derive(TextForm, self.backbone, max_length=self.paper.max_length, stripped=True, echo=echo)

    def tokens(self, split: Any, echo: str | None = None) -> str:
        """The triples of a split as the decoder reads them."""
        texts = self.texts.model_copy(update={"split": split, "form": self._form(echo)})
        return add_triples(self.plan, self.start.tokenizer, self.triples, texts)

    def _encoder(self, method: Any, depth: str | None, reading: Reading) -> EncoderSettings:
        given = self.paper.training.adapter
        targets = adapted_layers(
            self.config, self.backbone.model, given.targets, f"papers.{SLUG}.training.adapter.targets"
        )
        adapter = derive(LowRank, given, self.backbone, targets=targets)
        made = EncoderSettings(
            method=method,
            pooling=reading.pooling,
            layers=None if depth is None or reading.pruning is not None else self._layers(depth),
            adapter=adapter if method == "lora" else None,
            form=self._form(reading.echo),
            both_ends=reading.both_ends,
        )
        return check_positions(self.config, self.backbone.model, made, f"papers.{SLUG}.max_length")

    def _chosen(self, depth: str) -> dict[str, str | list[str]]:
        return {"depths": paths.output("measure_layers", "out", f"{self.name}/{NAME}")} if depth in CHOSEN else {}

    def _start(self, depth: str, reading: Reading) -> tuple[Start, dict[str, str | list[str]]]:
        """The decoder that an encoder of a depth is made of, and what says how many of its layers are kept."""
        if reading.pruning is None:
            return self.start, self._chosen(depth)
        settings = PruningSettings(**reading.pruning, layers=self._layers(depth), dtype=self.dtype)
        inputs = {"tokenizer": self.start.tokenizer, "triples": self.tokens("train"), **self._chosen(depth)}
        job = self.start.job(inputs, {"settings": settings})
        folder = self.plan.add("prune_block", f"{self.name}/{NAME}_{reading.name}{depth}", job)["out"]
        return Start(folder, folder, self.start.tokenizer), {}

    def trained(self, depth: str, reading: Reading) -> dict[str, str]:
        """Plan the training of a depth, with all its seeds; returns its outputs by name."""
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
            encoder=self._encoder("lora", depth, reading),
            engine=engine,
            part_size=reading.part_size,
            learning_rates=[backbone.learning_rate],
            objective=reading.objective,
            # Nothing is held out as published: the last update counts.
            evaluate_every=backbone.steps,
        )
        tokens, (start, chosen) = self.tokens("train", reading.echo), self._start(depth, reading)
        inputs = {"tokenizer": start.tokenizer, "triples": tokens, **chosen}
        return add_encoder(self.plan, f"{self.name}/{NAME}_{reading.name}{depth}", start, inputs, settings)

    def evaluated(self, depth: str, training: str, trained: dict[str, str], reading: Reading) -> str:
        """Plan the scores of a depth, trained or, where `trained` is empty, not; returns their table."""
        paper, plain = self.paper, reading == self.plain
        tasks = [embedding_task(self.config, name, task) for name, task in self.tasks.items()]
        settings = derive(
            Evaluation,
            paper.training,
            paper.evaluation,
            encoder=self._encoder("lora" if trained else "none", depth, reading),
            tasks=tasks,
            sample=derive(
                TripleSample,
                paper.sample,
                paper.training,
                batches=paper.evaluation.loss_batches,
                split=paper.evaluation.loss_split,
            )
            if plain
            else None,
            whitening=reading.whitening,
            dtype=self.dtype,
        )
        inputs: dict[str, str | list[str]] = {
            "tokenizer": self.start.tokenizer,
            "tasks": [add_task(self.plan, self.config, task.dataset) for task in self.tasks.values()],
        }
        if plain:
            inputs["triples"] = self.tokens(paper.evaluation.loss_split)
        if reading.whitening is not None and reading.whitening.fit_on == "train":
            inputs["fitting"] = self.tokens("train")
        start, chosen = self._start(depth, reading)
        if trained:
            inputs |= {"encoders": trained["out"], "training": trained["metrics"]}
        if not trained or reading.objective is not None:
            inputs |= chosen
        job = start.job(inputs, {"settings": settings})
        key = f"{self.name}/{NAME}_{reading.name}{depth}_{training}"
        return self.plan.add("evaluate_encoder", key, job)["out"]

    def scores(self, path: Path, about: dict[str, Any]) -> list[Source]:
        """Each task; what is trained must beat what is not, and what knows nothing."""
        keys, found = {"seed": "seed", "layers": "layers"}, []
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
