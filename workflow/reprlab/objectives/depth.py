"""Plugin `depth`: span corruption and sentence un-shuffling at once (DEPTH, section 3; spec 2.2 to 2.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reprlab.objectives.settings import AttentionSettings, LossSettings, ShuffleSettings, SpanSettings
from reprlab.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    import torch


class Settings(SpanSettings, ShuffleSettings, AttentionSettings, LossSettings):
    """DEPTH's corruption, masks and loss."""


class Objective:
    """Batches and loss of DEPTH."""

    token_format = "depth"  # noqa: S105 (not a secret)

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
        """Corrupt a batch; the coin for shuffling is drawn first, so that forcing it leaves the masks as they are.

        Args:
            ids, types: [B, L] DEPTH-format tokens and sentence numbers, 0 on padding; lengths: [B].
            shuffled: shuffle, or not; None lets the coin decide.
            fixed_length: pad to `input_length` and `target_length` instead of the longest row.

        Returns:
            int64 arrays `encoder_ids` and `encoder_types` [B, Le], `decoder_ids` and `labels` [B, Ld], labels with
            -100 behind the end (0 with `count_padding_in_loss`).
        """
        from reprlab.objectives import corruption
        from reprlab.objectives.span_mask import depth_span_mask

        settings, vocabulary = self.settings, self.vocabulary
        coin = rng.random() < settings.shuffle_probability
        ids, types = corruption.close_truncated(ids, types, lengths, vocabulary)
        special = vocabulary.is_special(ids)
        mask = depth_span_mask(
            ids, lengths, special, rng, density=settings.mask_probability, mean_span=settings.mean_span_length
        )
        starts = corruption.span_starts(mask)
        sentinels = corruption.random_sentinels(starts, vocabulary, rng, replacement=settings.sentinel_replacement)
        encoder_ids, kept = corruption.replace_spans(ids, lengths, mask, starts, sentinels)
        encoder_types = corruption.compact(types, kept)
        labels = corruption.span_labels(ids, mask | (ids >= vocabulary.first_sentence), starts, sentinels)
        if coin if shuffled is None else shuffled:
            encoder_ids, encoder_types = corruption.shuffle_sentences(encoder_ids, encoder_types, rng, vocabulary)
        encoder_ids = corruption.fit(encoder_ids, self.input_length, vocabulary.pad_id, fixed_length)
        encoder_types = corruption.fit(encoder_types, self.input_length, 0, fixed_length)
        labels = corruption.fit(
            labels, self.target_length, corruption.IGNORED, fixed_length or settings.count_padding_in_loss
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
