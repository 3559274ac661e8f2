"""Plugin `t5`: span corruption as T5 does it (Raffel et al. 2020; spec 2.2, 2.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reprlab.objectives.objective import IGNORED, PretrainingObjective, Rows
from reprlab.objectives.settings import Int8Settings, PaddingSettings, SpanSettings

if TYPE_CHECKING:
    import numpy as np
    import torch


class Settings(SpanSettings, PaddingSettings, Int8Settings):
    """Span corruption of the T5 baseline."""


class Objective(PretrainingObjective[Settings]):
    """Batches and loss of span corruption. The mask is drawn over `input_length`, as upstream's padded rows have it."""

    token_format = "t5"  # noqa: S105 (not a secret)

    def corrupt(self, rows: Rows) -> dict[str, np.ndarray]:
        """`encoder_ids` [B, Le], `decoder_ids` [B, Ld] and `labels` [B, Ld] with -100 behind the end.

        Rows have at most `input_length` tokens; `shuffled` has no meaning here.
        """
        from reprlab.objectives import corruption
        from reprlab.objectives.int8_gather import scrambled_corruption
        from reprlab.objectives.span_mask import t5_span_mask

        vocabulary, ids = self.vocabulary, rows.ids
        mask = t5_span_mask(
            ids,
            self.input_length,
            rows.rng,
            density=self.settings.mask_probability,
            mean_span=self.settings.mean_span_length,
            pad_id=vocabulary.pad_id,
            eos_id=vocabulary.eos_id,
        )
        starts = corruption.span_starts(mask)
        sentinels = corruption.ordered_sentinels(starts, vocabulary)
        if self.settings.t5_int8_bug:
            encoder_ids, labels = scrambled_corruption(ids, mask, starts, sentinels, self.input_length)
        else:
            encoder_ids, _ = corruption.replace_spans(ids, rows.lengths, mask, starts, sentinels)
            labels = corruption.span_labels(ids, mask, starts, sentinels)
        encoder_ids = corruption.fit(encoder_ids, self.input_length, vocabulary.pad_id, rows.fixed_length)
        labels = corruption.fit(labels, self.target_length, IGNORED, rows.fixed_length)
        return {
            "encoder_ids": encoder_ids,
            "labels": labels,
            "decoder_ids": corruption.shift_right(labels, vocabulary.pad_id),
        }

    def loss(self, model: Any, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Mean cross-entropy over the labels, and its parts (see `losses.decomposed_loss`)."""
        from reprlab.objectives.losses import seq2seq_loss

        return seq2seq_loss(model, batch, self.vocabulary, mask_padding=self.settings.mask_padding)
