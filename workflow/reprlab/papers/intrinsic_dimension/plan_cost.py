"""Cost of the paper on intrinsic dimension: adapters and collections, one run for those of a model that differ only
in their data set."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from reprlab.config.load import LoadedConfig
from reprlab.papers.intrinsic_dimension.plan_states import Collection, StatesPlanner
from reprlab.papers.intrinsic_dimension.schema import IntrinsicDimensionSettings
from reprlab.planning.cost_jobs import equal_jobs, of_engine
from reprlab.planning.plan import Plan
from reprlab.reporting.cost_layout import CostRun

_PUBLISHED = "lengths by characters; weights in float32 on one device, where the authors spread them over six"


class Costs:
    """The cost runs of one scale."""

    def __init__(
        self, config: LoadedConfig, planned: StatesPlanner, paper: IntrinsicDimensionSettings, scale: str
    ) -> None:
        self.paper, self.scale = paper, scale
        self.planner = planned if scale == config.scale else StatesPlanner(Plan(), config, paper)
        self.note = _PUBLISHED if scale == "paper" else ""

    def runs(self) -> Iterator[CostRun]:
        """Fine-tuning, then collections."""
        for (model, cell), keys in _by_model_and_cell(self.planner.runs).items():
            yield self.of_adapters(model, cell, keys)
        for (model, cell), keys in _by_model_and_cell(self.planner.collections).items():
            yield self.of_collections(model, cell, {key: self.planner.collections[key] for key in keys})

    def of_adapters(self, model: str, cell: str, keys: list[str]) -> CostRun:
        """Fine-tuning runs of a model on several data sets."""
        runs = [self.planner.runs[key] for key in keys]
        recipe = self.planner.recipe(runs[0])
        lengths = [self.length(self.paper.data.datasets[run.dataset].dataset, 0) for run in runs]
        return equal_jobs(
            self.scale,
            "train_adapter",
            keys,
            name=f"{model}/{cell}",
            jobs=len(runs),
            model=model,
            **of_engine(recipe.engine),
            text_length=min(recipe.max_length, sum(lengths) / len(lengths)),
            decoder_share=1,
            adapter_rank=recipe.rank,
            adapter_targets=recipe.targets,
            note=self.note,
        )

    def of_collections(self, model: str, cell: str, group: dict[str, Collection]) -> CostRun:
        """Collections of a model under one condition on several data sets; each variant of an adapter is a pass."""
        one, data = next(iter(group.values())), self.paper.data
        asked = data.train_items if one.split == "train" else data.validation_items
        sources = self.paper.icl_unique.datasets if cell.startswith("icl_unique") else data.datasets
        passes = [
            (max(1, len(each.steps)), self.length(sources[each.dataset].dataset, each.k)) for each in group.values()
        ]
        jobs = sum(count for count, _ in passes)
        length = sum(count * tokens for count, tokens in passes) / jobs
        examples = max(1, int(self.paper.collection.batch_tokens / length))
        return equal_jobs(
            self.scale,
            "collect_states",
            list(group),
            name=f"{model}/{cell}",
            jobs=jobs,
            model=model,
            steps=0,
            batch_size=examples,
            part_size=examples,
            forwarded=min(asked, one.limit or asked),
            text_length=length,
            # The output layer is read at the last place alone.
            decoder_extra=1,
            dtype=one.dtype,
            note=self.note,
        )

    def length(self, dataset: str | None, k: int) -> float:
        """Tokens of a prompt with k demonstrations."""
        cost = self.paper.cost
        return (k + 1) * cost.characters.get(str(dataset), cost.characters_otherwise) / cost.characters_of_token


def _by_model_and_cell(keys: Iterable[str]) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key in keys:
        model, _, cell = key.split("/")
        found[model, cell].append(key)
    return found
