"""Settings of a linear prefix, the rival of an adaptor with LoRA."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.music.settings import DescriberTraining
from reprlab.settings.base import derive
from reprlab.training.settings import EngineSettings


class PrefixTraining(BaseModel):
    """One stage of the training of a linear prefix, before a language model that stays as it is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: Literal["caption", "description"]
    """What is learned: captions of music, or descriptions of a video."""
    inputs: str = Field(pattern="^1?2?3?4?$")
    """Inputs by the paper's numbers; 1, the music, is what the vectors say, and all others are text."""
    vectors: int = Field(ge=1)
    """Vectors in front of the text."""
    max_length: int = Field(ge=16)
    """Longest example in tokens, vectors included; longer targets are cut, and counted."""
    engine: EngineSettings
    """Loop, optimizer and schedule."""
    epochs: float | None = Field(default=None, gt=0)
    """Passes; replaces engine.steps where given."""

    @property
    def text(self) -> DescriberTraining:
        """The same training on text alone, for which the vectors leave this much room."""
        inputs = self.inputs.replace("1", "")
        return derive(DescriberTraining, self, inputs=inputs, max_length=self.max_length - self.vectors, adapter=None)


class PrefixDescription(BaseModel):
    """Descriptions of tracks by a frozen language model behind a linear prefix."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    inputs: str = Field(pattern="^1?2?3?4?$")
    """Inputs that it was trained with."""
    max_new_tokens: int = Field(ge=1)
    """Longest text in tokens."""
    batch_size: int = Field(default=16, ge=1)
    """Texts at a time."""
    temperature: float = Field(default=0.0, ge=0)
    """Temperature of sampling; 0 is greedy."""
    seed: int = Field(default=0, ge=0)
    """Seed of the sampling."""
    limit: int | None = Field(default=None, ge=1)
    """Only this many tracks of the test split."""
