"""Settings of reverse probing (slug `reverse-probing`).

Anikina, Binder, Harbecke, Varanasi, Hennig, Ostermann, Möller and van Genabith 2025: Reverse Probing: Evaluating
Knowledge Transfer via Finetuned Task Embeddings for Coreference Resolution. Code:
Cora4NLP/multi-task-knowledge-transfer.
"""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from reprlab.config import groups
from reprlab.coreference.settings import AggregationSettings, HeadSettings, SegmentSettings, SimilaritySettings
from reprlab.evaluation.settings import MetricName
from reprlab.settings import base as t
from reprlab.text.segmentation import SegmentationSettings
from reprlab.training.settings import UpdateSettings

Cell = Annotated[str, StringConstraints(pattern=r"^(mean|sum|attention)_(full|norm|trunc)$|^attention_cat[1-9][0-9]?$")]
"""How sources are joined and what is read of each: `attention_cat4` joins the last four layers."""


def split_cell(cell: str) -> tuple[str, str, int]:
    """Aggregation, mode and number of joined layers of a cell."""
    aggregation, mode = cell.split("_")
    joined = re.fullmatch(r"cat(\d+)", mode)
    return aggregation, mode, int(joined[1]) if joined else 1


class SourceModel(t.Settings):
    """A source: a model, fine-tuned on one of `tasks`, on coreference, or as it is."""

    model: t.ModelName
    tuned: Literal["task", "coreference", "no"]


class SourceTask(groups.Batches):
    """A source task and how it is learnt."""

    dataset: t.TaskDataName
    kind: Literal["classification", "tags", "spans"]
    metric: MetricName
    learning_rate: t.PositiveFloat
    epochs: t.PositiveFloat
    warmup_steps: t.NonNegativeInt
    schedule: t.Course
    length: Annotated[t.PositiveInt, Field(ge=8)]
    examples: groups.Limit
    scored: groups.Limit


class Text(t.Settings):
    """A corpus whose passages a data set is built from."""

    corpus: t.CorpusName
    segmentation: SegmentationSettings


class Recipe(t.Settings):
    """Training with a coreference head."""

    learning_rate: t.PositiveFloat
    head_learning_rate: t.PositiveFloat
    warmup_share: t.Dropout
    epochs: t.PositiveInt
    patience: t.PositiveInt
    optimizer: UpdateSettings


class Cells(t.Settings):
    """Columns of the tables, by the number of sources."""

    single: Annotated[list[Cell], t.Distinct]
    pair: Annotated[list[Cell], t.Distinct]
    larger: Annotated[list[Cell], t.Distinct]


Combination = Annotated[list[t.SafeName], Field(min_length=2), t.Distinct]


class ReverseProbingSettings(t.Settings):
    """Frozen encoders of several tasks under a coreference head."""

    dataset: t.TaskDataName
    texts: Annotated[dict[t.TaskDataName, Text], t.ReadBeside("dataset=silver_austen_chains")]
    segments: SegmentSettings
    sources: Annotated[
        dict[t.SafeName, SourceModel],
        Field(min_length=1),
        t.ReadBeside("sources.mrpc.tuned=coreference", of="coref.tuned"),
    ]
    tasks: dict[t.SafeName, SourceTask]
    task_optimizer: UpdateSettings
    task_dropout: t.Dropout
    task_seed: t.Seed
    singles: Annotated[groups.Names, Field(min_length=1)]
    further: groups.Names
    untrained: t.SafeName
    pairs: list[Combination]
    larger: list[Combination]
    summed: list[Combination]
    cells: Cells
    layers: Annotated[list[t.PositiveInt], t.Distinct]
    best_layers: dict[t.SafeName, t.PositiveInt] | None
    seeds: t.Seeds
    single_seeds: t.Seeds
    head: HeadSettings
    attention: Literal["factored", "paper"]
    attention_width: t.PositiveInt
    encoder_dropout: bool
    probe: Recipe
    encoder: Recipe
    encoder_seeds: t.Seeds
    similarity: SimilaritySettings
    resamples: Annotated[t.PositiveInt, Field(ge=100)]
    cost: groups.Published

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        named = {"singles": self.singles, "further": self.further, "untrained": [self.untrained]}
        named |= {"best_layers": list(self.best_layers or {})}
        for where, combinations in (("pairs", self.pairs), ("larger", self.larger), ("summed", self.summed)):
            named[where] = [name for combination in combinations for name in combination]
        for where, names in named.items():
            groups.require(where, names, self.sources, "sources")
        tuned = [name for name, source in self.sources.items() if source.tuned == "task"]
        groups.require("sources", tuned, self.tasks, "tasks")
        if not any(source.tuned == "coreference" for source in self.sources.values()):
            raise ValueError("sources: one is tuned on coreference, with which the others are compared")
        return self

    def aggregation(self, cell: str) -> AggregationSettings:
        """How the sources of a cell are joined."""
        aggregation, mode, joined = split_cell(cell)
        about: dict[str, object] = {"aggregation": aggregation, "normalise": mode == "norm", "concatenated": joined}
        # What a cell does not read is not among its settings, so that an edit of it runs nothing again.
        if aggregation == "attention":
            about["attention"] = "factored" if joined > 1 else self.attention
        if about.get("attention") == "factored":
            about["width"] = self.attention_width
        return AggregationSettings.model_validate(about)
