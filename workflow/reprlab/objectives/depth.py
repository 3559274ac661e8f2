"""Plugin `depth`: span corruption and sentence un-shuffling at once (DEPTH, section 3; spec 2.2 to 2.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reprlab.objectives.objective import IGNORED, PretrainingObjective, Rows
from reprlab.objectives.settings import AttentionSettings, LossSettings, ShuffleSettings, SpanSettings

if TYPE_CHECKING:
    import numpy as np
    import torch


class Settings(SpanSettings, ShuffleSettings, AttentionSettings, LossSettings):
    """DEPTH's corruption, masks and loss."""


class Objective(PretrainingObjective[Settings]):
    """Batches and loss of DEPTH."""

    token_format = "depth"  # noqa: S105 (not a secret)

    def corrupt(self, rows: Rows) -> dict[str, np.ndarray]:
        """`encoder_ids` and `encoder_types` [B, Le], `decoder_ids` and `labels` [B, Ld].

        Labels have -100 behind the end (0 with `count_padding_in_loss`). The coin for shuffling is drawn first, so
        that forcing it leaves the masks as they are.
        """
        from reprlab.objectives import corruption
        from reprlab.objectives.span_mask import depth_span_mask

        settings, vocabulary, rng = self.settings, self.vocabulary, rows.rng
        coin = rng.random() < settings.shuffle_probability
        ids, types = corruption.close_truncated(rows.ids, rows.types, rows.lengths, vocabulary)
        special = vocabulary.is_special(ids)
        mask = depth_span_mask(
            ids, rows.lengths, special, rng, density=settings.mask_probability, mean_span=settings.mean_span_length
        )
        starts = corruption.span_starts(mask)
        sentinels = corruption.random_sentinels(starts, vocabulary, rng, replacement=settings.sentinel_replacement)
        encoder_ids, kept = corruption.replace_spans(ids, rows.lengths, mask, starts, sentinels)
        encoder_types = corruption.compact(types, kept)
        labels = corruption.span_labels(ids, mask | (ids >= vocabulary.first_sentence), starts, sentinels)
        if coin if rows.shuffled is None else rows.shuffled:
            encoder_ids, encoder_types = corruption.shuffle_sentences(encoder_ids, encoder_types, rng, vocabulary)
        encoder_ids = corruption.fit(encoder_ids, self.input_length, vocabulary.pad_id, rows.fixed_length)
        encoder_types = corruption.fit(encoder_types, self.input_length, 0, rows.fixed_length)
        labels = corruption.fit(
            labels, self.target_length, IGNORED, rows.fixed_length or settings.count_padding_in_loss
        )
        decoder_ids = corruption.shift_right(labels, vocabulary.pad_id)
        if settings.count_padding_in_loss:
            labels = corruption.padding_as_labels(labels, ignored_piece=self.target_length, pad_id=vocabulary.pad_id)
        return {
            "encoder_ids": encoder_ids,
            "encoder_types": encoder_types,
            "labels": labels,
            "decoder_ids": decoder_ids,
        }

    def loss(self, model: Any, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """The loss to minimise and its parts (see `losses.decomposed_loss`)."""
        from reprlab.objectives.attention_masks import pretraining_masks
        from reprlab.objectives.losses import batch_loss
        from reprlab.objectives.masked_seq2seq import mask_dtype

        settings = self.settings
        masks = pretraining_masks(
            batch["encoder_ids"],
            batch["encoder_types"],
            batch["decoder_ids"],
            self.vocabulary,
            dtype=mask_dtype(model),
            mask_rows=settings.mask_rows,
            mask_keys=settings.mask_keys,
            mask_padding=settings.mask_padding,
        )
        return batch_loss(model, batch, masks, self.vocabulary, settings.sentence_weight)
