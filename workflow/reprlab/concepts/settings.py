"""Settings of a concept curriculum and of the text that is marked with it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

_STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class CountingSettings(BaseModel):
    """Which documents are counted."""

    model_config = _STRICT

    split: Literal["train", "validation", "test"] = "train"
    """Part of the corpora."""


class BasicSettings(BaseModel):
    """The basic concepts: hubs of the graph that the domain often names."""

    model_config = _STRICT

    frequency: int = Field(ge=0)
    """f: a basic concept occurs more often than this in the domain."""
    basic: int = Field(ge=1)
    """n: this many of those, by degree."""


class ExpansionSettings(BaseModel):
    """How far from the basic concepts."""

    model_config = _STRICT

    hops: int = Field(ge=0)
    """k: edges between a concept and the nearest basic one."""


class FilterSettings(BaseModel):
    """Which concepts near the basic ones stay."""

    model_config = _STRICT

    general_limit: float = Field(ge=0)
    """A concept that occurs more often than this in the general text is left out."""
    domain_least: int = Field(default=1, ge=0)
    """A concept that occurs less often than this in the domain is left out."""


class CurriculumSettings(BasicSettings, ExpansionSettings, FilterSettings):
    """All thresholds."""


class SweepSettings(BaseModel):
    """Values of each threshold to try, the others as they are."""

    model_config = _STRICT

    curriculum: CurriculumSettings
    """The thresholds."""
    hops: list[int] = Field(min_length=1)
    """Numbers of hops."""
    times: list[float] = Field(min_length=1)
    """Multiples of the other thresholds."""


class BlockSettings(BaseModel):
    """Documents into blocks of tokens."""

    model_config = _STRICT

    length: int = Field(ge=8)
    """Tokens of a block, special ones included; no word is cut, and one that does not fit is left out."""
    documents: int | None = Field(default=None, ge=1)
    """Documents of each split and corpus, the first ones; null takes all."""
