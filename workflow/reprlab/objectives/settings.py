"""Settings that objectives of span corruption share, by what they set."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

_STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class SpanSettings(BaseModel):
    """Which tokens are masked."""

    model_config = _STRICT

    mask_probability: float = Field(default=0.3, gt=0, lt=1)
    """Share of tokens that are masked."""
    mean_span_length: float = Field(default=3.0, ge=1)
    """Mean length of a masked span in tokens."""


class Int8Settings(BaseModel):
    """A defect of the released T5 collator."""

    model_config = _STRICT

    t5_int8_bug: bool = False
    """Reproduce the released collator's int8 gather indices, which scramble inputs beyond 127 tokens."""


class ShuffleSettings(BaseModel):
    """Settings that DEPTH adds to span corruption."""

    model_config = _STRICT

    shuffle_probability: float = Field(default=0.5, ge=0, le=1)
    """Probability, per batch, that the sentences of every encoder input are shuffled."""
    sentinel_replacement: bool = True
    """Draw each span's sentinel by itself, so that two spans can share one; the released code does."""


class CorruptionSettings(SpanSettings, ShuffleSettings, Int8Settings):
    """Corruption of both objectives."""


class PaddingSettings(BaseModel):
    """Treatment of padding by attention."""

    model_config = _STRICT

    mask_padding: bool = True
    """Hide padding from encoder and cross-attention; the released code did not."""


class AttentionSettings(PaddingSettings):
    """DEPTH's hierarchical masks."""

    mask_rows: Literal["sent", "sent_eosen"] = "sent"
    """Which tokens have restricted attention: the SENT tokens (released code) or EOSEN as well (paper)."""
    mask_keys: Literal["sent", "sent_eosen"] = "sent"
    """Which tokens the restricted rows of the decoder see."""


class LossSettings(BaseModel):
    """DEPTH's loss."""

    model_config = _STRICT

    sentence_weight: float | None = Field(default=None, gt=0, le=1000)
    """None: one mean over all labels; w: w times that over SENT and EOSEN plus that over the rest (Figure 10)."""
    count_padding_in_loss: bool = False
    """Average over the padded tail of the labels too and leave out piece `target_length`, as the released code did."""


class PreviewSettings(BaseModel):
    """Which examples are shown and how they are corrupted."""

    model_config = _STRICT

    objective: str
    """Plugin that corrupts: t5 or depth."""
    objective_settings: dict[str, Any] = Field(default_factory=dict)
    """Its settings."""
    input_length: int = Field(default=512, ge=8)
    """Tokens of the encoder input."""
    target_length: int = Field(default=512, ge=8)
    """Tokens of the target."""
    split: str = "validation"
    """Split the examples are from."""
    examples: int = Field(default=8, ge=1)
    """Number of examples."""
    seed: int = Field(default=0, ge=0)
    """Seed of the corruption."""
