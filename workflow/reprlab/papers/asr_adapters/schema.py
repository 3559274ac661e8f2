"""Settings of asr-adapters.

Samin, Nayak, DeMarco and Borg 2025: Investigating Adapters for Parameter-efficient Low-resource Automatic Speech
Recognition.
"""

from typing import Annotated, Self

from pydantic import Field, model_validator

from reprlab.audio.settings import TuningShape
from reprlab.config import groups
from reprlab.settings import base as t
from reprlab.training.settings import UpdateSettings


class MethodTuning(TuningShape):
    """What is trained beside the CTC head, and from which start."""

    initial_scale: t.PositiveFloat | None = None
    """Factor of the drawn weights of the last layer inside an adapter; null: `training.initial_scale`."""


class Method(t.Settings):
    """A tuning and the rate of what is tuned beside the head."""

    tuning: MethodTuning
    learning_rate: t.PositiveFloat


class Training(groups.Batches):
    """The loop that all methods share."""

    steps: t.PositiveInt
    warmup_steps: t.NonNegativeInt
    schedule: t.Course
    optimizer: UpdateSettings
    head_learning_rate: t.PositiveFloat
    initial_scale: t.PositiveFloat
    dtype: t.Computed
    evaluation_utterances: groups.Limit


class Cell(t.Settings):
    """One language and amount of speech."""

    language: t.SafeName
    minutes: t.PositiveFloat


class Large(Cell):
    """A cell of Table 4."""

    model: t.ModelName


class AsrAdaptersSettings(t.Settings):
    """Adapters, full tuning and controls over languages and amounts of speech."""

    languages: Annotated[dict[t.SafeName, t.TaskDataName], Field(min_length=1)]
    spoken: Annotated[groups.Names, Field(min_length=1)]
    methods: dict[t.SafeName, Method]
    compared: dict[t.SafeName, groups.Models]
    sizes: Annotated[list[t.PositiveFloat], Field(min_length=1), t.Distinct]
    seeds: t.Seeds
    data_seed: t.Seed
    large: list[Large]
    controls: groups.Names
    ablation: groups.Names
    rivals: groups.Names
    rival_seeds: t.Seeds
    cell: Cell
    model: t.ModelName
    floor: t.ModelName
    depths: Annotated[list[Annotated[int, Field(ge=2)]], t.Distinct]
    depth_languages: groups.Names
    transfers: list[Annotated[list[t.SafeName], Field(min_length=2, max_length=2)]]
    transfer_minutes: t.PositiveFloat
    transfer_method: t.SafeName
    wide_model: t.ModelName
    counted: groups.Models
    symbols: t.PositiveInt
    training: Training
    cost: groups.Published

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        for where in ("controls", "ablation", "rivals"):
            groups.require(where, getattr(self, where), self.methods, "methods")
        groups.require("compared", list(self.compared), self.methods, "methods")
        groups.require("transfer_method", [self.transfer_method], self.methods, "methods")
        spoken = [*self.spoken, self.cell.language, *self.depth_languages, *(one.language for one in self.large)]
        groups.require("languages", [*spoken, *(name for pair in self.transfers for name in pair)], self.languages,
                       "languages")  # fmt: skip
        return self
