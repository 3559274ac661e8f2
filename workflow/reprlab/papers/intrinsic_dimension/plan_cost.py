"""What the paper on intrinsic dimension costs: its published runs, and those of the active scale."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.models.formula import adapter_parameters, llama_parameters
from reprlab.papers import paths
from reprlab.papers.intrinsic_dimension.plan_needs import Collection, RunKey
from reprlab.papers.intrinsic_dimension.plan_states import StatesPlanner
from reprlab.papers.plan import Plan
from reprlab.reporting.cost_layout import CostLayout, CostRun, Model, Shape

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.intrinsic_dimension import IntrinsicDimensionSettings

_ARCHITECTURE = "llama"
_PUBLISHED = "lengths by characters; weights in float32 on one device, where the authors spread them over six"
_HERE = "seconds hold the start of the process and loading"


def cost_layout(config: "LoadedConfig", paper: "IntrinsicDimensionSettings", planner: StatesPlanner) -> CostLayout:
    """Published runs first, then those of the active scale; at paper scale these are the published ones with the edits
    of the user, and nothing need have run."""
    if config.scale == "paper":
        costs = [_Costs(config, paper, planner, "paper")]
    else:
        published = config.published["intrinsic-dimension"]
        wanted = StatesPlanner(Plan(), config, published)
        wanted.gather()
        costs = [_Costs(config, published, wanted, "paper"), _Costs(config, paper, planner, config.scale)]
    return CostLayout(
        accelerator=paper.cost.accelerator,
        models={name: model for cost in costs for name, model in cost.models().items()},
        runs=[run for cost in costs for run in cost.runs()],
    )


class _Costs:
    """The cost runs of one scale: one for the jobs of a model that differ in nothing but their data set."""

    def __init__(
        self, config: "LoadedConfig", paper: "IntrinsicDimensionSettings", planner: StatesPlanner, scale: str
    ) -> None:
        self.config, self.paper, self.planner, self.scale = config, paper, planner, scale
        self.here = scale != "paper"

    def models(self) -> dict[str, Model]:
        """The models that are read or adapted, as far as the formulas know their architecture."""
        names = dict.fromkeys(one.model for one in self.planner.collections.values())
        return {
            name: Model(
                entry=entry,
                shape=Shape.of_llama(entry.config, int(entry.config["vocab_size"])),
                parameters=llama_parameters(entry.config, int(entry.config["vocab_size"]), entry.tie_output),
            )
            for name, entry in ((name, self.config.models[name]) for name in names)
            if entry.architecture == _ARCHITECTURE
        }

    def runs(self) -> Iterator[CostRun]:
        """Fine-tuning, then collections."""
        known = self.models()
        trained: dict[tuple[str, str], list[RunKey]] = defaultdict(list)
        for run in self.planner.runs:
            trained[run.model, run.cell].append(run)
        for (model, cell), runs in trained.items():
            if model in known:
                yield self.of_adapters(model, cell, runs)
        collected: dict[tuple[str, str], dict[str, Collection]] = defaultdict(dict)
        for key, one in self.planner.collections.items():
            model, _, cell = key.split("/")
            collected[model, cell][key] = one
        for (model, cell), group in collected.items():
            if model in known:
                yield self.of_collections(model, cell, group)

    def of_adapters(self, model: str, cell: str, runs: list[RunKey]) -> CostRun:
        """Fine-tuning runs of a model on several data sets."""
        wanted = self.paper.finetuning
        keys = [f"{model}/id_{run.dataset}/{cell}" for run in runs]
        lengths = [self.length(self.paper.data.datasets[run.dataset].dataset, 0) for run in runs]
        return CostRun(
            stage="train_adapter",
            name=f"{model}/{cell}",
            jobs=len(runs),
            model=model,
            steps=runs[0].steps,
            batch_size=wanted.batch_size,
            text_length=min(wanted.max_length, sum(lengths) / len(lengths)),
            encoder_share=1,
            decoder_share=1,
            part_size=wanted.batch_size // wanted.accumulation,
            activation_bytes=self.number_bytes(self.planner.resolved(wanted.dtype)),
            adapter_parameters=adapter_parameters(self.config.models[model].config, wanted.rank, wanted.targets),
            adapter_rank=wanted.rank,
            adapter_targets=list(wanted.targets),
            **self.measured("train_adapter", {key: paths.output("train_adapter", "metrics", key) for key in keys}),
        )

    def of_collections(self, model: str, cell: str, group: dict[str, Collection]) -> CostRun:
        """Collections of a model under one condition on several data sets; each variant of an adapter is a pass."""
        one = next(iter(group.values()))
        data = self.paper.data
        asked = data.train_items if one.split == "train" else data.validation_items
        unique = cell.startswith("icl_unique")
        sources = self.paper.icl_unique.datasets if unique else data.datasets
        passes = [
            (max(1, len(each.steps)), self.length(sources[each.dataset].dataset, each.k)) for each in group.values()
        ]
        jobs = sum(count for count, _ in passes)
        length = sum(count * tokens for count, tokens in passes) / jobs
        examples = max(1, int(self.paper.collection.batch_tokens / length))
        return CostRun(
            stage="collect_states",
            name=f"{model}/{cell}",
            jobs=jobs,
            model=model,
            steps=0,
            batch_size=examples,
            forwarded=min(asked, one.limit or asked),
            text_length=length,
            encoder_share=1,
            decoder_share=0,
            # The output layer is read at the last place alone.
            decoder_extra=1,
            part_size=examples,
            activation_bytes=self.number_bytes(one.dtype),
            **self.measured("collect_states", {key: paths.output("collect_states", "table", key) for key in group}),
        )

    def length(self, dataset: str | None, k: int) -> float:
        """Tokens of a prompt with k demonstrations."""
        cost = self.paper.cost
        return (k + 1) * cost.characters.get(str(dataset), cost.characters_otherwise) / cost.characters_of_token

    def number_bytes(self, dtype: str) -> Any:
        """Bytes of a number."""
        return 2 if dtype == "bfloat16" else 4

    def measured(self, stage: str, files: dict[str, str]) -> dict[str, Any]:
        """Where the times of jobs stand, by their keys; the published ones have none."""
        if not self.here:
            return {"scale": self.scale, "note": _PUBLISHED}
        return {
            "scale": self.scale,
            "measured": [Path(path) for path in files.values()],
            "benchmarks": [f"{stage}/{key.replace('/', '.')}.tsv" for key in files],
            "note": _HERE,
        }
