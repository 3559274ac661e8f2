"""Which prompts, adapters, states and estimates the experiments need; what several need is made once."""

from typing import TYPE_CHECKING

from reprlab.papers.intrinsic_dimension.plan_models import add_model_and_tokenizer
from reprlab.papers.intrinsic_dimension.plan_needs import Collection, Dtype, Experiment, Run, RunKey, Split, suffix
from reprlab.papers.intrinsic_dimension.plan_settings import (
    adapter_settings,
    collect_settings,
    dimension_settings,
    prompt_settings,
)
from reprlab.papers.plan import Plan
from reprlab.papers.representation_jobs import add_adapter, add_dimension, add_prompts, add_states
from reprlab.papers.shared_jobs import add_task
from reprlab.runtime.machine import resolve_dtype

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.intrinsic_dimension import IntrinsicDimensionSettings, PromptedDataset


class StatesPlanner:
    """Gathers what the experiments need, then plans each job once."""

    def __init__(self, plan: Plan, config: "LoadedConfig", paper: "IntrinsicDimensionSettings") -> None:
        self.plan, self.config, self.paper = plan, config, paper
        self.dtype = self.resolved(paper.collection.dtype)
        self.collections: dict[str, Collection] = {}
        self.runs: dict[RunKey, Run] = {}

    def gather(self) -> None:
        """Note what all experiments need; `finish` plans it."""
        self.add_comparison()
        self.add_sft_dynamics()
        self.add_icl_dynamics()
        self.add_icl_unique()
        self.add_precision()
        self.add_replication()

    def add_comparison(self) -> None:
        """Shots and fine-tuning, all models on all data sets."""
        wanted = self.paper.comparison
        for model in wanted.models:
            for name, entry in self._available():
                for k in wanted.shots:
                    self._icl("comparison", model, name, entry, k)
                self._sft("comparison", model, name, entry, wanted.steps, wanted.warmup_steps, [wanted.steps])

    def add_sft_dynamics(self) -> None:
        """A ladder of adapters on training and validation prompts; the smaller set gives the size for comparison."""
        wanted, data = self.paper.sft_dynamics, self.paper.data
        equal = min(data.train_items, data.validation_items)
        for model in wanted.models:
            for name, entry in self._available():
                for split in ("train", "validation"):
                    self._sft(
                        "sft_dynamics",
                        model,
                        name,
                        entry,
                        wanted.steps,
                        wanted.warmup_steps,
                        [0, *wanted.ladder],
                        split,
                        equal,
                    )

    def add_icl_dynamics(self) -> None:
        """Many numbers of demonstrations."""
        wanted = self.paper.icl_dynamics
        for model in wanted.models:
            for name in wanted.datasets:
                for k in wanted.shots:
                    self._icl("icl_dynamics", model, name, self.paper.data.datasets[name], k)

    def add_icl_unique(self) -> None:
        """The same with demonstrations that stand in one prompt only."""
        wanted = self.paper.icl_unique
        for model in wanted.models:
            for name, entry in wanted.datasets.items():
                for k in wanted.shots if entry.dataset else ():
                    self._icl("icl_unique", model, name, entry, k, unique=True)

    def add_precision(self) -> None:
        """Zero-shot prompts in the other arithmetic, float32 or bfloat16, beside the same ones of the collection."""
        size = self.paper.collection.precision_items
        if not size:
            return
        other: Dtype = "float32" if self.dtype == "bfloat16" else "bfloat16"
        for model in self.paper.comparison.models:
            for name, entry in self._available():
                prompts = self._prompts(name, entry, "validation", 0)
                passes: tuple[tuple[Dtype, str, int | None], ...] = (
                    (self.dtype, "icl_0", None),
                    (other, f"icl_0_{other}", size),
                )
                for dtype, cell, limit in passes:
                    key = self._collect(model, name, cell, prompts, dtype, limit)
                    self.collections[key].subsets.update([size] if limit is None else [])
                    self.collections[key].read_by("precision")

    def add_replication(self) -> None:
        """Shots and fine-tuning with the seeds of the main run and with others."""
        wanted, comparison = self.paper.replication, self.paper.comparison
        for seed in [None, *wanted.seeds] if wanted.seeds else ():
            for model in comparison.models:
                for name in wanted.datasets:
                    entry = self.paper.data.datasets[name]
                    for k in wanted.shots:
                        self._icl("replication", model, name, entry, k, seed=seed)
                    steps, warmup_steps = comparison.steps, comparison.warmup_steps
                    self._sft("replication", model, name, entry, steps, warmup_steps, [steps], seed=seed)

    def finish(self) -> None:
        """Plan adapters, collections and estimates."""
        ladders = {key: self._add_run(key, run) for key, run in self.runs.items()}
        for key, one in self.collections.items():
            folder, tokenizer = add_model_and_tokenizer(self.plan, self.config, self.paper, one.model)
            settings = collect_settings(self.paper, one)
            adapters = ladders[RunKey(one.model, one.dataset, one.run, one.seed)] if one.run is not None else ""
            add_states(self.plan, key, folder, tokenizer, one.prompts, settings, adapters)
            add_dimension(self.plan, key, dimension_settings(self.paper, one))

    def _available(self) -> list[tuple[str, "PromptedDataset"]]:
        return [(name, entry) for name, entry in self.paper.data.datasets.items() if entry.dataset]

    def _icl(
        self,
        experiment: Experiment,
        model: str,
        name: str,
        entry: "PromptedDataset",
        k: int,
        unique: bool = False,
        seed: int | None = None,
    ) -> None:
        # Without demonstrations nothing can be shared; but the control may rest on other data.
        unique = unique and (k > 0 or entry != self.paper.data.datasets.get(name))
        prefix = "icl_unique" if unique else "icl"
        prompts = self._prompts(name, entry, "validation", k, unique, seed)
        key = self._collect(model, name, f"{prefix}_{k}{suffix(seed)}", prompts, self.dtype)
        self.collections[key].k = k
        self.collections[key].seed = seed
        self.collections[key].read_by(experiment)

    def _sft(
        self,
        experiment: Experiment,
        model: str,
        name: str,
        entry: "PromptedDataset",
        steps: int,
        warmup_steps: int,
        ladder: list[int],
        split: Split = "validation",
        subset: int = 0,
        seed: int | None = None,
    ) -> None:
        run_key = RunKey(model, name, steps, seed)
        run = self.runs.setdefault(run_key, Run(warmup_steps, self._prompts(name, entry, "train", 0)))
        run.ladder.update(ladder)
        prompts = self._prompts(name, entry, split, 0)
        key = self._collect(model, name, f"{run_key.cell}_{split}", prompts, self.dtype, run=steps)
        collection = self.collections[key]
        collection.steps.update(ladder)
        collection.subsets.update([subset] if subset else [])
        collection.split = split
        collection.seed = seed
        collection.read_by(experiment)
        if experiment in ("comparison", "replication"):
            collection.compared = steps

    def _collect(
        self,
        model: str,
        name: str,
        cell: str,
        prompts: str,
        dtype: Dtype,
        limit: int | None = None,
        run: int | None = None,
    ) -> str:
        key = f"{model}/{_folder(name)}/{cell}"
        self.collections.setdefault(key, Collection(model, name, prompts, dtype, limit, run))
        return key

    def _prompts(
        self,
        name: str,
        entry: "PromptedDataset",
        split: Split,
        k: int,
        unique: bool = False,
        seed: int | None = None,
    ) -> str:
        assert entry.dataset is not None
        examples = add_task(self.plan, self.config, entry.dataset)
        settings = prompt_settings(self.paper, entry, split, k, unique, seed)
        cell = f"{'unique_' if unique else ''}{split}_{k}{suffix(seed)}"
        return add_prompts(self.plan, f"{_folder(name)}/{cell}", examples, settings)

    def _add_run(self, key: RunKey, run: Run) -> str:
        folder, tokenizer = add_model_and_tokenizer(self.plan, self.config, self.paper, key.model)
        settings = adapter_settings(self.paper, key, run, self.resolved(self.paper.finetuning.dtype))
        name = f"{key.model}/{_folder(key.dataset)}/{key.cell}"
        return add_adapter(self.plan, name, folder, tokenizer, run.prompts, settings)

    def resolved(self, dtype: str) -> Dtype:
        """The arithmetic that `auto` stands for."""
        return resolve_dtype(self.config.numerics.dtype if dtype == "auto" else dtype, self.config.runtime.device)


def _folder(name: str) -> str:
    # Other papers may ask the same data otherwise: the prompts are this paper's.
    return f"id_{name}"
