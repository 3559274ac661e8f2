"""Settings of fine-tuning: one task, one training recipe, several learning rates."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from reprlab.evaluation.settings import MetricName
from reprlab.training.embedding_settings import EmbeddingWay
from reprlab.training.settings import EngineSettings

_STRICT = ConfigDict(extra="forbid", frozen=True)

TaskKind = Literal["text_to_text", "classification", "regression", "tags", "spans"]


class TaskSettings(BaseModel):
    """Input, answer and score of the model."""

    model_config = _STRICT

    kind: TaskKind
    """text_to_text: an encoder-decoder writes the answer; the others: an encoder with a head. spans: the answer to a
    question is a span of its context."""
    template: str = "{text}"
    """Name of a template or a format string with the columns of the examples; unused for tags and spans."""
    template_task: str = ""
    """Task name inside the DiscoEval template, such as SParxiv."""
    field_order: Literal["right", "upstream"] = "right"
    """MNLI only: `upstream` swaps premise and hypothesis as the released code of DEPTH does."""
    labels: list[str] = []
    """Labels in order; empty: those that the example table declares, or none (free text, numbers)."""
    label_words: list[str] = []
    """Target text of each label, in their order; empty: the template's words, or the labels themselves."""
    metrics: list[MetricName] = Field(min_length=1)
    """Scores to report; the first selects the learning rate."""
    input_length: int = Field(ge=4)
    """Longest input in tokens, end token included."""
    target_length: int = Field(default=8, ge=1)
    """Longest target in tokens, end token included; also the limit of generation."""
    eval_modes: list[Literal["generate", "teacher_forced"]] = Field(default=["generate"], min_length=1)
    """generate: greedy decoding; teacher_forced: argmax at label positions, as upstream. The first selects."""
    depth_format: bool = False
    """Sentence tokens in fixed order and DEPTH's fine-tuning masks."""
    mask_padding: bool = True
    """Hide padding from attention; false is upstream's way, with inputs padded to input_length (DEPTH format only)."""

    tag_pieces: Literal["first", "words", "all"] = "first"
    """tags only: `words` labels every piece of a word with its tag, and reads the word's answer at its first piece, as
    `first` does. `all` labels every piece and scores pieces, so that a word of three pieces tagged B is three entities,
    as in code that others trained with (Rohanian et al. 2022)."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.depth_format and self.kind != "text_to_text":
            raise ValueError("depth_format is for kind text_to_text")
        if not self.mask_padding and not self.depth_format:
            raise ValueError("mask_padding: false is for depth_format: true")
        return self


class FinetuneSettings(BaseModel):
    """Fine-tuning of every checkpoint of a ladder with every learning rate."""

    model_config = _STRICT

    task: TaskSettings
    """Task, template and scores."""
    engine: EngineSettings
    """Training loop; its learning rate is replaced by each of `learning_rates`."""
    learning_rates: list[float] = Field(min_length=1)
    """Peak learning rates of the sweep."""
    epochs: float | None = Field(default=None, gt=0)
    """Passes over the training examples; replaces engine.steps where given."""
    group_by_length: bool = False
    """Train on batches of similar length: less padding, so faster; published recipes draw batches at random."""
    dropout: float = Field(default=0.0, ge=0, lt=1)
    """Dropout of every layer while fine-tuning."""
    splits: list[str] = ["validation"]
    """Splits to predict and score."""
    train_limit: int | None = Field(default=None, ge=1)
    """Use only this many training examples, chosen at random once; null: all."""
    train_limit_per_task: int | None = Field(default=None, ge=1)
    """Use only this many training examples of each task of a mixture (column `task`); null: all."""
    eval_limit: int | None = Field(default=None, ge=1)
    """Use only this many examples of each scored split, chosen at random once; null: all."""
    resamples: int = Field(default=1000, ge=2)
    """Bootstrap samples behind the intervals `low` and `high` (95 %)."""
    embedding: EmbeddingWay | None = None
    """What is trained of the input embedding, and what is left of it; null: the whole matrix is trained and stays."""

    keep: bool = False
    """Keep every fine-tuned model with its tokenizer in the folder `models` beside the metrics, which it does not
    change."""

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        if len(set(self.learning_rates)) < len(self.learning_rates) or min(self.learning_rates) <= 0:
            raise ValueError(f"learning_rates must be positive and differ, got {self.learning_rates}")
        return self

    @model_validator(mode="after")
    def _embedding_fits(self) -> Self:
        if self.embedding is None:
            return self
        if self.task.kind == "text_to_text":
            raise ValueError("embedding is for encoders with a head: a text-to-text model shares its embedding")
        splits = getattr(self.embedding, "splits", ["train"])
        if "train" not in splits:
            raise ValueError("embedding.splits must name the split train, whose tokens are trained on")
        if unread := set(splits) - {"train", *self.splits}:
            raise ValueError(f"embedding.splits names {sorted(unread)[0]}, which is neither trained on nor scored")
        return self
