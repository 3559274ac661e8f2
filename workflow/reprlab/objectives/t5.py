"""Plugin `t5`: span corruption as T5 does it (Raffel et al. 2020; spec 2.2, 2.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reprlab.objectives.settings import Int8Settings, PaddingSettings, SpanSettings
from reprlab.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    import torch


class Settings(SpanSettings, PaddingSettings, Int8Settings):
    """Span corruption of the T5 baseline."""


class Objective:
    """Batches and loss of span corruption. The mask is drawn over `input_length`, as upstream's padded rows have it."""

    token_format = "t5"  # noqa: S105 (not a secret)

    def __init__(self, settings: Settings, vocabulary: Vocabulary, input_length: int, target_length: int) -> None:
        self.settings = settings
        self.vocabulary = vocabulary
        self.input_length = input_length
        self.target_length = target_length

    def collate(
        self,
        ids: np.ndarray,
        types: np.ndarray,
        lengths: np.ndarray,
        rng: np.random.Generator,
        *,
        shuffled: bool | None = None,
        fixed_length: bool = False,
    ) -> dict[str, np.ndarray]:
        """Corrupt a batch.

        Args:
            ids: [B, L] int32 padded with 0, L at most `input_length`; types is not used; lengths: [B].
            shuffled: has no meaning here.
            fixed_length: pad to `input_length` and `target_length` instead of the longest row.

        Returns:
            int64 arrays `encoder_ids` [B, Le], `decoder_ids` [B, Ld], `labels` [B, Ld] with -100 behind the end.
        """
        from reprlab.objectives import corruption
        from reprlab.objectives.int8_gather import scrambled_corruption
        from reprlab.objectives.span_mask import t5_span_mask

        vocabulary = self.vocabulary
        mask = t5_span_mask(
            ids,
            self.input_length,
            rng,
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
            encoder_ids, _ = corruption.replace_spans(ids, lengths, mask, starts, sentinels)
            labels = corruption.span_labels(ids, mask, starts, sentinels)
        encoder_ids = corruption.fit(encoder_ids, self.input_length, vocabulary.pad_id, fixed_length)
        labels = corruption.fit(labels, self.target_length, corruption.IGNORED, fixed_length)
        return {
            "encoder_ids": encoder_ids,
            "labels": labels,
            "decoder_ids": corruption.shift_right(labels, vocabulary.pad_id),
        }

    def loss(self, model: Any, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Mean cross-entropy over the labels, and its parts (see `losses.decomposed_loss`)."""
        from reprlab.objectives.attention_masks import plain_masks
        from reprlab.objectives.losses import batch_loss
        from reprlab.objectives.masked_seq2seq import mask_dtype

        masks = plain_masks(
            batch["encoder_ids"],
            batch["decoder_ids"].shape[1],
            dtype=mask_dtype(model),
            pad_id=self.vocabulary.pad_id,
            mask_padding=self.settings.mask_padding,
        )
        return batch_loss(model, batch, masks, self.vocabulary)
