"""Settings of punctuation restoration (slug `punctuation-restoration`).

Min, Lee, Lee and Lee 2025: Punctuation Restoration Improves Structure Understanding without Supervision.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from reprlab.config import groups
from reprlab.inference.chat_settings import ChatSettings
from reprlab.objectives.settings import SpanSettings
from reprlab.settings import base as t
from reprlab.structure.seq2seq_settings import StructureTask
from reprlab.text.segmentation import SegmentationSettings
from reprlab.training.settings import UpdateSettings

Init = Literal["t5", "pr", "mlm", "copy"]
Tokens = Annotated[t.PositiveInt, Field(ge=8)]


class Excerpts(t.Settings):
    """Excerpts of each split, and how long a document must be."""

    characters: t.NonNegativeInt
    documents: groups.Limit
    train: groups.Limit
    validation: groups.Limit
    test: groups.Limit


class Size(groups.LadderRun):
    """A model that learns to restore punctuation, and its updates."""

    model: t.ModelName


class Restoration(groups.Batches):
    """How it learns."""

    learning_rate: t.PositiveFloat
    schedule: t.Course
    warmup_steps: t.NonNegativeInt
    optimizer: UpdateSettings
    length: Tokens
    dropout: t.Dropout
    group_by_length: bool
    seed: t.Seed


class WarmStart(t.Settings):
    """Span corruption of a model that is drawn at random."""

    pieces: Annotated[t.PositiveInt, Field(ge=64), t.ReadBeside("")]
    steps: t.PositiveInt
    batch_size: t.PositiveInt
    learning_rate: t.PositiveFloat
    warmup_steps: t.NonNegativeInt


class Trained(t.Settings):
    """A task with a set that is trained on, and further ones that are tested on."""

    task: StructureTask
    train_set: t.SafeName
    dataset: t.TaskDataName
    further: dict[t.SafeName, t.TaskDataName]


class Absent(t.Settings):
    """A published row that has no data here."""

    task: StructureTask
    eval_sets: groups.Names
    reason: str


class Finetuning(groups.Finetuning):
    """Fine-tuning, alike for all models."""

    # No data set of the registry has the roles that its only entry is for.
    epochs_by_task: Annotated[dict[StructureTask, t.PositiveFloat], t.ReadBeside("")]
    group_by_length: bool
    course: Literal["fresh", "upstream_resume"]
    resumed_epochs: Annotated[t.PositiveFloat, t.ReadBeside("finetuning.course=upstream_resume")]
    examples: groups.Limit
    scored: groups.Limit

    @model_validator(mode="after")
    def _rate_stays_above_zero(self) -> Self:
        if self.resumed_epochs < self.epochs:
            raise ValueError(f"resumed_epochs ({self.resumed_epochs:g}) must be no less than epochs ({self.epochs:g})")
        return self


class Discriminative(groups.Finetuning):
    """The encoder with a head over every token."""

    tasks: groups.Names


class Generation(t.Settings):
    """How answers are searched."""

    beams: t.PositiveInt
    length: t.PositiveInt


class ZeroShot(t.Settings):
    """The row of a chat model."""

    enabled: Annotated[bool, t.ReadBeside("")]
    excerpts: t.PositiveInt
    chat: Annotated[ChatSettings, t.ReadBeside("", of="model")]


class PunctuationRestorationSettings(t.Settings):
    """Restore punctuation, then fine-tune on structure tasks."""

    corpus: t.CorpusName | None
    unavailable: Annotated[str, t.ReadBeside("corpus=null")]
    segmentation: SegmentationSettings
    excerpts: Excerpts
    sizes: Annotated[dict[t.SafeName, Size], Field(min_length=1)]
    restored: Annotated[groups.Names, Field(min_length=1)]
    compared: t.SafeName
    restoration: Restoration
    corruption: SpanSettings
    warm_start: Annotated[WarmStart, t.ReadBeside("sizes.t5_base.model=t5_restoration_mini")]
    inits: Annotated[list[Init], Field(min_length=1), t.Distinct]
    tasks: Annotated[dict[t.SafeName, Trained], Field(min_length=1)]
    trained: Annotated[groups.Names, Field(min_length=1)]
    absent: dict[t.SafeName, Absent]
    joint: groups.Names
    joint_unavailable: str
    finetuning: Finetuning
    discriminative: Discriminative
    generation: Generation
    measures: Literal["ours", "upstream"]
    zero_shot: Annotated[ZeroShot, t.ReadBeside("zero_shot.enabled=true")]
    dtype: t.Computed
    cost: groups.Published

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        groups.require("restored", self.restored, self.sizes, "sizes")
        groups.require("compared", [self.compared], self.restored, "restored")
        groups.require("trained", self.trained, self.tasks, "tasks")
        groups.require("joint", self.joint, self.tasks, "tasks")
        groups.require("discriminative.tasks", self.discriminative.tasks, self.tasks, "tasks")
        if len(self.joint) == 1:
            raise ValueError("joint: name two tasks, or none")
        return self
