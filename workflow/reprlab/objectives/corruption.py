"""Corruption of token batches: T5's span corruption, and DEPTH's with sentence shuffling (spec 2.3).

All functions work on whole batches: rows are compacted by boolean selection, which keeps row-major order.
"""

from __future__ import annotations

import numpy as np

from reprlab.objectives.objective import IGNORED
from reprlab.runtime.errors import ReprlabError
from reprlab.text.vocabulary import Vocabulary


def span_starts(mask: np.ndarray) -> np.ndarray:
    """True at the first token of each masked span; `mask` is [B, L] bool."""
    starts = mask.copy()
    starts[:, 1:] &= ~mask[:, :-1]
    return starts


def ordered_sentinels(starts: np.ndarray, vocabulary: Vocabulary) -> np.ndarray:
    """T5's sentinels, in row-major order of `starts`: the k-th span of a row gets `<extra_id_{k-1}>`.

    Raises:
        ReprlabError: a row has more spans than there are sentinels.
    """
    counts = _checked_counts(starts, vocabulary)
    table = np.broadcast_to(vocabulary.sentinel_ids, (len(starts), vocabulary.sentinels))
    return table[np.arange(vocabulary.sentinels) < counts[:, None]]


def random_sentinels(
    starts: np.ndarray, vocabulary: Vocabulary, rng: np.random.Generator, *, replacement: bool
) -> np.ndarray:
    """DEPTH's sentinels, in row-major order of `starts`: uniform over all, so that none betrays its position.

    Args:
        replacement: draw each by itself, so that two spans of a row can share one (upstream); else all differ.

    Raises:
        ReprlabError: without replacement, a row has more spans than there are sentinels.
    """
    if replacement:
        return rng.integers(vocabulary.pieces, vocabulary.first_sentence, size=int(starts.sum()), dtype=np.int32)
    counts = _checked_counts(starts, vocabulary)
    drawn = rng.permuted(np.broadcast_to(vocabulary.sentinel_ids, (len(starts), vocabulary.sentinels)), axis=1)
    return drawn[np.arange(vocabulary.sentinels) < counts[:, None]]


def _checked_counts(starts: np.ndarray, vocabulary: Vocabulary) -> np.ndarray:
    counts = starts.sum(axis=1)
    if counts.max(initial=0) > vocabulary.sentinels:
        raise ReprlabError(
            f"input_length: a row of {starts.shape[1]} tokens has {counts.max()} masked spans and there are only "
            f"{vocabulary.sentinels} sentinels; shorten input_length, lower the mask rate or lengthen the spans"
        )
    return counts


def replace_spans(
    ids: np.ndarray, lengths: np.ndarray, mask: np.ndarray, starts: np.ndarray, sentinels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The encoder's side: each span becomes its sentinel.

    Args:
        ids: [B, L]; `lengths` [B] tokens per row; `mask`, `starts` [B, L]; `sentinels` in row-major order of `starts`.

    Returns:
        encoder ids [B, longest] int64 padded with 0, and the kept positions [B, L] bool.
    """
    kept = (np.arange(ids.shape[1]) < lengths[:, None]) & (~mask | starts)
    values = ids.copy()
    values[starts] = sentinels
    return compact(values, kept), kept


def compact(values: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Move the kept values of each row to its left; [B, longest] int64, 0 behind them."""
    return _fill_rows(values[kept], kept.sum(axis=1), fill=0)


def _fill_rows(flat: np.ndarray, counts: np.ndarray, *, fill: int) -> np.ndarray:
    """Lay `counts[b]` consecutive values of `flat` into row b."""
    # At least one column: a batch whose masks all fell on padding has no label, and still is a batch.
    rows = np.full((len(counts), int(counts.max(initial=1))), fill, dtype=np.int64)
    rows[np.arange(rows.shape[1]) < counts[:, None]] = flat
    return rows


def fit(rows: np.ndarray, length: int, fill: int, fixed_length: bool) -> np.ndarray:
    """Cut [B, L] rows to `length`; with `fixed_length` pad shorter ones to it as well."""
    if fixed_length and rows.shape[1] < length:
        return np.pad(rows, [(0, 0), (0, length - rows.shape[1])], constant_values=fill)
    return np.ascontiguousarray(rows[:, :length])


def padding_as_labels(labels: np.ndarray, *, ignored_piece: int, pad_id: int) -> np.ndarray:
    """Labels as DEPTH's released collator has them: padding counts, and one piece is left out instead (spec 8).

    The collator was built with `pad_token_id=target_length`, so -100 went to the piece of that number.
    """
    return np.where(labels == IGNORED, pad_id, np.where(labels == ignored_piece, IGNORED, labels))


def span_labels(ids: np.ndarray, emitted: np.ndarray, starts: np.ndarray, sentinels: np.ndarray) -> np.ndarray:
    """The decoder's side: walk each row, put the sentinel before the first token of a span, skip what is not emitted.

    Args:
        emitted: [B, L] bool: masked tokens, and for DEPTH the SENT and EOSEN tokens as well.

    Returns:
        labels [B, longest] int64, -100 behind the end. EOS is never a label.
    """
    starts_flat = starts[emitted]
    positions = np.arange(len(starts_flat)) + np.cumsum(starts_flat)
    flat = np.empty(len(starts_flat) + len(sentinels), dtype=np.int64)
    flat[positions] = ids[emitted]
    flat[positions[starts_flat] - 1] = sentinels
    return _fill_rows(flat, emitted.sum(axis=1) + starts.sum(axis=1), fill=IGNORED)


def shift_right(labels: np.ndarray, pad_id: int) -> np.ndarray:
    """Decoder input [B, L]: the labels moved right behind the start token, which is pad; ignored labels become pad."""
    shifted = np.full_like(labels, pad_id)
    shifted[:, 1:] = labels[:, :-1]
    shifted[shifted == IGNORED] = pad_id
    return shifted


def close_truncated(
    ids: np.ndarray, types: np.ndarray, lengths: np.ndarray, vocabulary: Vocabulary
) -> tuple[np.ndarray, np.ndarray]:
    """Give rows that were cut before their EOS a proper end: the last two positions become EOSEN, EOS (spec 2.3).

    Both belong to the sentence of the token before them.

    Args:
        ids, types: [B, L]; lengths: [B], at least 3.

    Returns:
        new ids and types.
    """
    rows = np.flatnonzero(ids[np.arange(len(ids)), lengths - 1] != vocabulary.eos_id)
    if len(rows) == 0:
        return ids, types
    ids, types = ids.copy(), types.copy()
    ends = lengths[rows]
    ids[rows, ends - 2] = vocabulary.eosen_id
    ids[rows, ends - 1] = vocabulary.eos_id
    types[rows, ends - 2] = types[rows, ends - 3]
    types[rows, ends - 1] = types[rows, ends - 3]
    return ids, types


def shuffle_sentences(
    ids: np.ndarray, types: np.ndarray, rng: np.random.Generator, vocabulary: Vocabulary
) -> tuple[np.ndarray, np.ndarray]:
    """Permute the sentence blocks (SENT .. EOSEN) of each row uniformly; the identity is allowed.

    The leading EOSEN and the final EOS stay where they are. Sentences are numbered anew by place: with their old
    numbers the leading EOSEN, which counts to sentence 1, would show the attention mask which block came first.

    Args:
        ids: [B, L] DEPTH-format encoder ids, 0 on padding.
        types: [B, L] sentence numbers from 1 in ascending order, 0 on padding.

    Returns:
        new ids and types, same shapes.
    """
    (rows, width), sentences = ids.shape, vocabulary.sentences
    inside = (types > 0) & (ids != vocabulary.eos_id)
    inside[:, 0] = False
    row_index, columns = np.nonzero(inside)
    sentence = types[inside].astype(np.int64) - 1
    sizes = np.bincount(row_index * sentences + sentence, minlength=rows * sentences).reshape(rows, sentences)
    # Absent sentences (size 0) take part in the permutation and leave no trace in it.
    order = rng.permuted(np.broadcast_to(np.arange(sentences), (rows, sentences)), axis=1)
    sizes_in_order = np.take_along_axis(sizes, order, axis=1)
    old_starts = np.cumsum(sizes, axis=1) - sizes
    new_starts, places = np.empty_like(sizes), np.empty_like(sizes)
    np.put_along_axis(new_starts, order, np.cumsum(sizes_in_order, axis=1) - sizes_in_order, axis=1)
    np.put_along_axis(places, order, np.cumsum(sizes_in_order > 0, axis=1), axis=1)
    move = (new_starts - old_starts)[row_index, sentence]
    target = row_index * width + columns + move
    shuffled, numbers = ids.copy(), types.copy()
    shuffled.reshape(-1)[target] = ids[inside]
    numbers.reshape(-1)[target] = places[row_index, sentence]
    return shuffled, numbers
