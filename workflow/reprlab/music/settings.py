"""Settings of music: tracks, features, annotations, states of audio, and descriptions by a language model."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.inference.chat_settings import ChatSettings
from reprlab.representations.settings import AdapterRecipe
from reprlab.training.settings import EngineSettings

_STRICT = ConfigDict(extra="forbid", frozen=True)

RATE = 44_100
"""Samples a second of every track: madmom takes an array for that whatever it is."""
INPUTS = "1234"
"""Inputs of the paper: 1 music, 2 genre tags, 3 type of the video, 4 text on the lyrics."""


class Scores(BaseModel):
    """Pieces of one kind, rendered."""

    model_config = _STRICT

    members: str
    """Scores in the archive; `*` matches any text."""
    genre: str
    """Genre tag of all of them."""
    tracks: int = Field(ge=1)
    """Pieces that are taken, drawn once."""


class Recordings(BaseModel):
    """Recorded pieces, cut into clips."""

    model_config = _STRICT

    members: str
    """WAV files in the archive; `*` matches any text."""
    genre: str
    """Genre tag of all of them."""
    tracks: int = Field(ge=1)
    """Clips that are taken at most, in equal parts of each piece."""


class TrackSettings(BaseModel):
    """A set of tracks."""

    model_config = _STRICT

    seconds: float = Field(gt=1)
    """Length of a clip; what is shorter is left out and counted."""
    archives: dict[Literal["scores", "font", "recordings"], str] = {}
    """Archives of scores (music21's corpus), of the sound font `font.sf2` and of recordings."""
    font: str = ""
    """The sound font in its archive."""
    scores: list[Scores] = []
    """Rendered pieces, whose key, metre and tempo are known."""
    tempo: list[int] = Field(default=[60, 160], min_length=2, max_length=2)
    """Bounds of the tempo of a rendered piece, quarter notes a minute."""
    programmes: list[int] = [0, 6, 19, 24, 48, 73]
    """General MIDI programmes, of which each rendered piece has one."""
    recordings: list[Recordings] = []
    """Recorded pieces."""
    folder: str = ""
    """A folder of one's own with `tracks.tsv` (see docs/papers/music-video-description.md); empty: none."""
    test_share: float = Field(gt=0, lt=1)
    """Share of the pieces that is tested on; clips of one piece stay together."""
    limit: int | None = Field(default=None, ge=1)
    """Only this many tracks, drawn once."""
    shards: int = Field(default=1, ge=1)
    """Parts in which features and annotations are made."""
    seed: int = Field(default=0, ge=0)
    """Seed of all that is drawn: pieces, tempi, programmes, split."""


class AnnotationSettings(BaseModel):
    """Who writes captions, types and descriptions, and what a frame is."""

    model_config = _STRICT

    backend: Literal["template", "chat", "local"]
    """`template`: a grammar of ours, labelled as one; `chat`: an endpoint; `local`: a packaged model, served here."""
    chat: ChatSettings
    """The model of an endpoint, and the longest answer."""
    frame_seconds: float = Field(gt=0)
    """Seconds from frame to frame."""
    attempts: int = Field(default=3, ge=1)
    """Times that a question is asked until the answer has the wanted form."""
    fallback: bool = False
    """Whether the template writes what has not the wanted form after all attempts; false: an error."""
    budget: float | None = Field(default=None, gt=0)
    """Dollars that the whole set may cost, over all starts of its run; null: no limit."""
    image_detail: Literal["low", "high"] = "low"
    """How finely the model looks at a frame."""
    image_tokens: dict[str, dict[Literal["low", "high"], int]] = {}
    """Tokens that an image is billed as, by model and detail; of `high` those of the largest image."""
    prompt_price: float = Field(default=0, ge=0)
    """Dollars for a million tokens that are sent."""
    answer_price: float = Field(default=0, ge=0)
    """Dollars for a million tokens that are answered."""
    seed: int = Field(default=0, ge=0)
    """Seed of the template's choices."""


class EncodingSettings(BaseModel):
    """States of audio by a frozen encoder."""

    model_config = _STRICT

    encoder: Literal["madmom", "spectrogram_transformer"]
    """`madmom`: its pretrained network of chords beside log-mel statistics; else an Audio Spectrogram Transformer."""
    clips: int = Field(default=3, ge=1)
    """Clips of a track, evenly spaced; one token each."""
    clip_seconds: float = Field(default=2.0, gt=0)
    """Their length."""
    bands: int = Field(default=32, ge=4)
    """Mel bands of the statistics (`madmom`)."""


class DescriberTraining(BaseModel):
    """One stage of the training."""

    model_config = _STRICT

    task: Literal["caption", "description"]
    """`caption`: the adaptor alone learns to caption music; `description`: the adaptor and LoRA learn descriptions."""
    inputs: str = Field(pattern="^1?2?3?4?$")
    """Inputs of the model, by the paper's numbers."""
    max_length: int = Field(ge=16)
    """Longest example in tokens; longer targets are cut, and counted."""
    adapter: AdapterRecipe | None
    """LoRA; null: the language model stays as it is."""
    engine: EngineSettings
    """Loop, optimizer and schedule."""
    epochs: float | None = Field(default=None, gt=0)
    """Passes; replaces engine.steps where given."""


class DescriptionGeneration(BaseModel):
    """Descriptions of tracks by a trained model."""

    model_config = _STRICT

    inputs: str = Field(pattern="^1?2?3?4?$")
    """Inputs that it was trained with."""
    blank: bool = False
    """Whether the instruction alone is given."""
    task: Literal["caption", "description"] = "description"
    """What is asked for."""
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


class DescriptionScoring(BaseModel):
    """Scores of descriptions."""

    model_config = _STRICT

    max_length: int = Field(default=512, ge=8)
    """Tokens of a text that BERTScore compares."""
    resamples: int = Field(default=1000, ge=2)
    """Bootstrap samples of the intervals."""
    seed: int = Field(default=0, ge=0)
    """Their seed."""


class ExampleSettings(BaseModel):
    """The page of examples."""

    model_config = _STRICT

    described: dict[str, Path]
    """Descriptions, by their name on the page."""
    shown: int = Field(ge=1)
    """Tracks that are shown."""
