"""Which files feed which table, figure and claim: a grid of collected conditions.

The plan writes a `GridLayout`, one entry for each collection: at paper scale there are nearly 300, and a command
line holds 128 KiB. Tables and claims work on the `Grid` that it stands for, one cell for each condition.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.geometry.curves import Norm
from reprlab.papers import paths
from reprlab.representations.files import variant_names

_STRICT = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

# What the tables call fine-tuning on all training examples (the paper: "Finetune 1K").
FINETUNED = "sft_1k"
Experiment = Literal["comparison", "sft_dynamics", "icl_dynamics", "icl_unique", "precision", "replication"]


class Cell(BaseModel):
    """One model on one set of prompts."""

    model_config = _STRICT

    experiment: Experiment
    """The experiment that it belongs to; a collection may serve several."""
    model: str
    """Model, by its name in models.yaml."""
    dataset: str
    """Row of the data set."""
    data: str
    """True name of the data."""
    condition: str
    """icl_<k>, or sft_1k (fine-tuned)."""
    k: int = 0
    """Demonstrations in the prompt."""
    step: int = 0
    """Optimizer steps of the adapter."""
    split: Literal["train", "validation"] = "validation"
    """Whose items were asked."""
    dtype: Literal["float32", "bfloat16"]
    """Arithmetic of the forward pass."""
    variant: str
    """Variant of the model in the files."""
    cell_seed: int | None = None
    """Seed of demonstrations or adapter, where the table tells seeds apart."""
    items: Path
    """Answers, item by item."""
    dimensions: Path
    """Estimates by layer."""


class Grid(BaseModel):
    """All cells of some experiments, with what every table says about them."""

    model_config = _STRICT

    scale: str
    """Scale of the run."""
    cells: list[Cell]
    """The conditions."""
    datasets: list[str]
    """Rows of the paper, in its order; those without cells stay empty."""
    conditions: list[str]
    """Conditions of the comparison, in the paper's order."""
    norm: Norm
    """Definition of the AUC in figures and claims."""
    confidence: float = Field(gt=0, lt=1)
    """Level of the intervals."""
    seed: int
    """Seed of adapters and demonstrations."""
    subset: int = 0
    """Items of the smaller of two collections that are compared."""


class Collected(BaseModel):
    """One collection and the experiments that read it."""

    model_config = _STRICT

    key: str
    """model/dataset/cell, as in the paths of its files."""
    name: str
    """Row of the data set."""
    experiments: list[Experiment]
    """Experiments that read it."""
    k: int = 0
    """Demonstrations in the prompt."""
    split: Literal["train", "validation"] = "validation"
    """Whose items were asked."""
    steps: list[int] = []
    """Steps of an adapter; none: the model alone."""
    compared: int | None = None
    """The step that the comparison of paradigms takes."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Arithmetic of the forward pass."""
    seed: int | None = None
    """Seed of demonstrations or adapter; none means that of the main run."""


class GridLayout(BaseModel):
    """A grid in short: see the fields of `Grid`."""

    model_config = _STRICT

    scale: str
    """Scale of the run."""
    collected: list[Collected]
    """The collections."""
    experiments: list[Experiment]
    """Experiments that the table shows."""
    data: dict[str, str]
    """True name of the data by row."""
    unique_data: dict[str, str] = {}
    """The same in the control for shared demonstrations, where it rests on other data."""
    datasets: list[str]
    """Rows of the paper, in its order."""
    conditions: list[str]
    """Conditions of the comparison, in the paper's order."""
    norm: Norm
    """Definition of the AUC in figures and claims."""
    confidence: float
    """Level of the intervals."""
    seed: int
    """Seed of adapters and demonstrations."""
    subset: int = 0
    """Items of the smaller of two collections that are compared."""
    main_seeds: dict[Literal["icl", "sft"], int] = {}
    """Seeds of demonstrations and adapters in the main run, where the table tells seeds apart."""

    def paths(self) -> list[Path]:
        """The files of all collections, sorted."""
        return sorted(path for one in self.collected for path in files_of(one.key).values())

    def grid(self) -> Grid:
        """One cell for each experiment, collection and step."""
        return Grid(
            scale=self.scale,
            cells=[cell for one in self.experiments for found in self.collected for cell in self._cells(one, found)],
            datasets=self.datasets,
            conditions=self.conditions,
            norm=self.norm,
            confidence=self.confidence,
            seed=self.seed,
            subset=self.subset,
        )

    def _cells(self, experiment: Experiment, found: Collected) -> list[Cell]:
        if experiment not in found.experiments:
            return []
        titles = {**self.data, **self.unique_data} if experiment == "icl_unique" else self.data
        steps = found.steps
        if experiment in ("comparison", "replication") and found.compared is not None:
            steps = [found.compared]
        main_seed = self.main_seeds.get("sft" if found.steps else "icl")
        return [
            Cell(
                experiment=experiment,
                model=found.key.partition("/")[0],
                dataset=found.name,
                data=titles[found.name],
                condition=FINETUNED if found.steps else f"icl_{found.k}",
                k=found.k,
                step=step,
                split=found.split,
                dtype=found.dtype,
                variant=variant_names([step] if found.steps else [])[0],
                cell_seed=main_seed if found.seed is None else found.seed,
                **files_of(found.key),
            )
            for step in steps or [0]
        ]


def files_of(key: str) -> dict[str, Path]:
    """The files of a collection, by the field of its cells."""
    return {
        "items": Path(paths.output("collect_states", "table", key)),
        "dimensions": Path(paths.output("estimate_dimension", "out", key)),
    }
