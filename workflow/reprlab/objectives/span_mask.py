"""T5's span sampler over a whole batch (spec 2.2; Raffel et al. 2020, `random_spans_noise_mask`)."""

from __future__ import annotations

import numpy as np

# Sort keys carry their own position in the low bits, so that one sort both draws a subset and names its members.
_POSITION_BITS = 16


def noise_counts(lengths: np.ndarray, density: float, mean_span: float) -> tuple[np.ndarray, np.ndarray]:
    """How many tokens are masked, in how many spans: round(L * density), round(tokens / mean_span), half to even.

    Args:
        lengths: [B] tokens per row; rows shorter than 2 count as 2.

    Returns:
        masked tokens [B] and spans [B], int64.
    """
    lengths = np.maximum(np.asarray(lengths, dtype=np.int64), 2)
    noise = np.clip(np.round(lengths * density).astype(np.int64), 1, lengths - 1)
    spans = np.maximum(np.round(noise / mean_span).astype(np.int64), 1)
    # A high density leaves fewer unmasked tokens than spans; each span needs one before it.
    return noise, np.minimum(spans, lengths - noise)


def random_compositions(totals: np.ndarray, parts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Split each total into this many positive parts, all such ordered splits being equally likely.

    A composition of n into k parts is a choice of k - 1 of the n - 1 places between items.

    Args:
        totals: [B] at least `parts`, below 65,536.
        parts: [B] at least 1.

    Returns:
        [B, max(parts)] int64, 0 behind a row's last part.
    """
    width = int(parts.max())
    cuts = _random_cuts(totals, parts, width, rng)
    edges = np.empty((len(totals), width + 1), dtype=np.int64)
    edges[:, 0] = 0
    edges[:, 1:width] = cuts
    edges[:, width] = totals
    return np.diff(edges, axis=1)


def _random_cuts(totals: np.ndarray, parts: np.ndarray, width: int, rng: np.random.Generator) -> np.ndarray:
    """[B, width - 1] cut places in ascending order, filled up with the total."""
    rows, places = len(totals), int(totals.max()) - 1
    if width == 1:
        return np.empty((rows, 0), dtype=np.int64)
    # 48 random bits above 16 bits of position: unique keys, and an order that is uniform to within 2**-48 per pair.
    keys = rng.integers(0, 2**64, size=(rows, places), dtype=np.uint64)
    position = np.arange(places, dtype=np.uint64)
    keys &= np.uint64(2**64 - 2**_POSITION_BITS)
    keys |= position
    keys[position >= (totals[:, None] - 1).astype(np.uint64)] = np.iinfo(np.uint64).max
    keys.sort(axis=1)
    cuts = (keys[:, : width - 1] & np.uint64(2**_POSITION_BITS - 1)).astype(np.int64) + 1
    cuts = np.where(np.arange(width - 1) < parts[:, None] - 1, cuts, totals[:, None])
    cuts.sort(axis=1)
    return cuts


def random_span_mask(
    lengths: np.ndarray, width: int, rng: np.random.Generator, *, density: float, mean_span: float, roll: bool = True
) -> np.ndarray:
    """Mask about `density` of each row's tokens in spans of `mean_span` tokens on average.

    Unmasked and masked parts alternate, an unmasked one first; then the row is rolled by a uniform offset, which can
    cut one span in two.

    Args:
        lengths: [B] tokens per row, at most `width`; rows of fewer than 2 tokens stay unmasked.

    Returns:
        [B, width] bool, False beyond each row's length.
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    noise, spans = noise_counts(lengths, density, mean_span)
    padded = np.maximum(lengths, 2)
    kept_parts = random_compositions(padded - noise, spans, rng)
    noise_parts = random_compositions(noise, spans, rng)
    interleaved = np.stack([kept_parts, noise_parts], axis=2).reshape(len(lengths), -1)
    borders = np.minimum(np.cumsum(interleaved, axis=1), width)
    toggles = np.zeros((len(lengths), width + 1), dtype=np.uint8)
    np.put_along_axis(toggles, borders, 1, axis=1)
    mask = np.bitwise_xor.accumulate(toggles, axis=1)[:, :width].astype(bool)
    if roll:
        mask = _roll(mask, padded, rng)
    columns = np.arange(width)
    return mask & (columns < np.where(lengths < 2, 0, lengths)[:, None])


def _roll(mask: np.ndarray, lengths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rotate the first `lengths[b]` columns of row b to the right by a uniform offset."""
    offsets = rng.integers(0, lengths)
    source = np.arange(mask.shape[1], dtype=np.int64) - offsets[:, None]
    source += np.where(source < 0, lengths[:, None], 0)
    rows = np.arange(len(mask))[:, None] * mask.shape[1]
    return mask.reshape(-1)[np.minimum(source, mask.shape[1] - 1) + rows]


def t5_span_mask(
    ids: np.ndarray,
    padded_length: int,
    rng: np.random.Generator,
    *,
    density: float,
    mean_span: float,
    pad_id: int,
    eos_id: int,
) -> np.ndarray:
    """T5's mask [B, L]: drawn over the padded length, then cleared on padding and EOS (spec 2.2)."""
    full = np.full(len(ids), padded_length)
    mask = random_span_mask(full, padded_length, rng, density=density, mean_span=mean_span)[:, : ids.shape[1]]
    return mask & (ids != pad_id) & (ids != eos_id)


def depth_span_mask(
    ids: np.ndarray,
    lengths: np.ndarray,
    special: np.ndarray,
    rng: np.random.Generator,
    *,
    density: float,
    mean_span: float,
) -> np.ndarray:
    """DEPTH's mask [B, L]: drawn over each row's tokens, moved right by two, cleared where `special` (spec 2.2)."""
    drawn = random_span_mask(lengths, ids.shape[1], rng, density=density, mean_span=mean_span)
    mask = np.zeros_like(drawn)
    mask[:, 2:] = drawn[:, :-2]
    return mask & ~special
