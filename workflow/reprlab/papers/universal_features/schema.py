"""Settings of universal features (slug `universal-features`).

Nielsen Horn and Elliott 2025: Tracking Universal Features Through Fine-Tuning and Model Merging. Their code:
nilq/feature-dynamics.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from reprlab.config import groups
from reprlab.inference.chat_settings import ChatSettings
from reprlab.models.merging import WAYS, MergeSettings
from reprlab.plugins import has_plugin
from reprlab.settings import base as t

Role = Literal["base", "lua", "stories", "merged"]
# A little beyond either model the arc goes on.
Fractions = Annotated[list[Annotated[float, Field(ge=-0.1, le=1.1)]], Field(min_length=1), t.Distinct]
Correlation = Annotated[float, Field(gt=0, lt=1)]


class Text(t.Settings):
    """The corpora of base and children, and their tokens."""

    base: Annotated[list[t.CorpusName], Field(min_length=1), t.Distinct]
    lua: t.CorpusName
    stories: t.CorpusName
    documents: groups.Limit
    pieces: Annotated[t.PositiveInt, Field(ge=64), t.ReadBeside(".tokenizer=null")]
    tokenizer: t.ModelName | None

    def corpora(self) -> dict[str, str]:
        """All corpora by the names that results have for them: those of the base model have their own."""
        return {**{name: name for name in self.base}, "lua": self.lua, "stories": self.stories}


class Training(groups.Batches):
    """Training of a language model on packed blocks."""

    steps: t.PositiveInt
    block: Annotated[t.PositiveInt, Field(ge=8)]
    learning_rate: t.PositiveFloat
    weight_decay: t.NonNegativeFloat
    schedule: t.Course
    warmup_steps: t.NonNegativeInt


class Rival(t.Settings):
    """Another way to merge the children: one of its settings is swept, and chosen on half of the held-out batches."""

    method: t.SafeName
    options: dict[t.SafeName, float | list[float]]
    over: t.SafeName
    values: Annotated[list[t.NonNegativeFloat], Field(min_length=1), t.Distinct]

    @model_validator(mode="after")
    def _way_takes_them(self) -> Self:
        if not has_plugin(WAYS, self.method):
            raise ValueError(f"there is no module {self.method} in workflow/reprlab/models/merges")
        for value in self.values:
            MergeSettings(method=self.method, options={**self.options, self.over: value})
        return self


class Merging(t.Settings):
    """Slerp of the children; t = 0 is Lua, t = 1 stories. Rivals are held against it."""

    fraction: t.Probability
    sweep: Fractions
    dtype: Literal["float32", "float16", "bfloat16"]
    rivals: dict[t.SafeName, Rival]


class Autoencoder(groups.Batches):
    """Sparse autoencoders, one for each model; more with other seeds for controls."""

    expansion: t.PositiveInt
    l1: dict[Role, t.NonNegativeFloat]
    subtract_bias: bool
    normalise: bool
    encoder_start: Literal["kaiming", "atoms"]
    start_blocks: Annotated[float, Field(gt=0, le=1)]
    dead_window: t.PositiveInt
    steps: t.PositiveInt
    block: Annotated[t.PositiveInt, Field(ge=4)]
    learning_rate: t.PositiveFloat
    beta2: Annotated[float, Field(ge=0, lt=1)]
    schedule: t.Course
    seed: t.Seed
    other_seed: t.Seed
    repeated: Annotated[list[Role], t.Distinct]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if missing := [role for role in ("base", "lua", "stories", "merged") if role not in self.l1]:
            raise ValueError(f"l1 needs a weight for {missing[0]}")
        if self.seed == self.other_seed:
            raise ValueError("other_seed must differ from seed: it is for the ceiling")
        return self


class HeldOut(t.Settings):
    """Losses and qualities on held-out text."""

    batches: t.PositiveInt
    batch_size: t.PositiveInt
    quality_blocks: t.PositiveInt


class Comparison(t.Settings):
    """The common sample, and when a feature persists."""

    blocks: t.PositiveInt
    least_positions: t.PositiveInt
    threshold: Correlation
    thresholds: Annotated[list[Correlation], Field(min_length=1), t.Distinct]

    @model_validator(mode="after")
    def _threshold_is_one(self) -> Self:
        if self.threshold not in self.thresholds:
            raise ValueError(f"thresholds must hold the threshold ({self.threshold})")
        return self


class Case(t.Settings):
    """A case study."""

    kind: Literal["universal", "lost"]
    corpus: t.SafeName
    pattern: str


class Interpretation(t.Settings):
    """Automated interpretation of the Lua model's features."""

    features: t.PositiveInt
    top: t.PositiveInt
    lower: t.NonNegativeInt
    random: t.NonNegativeInt
    same_tokens: t.NonNegativeInt
    chat: ChatSettings | None
    explain: str
    simulate: str


class UniversalFeaturesSettings(t.Settings):
    """Features of a base model, two children of it, and their merge."""

    text: Text
    model: t.ModelName
    seeds: t.Seeds
    unrelated_seed: t.Seed
    pretraining: Training
    finetuning: Training
    merging: Merging
    autoencoder: Autoencoder
    held_out: HeldOut
    comparison: Comparison
    cases: dict[t.SafeName, Case]
    contexts: t.PositiveInt
    interpretation: Interpretation
    dtype: t.Computed
    cost: groups.Published

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        for name, case in self.cases.items():
            groups.require(f"cases.{name}.corpus", [case.corpus], self.text.corpora(), "text")
        if len(dict.fromkeys([*self.seeds, self.unrelated_seed])) < 2:
            raise ValueError("unrelated_seed must differ from the only seed: it is for the floor")
        return self
