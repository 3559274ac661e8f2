"""Settings of music-video-description.

Mao et al. 2025: Cross-Modal Learning for Music-to-Music-Video Description Generation. No public code; what is called
upstream code is sony/DeepResonance, by the same first author on the same framework.
"""

from typing import Annotated, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from reprlab.config import groups
from reprlab.music.settings import AnnotationSettings, EncodingSettings, TrackSettings
from reprlab.representations.settings import AdapterRecipe
from reprlab.settings import base as t
from reprlab.training.settings import UpdateSettings

Inputs = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if type(value) is int else value),
    StringConstraints(pattern=r"^1?2?3?4?$", min_length=1),
]
"""Inputs by the paper's numbers; on a command line they look like a number."""


class Training(groups.Batches):
    """One stage of the training; `steps` replace `epochs` where they are given."""

    steps: t.PositiveInt | None
    epochs: t.PositiveFloat
    learning_rate: t.PositiveFloat
    warmup_steps: t.NonNegativeInt
    schedule: t.Course


class Generation(t.Settings):
    """Generation of descriptions."""

    max_new_tokens: t.PositiveInt
    batch_size: t.PositiveInt
    temperature: t.NonNegativeFloat
    tracks: groups.Limit


class Prefix(t.Settings):
    """One linear map of the music to vectors in front of the text."""

    vectors: t.PositiveInt


class Neighbours(t.Settings):
    """Published rivals of adaptor and LoRA."""

    prefix: Prefix


class MusicVideoDescriptionSettings(t.Settings):
    """Tracks and their annotations, two stages of training, every combination of inputs."""

    name: t.SafeName
    called: str
    tracks: TrackSettings
    annotation: AnnotationSettings
    annotation_model: Annotated[t.ModelName | None, t.ReadBeside("annotation.backend=local")]
    encoding: EncodingSettings
    audio_model: t.ModelName | None
    model: t.ModelName
    score_model: t.ModelName
    lora: AdapterRecipe
    optimizer: UpdateSettings
    caption: Training
    description: Training
    generation: Generation
    dtype: t.Computed
    main: Annotated[Inputs, t.ReadBeside("blank=[14]")]
    ablations: Annotated[list[Inputs], t.Distinct]
    blank: Annotated[list[Inputs], t.Distinct]
    neighbours: Neighbours
    seeds: t.Seeds
    resamples: Annotated[t.PositiveInt, Field(ge=2)]
    shown: t.PositiveInt
    cost: groups.Published

    @model_validator(mode="after")
    def _models_are_there(self) -> Self:
        if (self.annotation.backend == "local") != (self.annotation_model is not None):
            raise ValueError("annotation_model is given where annotation.backend is local, and null otherwise")
        if (self.encoding.encoder == "spectrogram_transformer") != (self.audio_model is not None):
            raise ValueError(
                "audio_model is given where encoding.encoder is spectrogram_transformer, and null otherwise"
            )
        if unknown := sorted({*self.blank} - {self.main, *self.ablations}):
            raise ValueError(f"blank names {unknown[0]}, which is neither main nor among ablations")
        return self
