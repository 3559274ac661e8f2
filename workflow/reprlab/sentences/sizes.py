"""Sizes of encoders: how many numbers are trained, and how many there are with the decoder's, without weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.registry.models import ModelEntry
from reprlab.sentences.prompt_forms import PromptForm
from reprlab.sentences.settings import EncoderSettings


class SizedEncoders(BaseModel):
    """Encoders of one decoder."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    entry: ModelEntry
    """The decoder; its origin is not looked at."""
    encoders: dict[str, EncoderSettings] = Field(min_length=1)
    """The encoders: a name, a space, and the number of vectors or the rank."""
    forms: dict[str, PromptForm] = {}
    """Of those whose prompt is trained in another form than its vectors, that form; by the same names."""


@dataclass(frozen=True)
class EncoderSize:
    """Sizes of one encoder, in numbers."""

    trained: int
    """Numbers that are trained."""
    total: int
    """The decoder with its output layer, tied weights once, and what is trained beside it (Table 4 of SPT)."""

    @property
    def share(self) -> float:
        """Percent of the total that is trained."""
        return 100 * self.trained / self.total


def encoder_size(
    entry: ModelEntry, settings: EncoderSettings, vocab_size: int | None = None, form: PromptForm | None = None
) -> EncoderSize:
    """The sizes of an encoder around the entry's architecture, counted on the meta device.

    Args:
        vocab_size: rows of the embedding in place of the entry's.
        form: what is trained in place of the vectors of a prompt.
    """
    import torch

    from reprlab.models.build import build_from_config
    from reprlab.sentences.encoder import build_encoder, trained_weights
    from reprlab.sentences.prompt_forms import reparametrise

    with torch.device("meta"):
        model: Any = build_from_config(entry, vocab_size)
    whole = sum(parameter.numel() for parameter in model.parameters())
    # Where vectors start does not change their number, and the meta device has no rows to draw.
    encoder = build_encoder(model, settings.model_copy(update={"start": "normal"}), 0)
    if form is not None:
        reparametrise(encoder, form, 0)
    trained = sum(value.numel() for value in trained_weights(encoder).values())
    return EncoderSize(trained, whole if settings.method == "full" else whole + trained)
