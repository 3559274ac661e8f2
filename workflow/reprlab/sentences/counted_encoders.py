"""Sentence encoders as they are counted, on the meta device."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from reprlab.models.counted_models import ALONE, CountedModel, Powers, split_parameters, tokens
from reprlab.sentences.settings import EncoderSettings, TextForm

if TYPE_CHECKING:
    import torch


def costing_alike(encoder: EncoderSettings) -> EncoderSettings:
    """The settings of all encoders that cost as much: where a prompt is, what is pooled and how texts are written is
    free."""
    free = {"start": "normal", "pooling": "last", "position": "append", "bidirectional": False, "normalised": False}
    free["both_ends"] = False
    return encoder.model_copy(update={**free, "form": TextForm()})


@dataclass(frozen=True)
class CountedEncoder(CountedModel):
    """A decoder as a sentence encoder: without its output layer, cut to its layers, with what is trained beside it."""

    encoder: EncoderSettings = field(kw_only=True)
    """How it is made; its layers are a number, or all."""

    def key(self) -> Hashable:
        """See `CountedModel`."""
        return super().key(), self._alike().model_dump_json()

    def _alike(self) -> EncoderSettings:
        # How many layers there are is told by the blocks.
        return costing_alike(self.encoder).model_copy(update={"layers": None})

    @property
    def blocks(self) -> int | None:
        """The layers that are kept."""
        return super().blocks if self.encoder.layers is None else int(self.encoder.layers)

    def with_blocks(self, count: int) -> Self:
        """See `CountedModel`; it is not cut any further."""
        return replace(super().with_blocks(count), encoder=self.encoder.model_copy(update={"layers": None}))

    def powers(self, network: Any, training: bool) -> Powers:
        """See `CountedModel`."""
        return ALONE

    def network(self) -> Any:
        """See `CountedModel`."""
        import torch

        from reprlab.sentences.encoder import build_encoder

        model = super().network()
        with torch.device("meta"):
            encoder = build_encoder(model, self._alike(), 0)
        encoder.config = model.config
        return encoder.train()

    def parameters(self, network: Any) -> tuple[int, int]:
        """See `CountedModel`."""
        return split_parameters(network, adapted=self.encoder.method != "full")

    def run(self, network: Any, examples: int, encoder: int, decoder: int, training: bool) -> torch.Tensor:
        """See `CountedModel`."""
        ids = tokens(examples, encoder)
        seen = ids.new_ones(ids.shape)
        found: torch.Tensor = network({"input_ids": ids, "attention_mask": seen, "text_mask": seen}).sum()
        return found

    def outputs(self, network: Any) -> int:
        """See `CountedModel`."""
        return 0
