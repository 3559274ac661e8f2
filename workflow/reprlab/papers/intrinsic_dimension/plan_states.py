"""Prompts, adapters, states and estimates that the experiments need; shared ones are made once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal

from reprlab.config.load import LoadedConfig
from reprlab.geometry.settings import EstimatorSettings
from reprlab.papers.intrinsic_dimension.schema import (
    ComparisonSettings,
    IntrinsicDimensionSettings,
    PromptedDataset,
    SftDynamicsSettings,
)
from reprlab.planning.adapted_layers import check_adapted
from reprlab.planning.language_model_jobs import add_scratch_text
from reprlab.planning.plan import Job, Plan
from reprlab.planning.representation_jobs import add_adapter, add_dimension, add_prompts, add_states
from reprlab.planning.shared_jobs import add_model, add_task, add_tokenizer
from reprlab.representations.settings import AdapterSettings, CollectSettings, DimensionSettings, PromptSettings
from reprlab.representations.token_clouds import TokenClouds
from reprlab.settings.base import derive
from reprlab.training.settings import EngineSettings, ScheduleSettings

_FEW = 5
_TARGETS = "papers.intrinsic-dimension.finetuning.targets"

Split = Literal["train", "validation"]
Dtype = Literal["float32", "bfloat16"]


@dataclass
class Run:
    """A fine-tuning run of adapters; its ladder is what the experiments ask for."""

    model: str
    dataset: str
    steps: int
    warmup_steps: int
    prompts: str
    seed: int | None
    """Seed of the run; none means that of the main runs."""
    ladder: set[int] = field(default_factory=set)


@dataclass
class Collection:
    """States of a model on prompts; the experiments that share it add their steps and subsets."""

    model: str
    dataset: str
    prompts: str
    dtype: Dtype
    limit: int | None = None
    run: str | None = None
    """Key of the fine-tuning run whose adapters are collected."""
    k: int = 0
    split: Split = "validation"
    seed: int | None = None
    """Seed of demonstrations or adapter; none means that of the main run."""
    steps: set[int] = field(default_factory=set)
    subsets: set[int] = field(default_factory=set)
    experiments: list[str] = field(default_factory=list)


class StatesPlanner:
    """Gathers what the experiments need, by the keys of jobs, then plans each job once."""

    def __init__(self, plan: Plan, config: LoadedConfig, paper: IntrinsicDimensionSettings) -> None:
        self.plan, self.config, self.paper = plan, config, paper
        self.dtype = config.arithmetic(paper.collection.dtype)
        self.collections: dict[str, Collection] = {}
        self.runs: dict[str, Run] = {}
        self._gather()

    def _gather(self) -> None:
        paper, comparison, data = self.paper, self.paper.comparison, self.paper.data
        known = [name for name, one in data.datasets.items() if one.dataset]
        compared = list(product(comparison.models, known))
        for model, name in compared:
            for k in comparison.shots:
                self._shots("comparison", model, name, k)
            self._tuned("comparison", model, name, comparison, [comparison.steps])
        dynamics = paper.sft_dynamics
        for model, name, split in product(dynamics.models, known, ("train", "validation")):
            one = self._tuned("sft_dynamics", model, name, dynamics, [0, *dynamics.ladder], split)
            # Both are compared at the size of the smaller one.
            one.subsets.add(min(data.train_items, data.validation_items))
        many, unique = paper.icl_dynamics, paper.icl_unique
        for model, name, k in product(many.models, many.datasets, many.shots):
            self._shots("icl_dynamics", model, name, k)
        for model, (name, entry), k in product(unique.models, unique.datasets.items(), unique.shots):
            if entry.dataset:
                self._shots("icl_unique", model, name, k, unique=True)
        # The drawn model reads what the claims on demonstrations compare: none, and the most up to five.
        drawn = comparison.drawn
        for name, k in product(known, _ends(comparison.shots)):
            self._shots("drawn", drawn, name, k)
        for (name, entry), k in product(unique.datasets.items(), _ends(unique.shots)):
            if entry.dataset:
                self._shots("drawn_unique", drawn, name, k, unique=True)
        # The same prompts in the other arithmetic, beside as many of the main collection.
        size = paper.collection.precision_items
        for model, name in compared if size else ():
            self._shots("precision", model, name, 0).subsets.add(size)
            self._shots("precision", model, name, 0, limit=size)
        again = paper.replication
        for seed, model, name in product(
            [None, *again.seeds] if again.seeds else (), comparison.models, again.datasets
        ):
            for k in again.shots:
                self._shots("replication", model, name, k, seed=seed)
            self._tuned("replication", model, name, comparison, [comparison.steps], seed=seed)

    def _shots(
        self,
        experiment: str,
        model: str,
        name: str,
        k: int,
        *,
        unique: bool = False,
        limit: int | None = None,
        seed: int | None = None,
    ) -> Collection:
        """Note a pass over prompts with k demonstrations; a limited one is in the other arithmetic."""
        known, dtype = self.paper.data.datasets, self.dtype
        entry = self.paper.icl_unique.datasets[name] if unique else known[name]
        # Without demonstrations nothing can be shared; but the control may rest on other data.
        unique = unique and (k > 0 or entry != known.get(name))
        cell = f"icl_{'unique_' if unique else ''}{k}{_suffix(seed)}"
        if limit is not None:
            dtype = "float32" if dtype == "bfloat16" else "bfloat16"
            cell = f"{cell}_{dtype}"
        prompts = self._prompts(name, entry, "validation", k, unique, seed)
        return self._read_by(experiment, cell, Collection(model, name, prompts, dtype, limit, k=k, seed=seed))

    def _tuned(
        self,
        experiment: str,
        model: str,
        name: str,
        wanted: ComparisonSettings | SftDynamicsSettings,
        ladder: list[int],
        split: Any = "validation",
        seed: int | None = None,
    ) -> Collection:
        """Note a fine-tuning run, and passes with the adapters of its ladder over prompts without demonstrations."""
        entry, cell = self.paper.data.datasets[name], f"sft_{wanted.steps}{_suffix(seed)}"
        key = f"{model}/{_folder(name)}/{cell}"
        prompts = self._prompts(name, entry, "train", 0)
        run = self.runs.setdefault(key, Run(model, name, wanted.steps, wanted.warmup_steps, prompts, seed))
        run.ladder.update(ladder)
        prompts = self._prompts(name, entry, split, 0)
        collection = Collection(model, name, prompts, self.dtype, run=key, split=split, seed=seed)
        collection = self._read_by(experiment, f"{cell}_{split}", collection)
        collection.steps.update(ladder)
        return collection

    def _read_by(self, experiment: str, cell: str, one: Collection) -> Collection:
        found = self.collections.setdefault(f"{one.model}/{_folder(one.dataset)}/{cell}", one)
        if experiment not in found.experiments:
            found.experiments.append(experiment)
        return found

    def _prompts(
        self, name: str, entry: PromptedDataset, split: Split, k: int, unique: bool = False, seed: int | None = None
    ) -> str:
        data = self.paper.data
        settings = derive(
            PromptSettings,
            entry,
            data,
            split=split,
            train_items=self.paper.icl_unique.pool if unique else data.train_items,
            demonstrations=k,
            unique=unique,
            seed=data.demonstration_seed if seed is None else seed,
        )
        examples = add_task(self.plan, self.config, str(entry.dataset))
        cell = f"{'unique_' if unique else ''}{split}_{k}{_suffix(seed)}"
        return add_prompts(self.plan, f"{_folder(name)}/{cell}", examples, settings)

    def add_baselines(self, one: Collection) -> str:
        """Plan what needs no model on the items of a collection, without demonstrations; returns the scores."""
        entry = self.paper.data.datasets.get(one.dataset) or self.paper.icl_unique.datasets[one.dataset]
        asked, training = (self._prompts(one.dataset, entry, split, 0) for split in (one.split, "train"))
        key = f"{_folder(one.dataset)}/{one.split}"
        return self.plan.add("score_prompt_baselines", key, Job({"training": training, "prompts": asked}))["out"]

    def add_jobs(self) -> None:
        """Plan adapters, collections and estimates."""
        ladders = {}
        for key, run in self.runs.items():
            check_adapted(self.config, run.model, self.paper.finetuning.targets, _TARGETS)
            ladders[key] = add_adapter(self.plan, key, *self._model(run.model), run.prompts, self.recipe(run))
        for key, one in self.collections.items():
            passes = derive(
                CollectSettings, self.paper.collection, dtype=one.dtype, limit=one.limit, steps=sorted(one.steps)
            )
            adapters = ladders[one.run] if one.run else ""
            add_states(self.plan, key, *self._model(one.model), one.prompts, passes, adapters)
            add_dimension(self.plan, key, self._estimates(one))

    def token_clouds(self, model: str, name: str) -> str:
        """Plan the clouds of the tokens of single prompts of a data set; returns their table."""
        wanted, entry = self.paper.neighbours.token_geometry, self.paper.data.datasets[name]
        estimator = self.paper.estimation.estimators[wanted.estimator]
        settings = derive(
            TokenClouds,
            wanted,
            estimator=derive(
                EstimatorSettings, estimator, name=wanted.estimator, duplicates=self.paper.estimation.duplicates
            ),
            dtype=self.dtype,
        )
        folder, tokenizer = self._model(model)
        prompts = self._prompts(name, entry, "validation", wanted.shots)
        inputs = {"model": folder, "tokenizer": tokenizer, "prompts": prompts}
        key = f"{model}/{_folder(name)}/icl_{wanted.shots}"
        return self.plan.add("measure_token_clouds", key, Job(inputs, {"settings": settings}))["out"]

    def recipe(self, run: Run) -> AdapterSettings:
        """How adapters are trained."""
        wanted = self.paper.finetuning
        engine = derive(
            EngineSettings,
            wanted,
            steps=run.steps,
            ladder=sorted(run.ladder),
            schedule=ScheduleSettings(name=wanted.schedule, warmup_steps=run.warmup_steps),
            dtype=self.config.arithmetic(wanted.dtype),
            seed=wanted.seed if run.seed is None else run.seed,
        )
        return derive(AdapterSettings, wanted, engine=engine)

    def _estimates(self, one: Collection) -> DimensionSettings:
        """Every estimator on a collection, and some on its halves as well."""
        wanted = self.paper.estimation
        # The float32 sample is beside a subset of the same size, which has no halves either; beside other seeds
        # the spread over seeds is what counts.
        halves = wanted.halves if one.limit is None and one.seed is None else 0
        return DimensionSettings(
            estimators=[
                derive(EstimatorSettings, recipe, name=name, duplicates=wanted.duplicates)
                for name, recipe in wanted.estimators.items()
            ],
            subsets=sorted(one.subsets),
            draws=halves,
            draw_estimators=wanted.halved,
            seed=wanted.seed,
        )

    def _model(self, model: str) -> tuple[str, str]:
        """Folders of a model and its tokenizer, which a pretrained one brings along."""
        seed, scratch = self.config.workflow.seed, self.paper.data.scratch
        if self.config.models[model].origin.kind != "scratch":
            folder = add_model(self.plan, self.config, model, seed=seed)
            return folder, folder
        if lent := self.config.models[model].origin.tokenizer:
            own_tokenizer = add_tokenizer(self.plan, self.config, lent)
            return add_model(self.plan, self.config, model, seed=seed), own_tokenizer
        name = "intrinsic_dimension"
        own = {"setting": "papers.intrinsic-dimension.data.scratch", "passages": name}
        own["tokenizer"] = f"{name}_{scratch.corpus}"
        _, tokenizer = add_scratch_text(self.plan, self.config, scratch, model, **own)
        return add_model(self.plan, self.config, model, seed=seed, tokenizer=tokenizer), tokenizer


def _ends(shots: Sequence[int]) -> list[int]:
    """No demonstration, and the largest number of them up to five."""
    few = [k for k in shots if 0 < k <= _FEW]
    return [0, *few[-1:]]


def _suffix(seed: int | None) -> str:
    """End of the name of what was made with another seed than the main one."""
    return "" if seed is None else f"_seed{seed}"


def _folder(name: str) -> str:
    # Other papers may ask the same data otherwise: the prompts are this paper's.
    return f"id_{name}"
