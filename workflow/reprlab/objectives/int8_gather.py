"""A defect of DEPTH's released T5 collator, kept as a switch so that its effect can be measured (spec 8).

The released `filter_input_ids_for_t5` and `filter_target_ids_for_t5` cast the indices of the tokens that they keep to
int8. Beyond 127 these wrap to negative numbers, which numpy counts from the row's end: of a row of 512, the tokens 128
to 384 are lost from inputs and labels, and others come twice. Up to 127 tokens the result is correct.
"""

from __future__ import annotations

import numpy as np

from reprlab.objectives.objective import IGNORED


def scrambled_corruption(
    ids: np.ndarray, mask: np.ndarray, starts: np.ndarray, sentinels: np.ndarray, padded_length: int
) -> tuple[np.ndarray, np.ndarray]:
    """The batch of the released T5 collator.

    Args:
        ids, mask, starts: [B, L]; sentinels in row-major order of `starts`.
        padded_length: to which upstream pads rows before it corrupts them; the wrap depends on it.

    Returns:
        encoder ids [B, padded_length] int64 and labels [B, padded_length] int64, 0 read as ignored.
    """
    rows, width = ids.shape
    source = np.zeros((rows, padded_length), dtype=np.int64)
    source[:, :width] = ids
    source[:, :width][starts] = sentinels
    continued = np.zeros(source.shape, dtype=bool)
    continued[:, :width] = mask & ~starts
    source[continued] = -1
    encoder_ids = _wrapped_compaction(np.pad(source, [(0, 0), (0, 1)], constant_values=-1), continued)
    encoder_ids[encoder_ids == -1] = 0

    # A span's tokens stand one place to the right of their own, behind the sentinel.
    target = np.zeros((rows, padded_length + 1), dtype=np.int64)
    target[:, :width][starts] = sentinels
    shifted = target[:, 1 : width + 1]
    shifted[mask] = ids[mask]
    target[:, padded_length] = 0
    labels = _wrapped_compaction(target, target[:, :-1] == 0)
    labels[labels == 0] = IGNORED
    return encoder_ids, labels


def _wrapped_compaction(values: np.ndarray, dropped: np.ndarray) -> np.ndarray:
    """Gather the columns of `values` [B, L + 1] that are not `dropped` [B, L], then column L, by int8 indices."""
    last = values.shape[1] - 1
    indices = np.where(dropped, last, np.arange(last))
    indices.sort(axis=1)
    return np.take_along_axis(values, indices.astype(np.int8), axis=1)
