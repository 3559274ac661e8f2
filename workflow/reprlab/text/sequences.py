"""Token sequences of passages in T5's and DEPTH's format, assembled without a loop over tokens (spec 2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from reprlab.text.encoding import piece_ids
from reprlab.text.published_vocabulary import PublishedVocabulary
from reprlab.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class Sequences:
    """Rows of tokens, flat: row i is `[offsets[i]:offsets[i + 1]]` of `ids` (int32) and `types` (int16)."""

    ids: np.ndarray
    types: np.ndarray
    offsets: np.ndarray


@dataclass(frozen=True)
class EncodedPassages:
    """Tokens of sentences of passages, flat.

    Attributes:
        ids: [tokens] int32, without special tokens but unk.
        lengths: [sentences] tokens of each sentence, at least 1.
        passages: [sentences] ascending number of the passage from 0.
        numbers: [sentences] place of the sentence in its passage from 0.
        count: number of passages; some may have no sentence.
    """

    ids: np.ndarray
    lengths: np.ndarray
    passages: np.ndarray
    numbers: np.ndarray
    count: int

    def first_sentences(self, limit: int) -> EncodedPassages:
        """The same passages without the sentences beyond the first `limit`."""
        kept = self.numbers < limit
        ids = self.ids[np.repeat(kept, self.lengths)]
        return EncodedPassages(ids, self.lengths[kept], self.passages[kept], self.numbers[kept], self.count)


def encode_passages(
    tokenizer: Any, passages: list[list[str]], vocabulary: Vocabulary | PublishedVocabulary
) -> EncodedPassages:
    """Tokenise the sentences of each passage; sentences without a token are left out.

    Ids to which the layout gives a role, and the tokenizer none, become unk: they must not act as special tokens.
    """
    sentences = [sentence for passage in passages for sentence in passage]
    encoded = piece_ids(tokenizer, sentences)
    lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
    ids = np.fromiter(chain.from_iterable(encoded), dtype=np.int32, count=int(lengths.sum()))
    ids[vocabulary.is_special(ids)] = vocabulary.unk_id
    sizes = np.fromiter(map(len, passages), dtype=np.int64, count=len(passages))
    owner = np.repeat(np.arange(len(passages)), sizes)
    filled = lengths > 0
    lengths, owner = lengths[filled], owner[filled]
    per_passage = np.bincount(owner, minlength=len(passages))
    numbers = np.arange(len(owner)) - np.repeat(np.cumsum(per_passage) - per_passage, per_passage)
    return EncodedPassages(ids, lengths, owner, numbers, len(passages))


def draw_sentence_tokens(passages: int, vocabulary: Vocabulary, rng: np.random.Generator) -> np.ndarray:
    """[passages, sentences] int32: for each passage a uniform order of all SENT tokens (spec 2.1)."""
    order = rng.random((passages, vocabulary.sentences)).argsort(axis=1)
    return vocabulary.sentence_ids[order]


def t5_sequences(
    encoded: EncodedPassages, vocabulary: Vocabulary | PublishedVocabulary, max_length: int, start: int | None = None
) -> Sequences:
    """`x .. EOS` for each passage, cut to `max_length` with the EOS kept; all types are 1.

    With the id `start` it is `start x ..` instead.
    """
    tokens = np.bincount(encoded.passages, weights=encoded.lengths, minlength=encoded.count).astype(np.int64)
    owner = np.repeat(encoded.passages, encoded.lengths)
    place = np.arange(len(owner)) - (np.cumsum(tokens) - tokens)[owner]
    kept = place < max_length - 1
    sizes = np.minimum(tokens, max_length - 1) + 1
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    ids = np.full(offsets[-1], vocabulary.eos_id if start is None else start, dtype=np.int32)
    ids[(offsets[owner] + place + (start is not None))[kept]] = encoded.ids[kept]
    return Sequences(ids, np.ones(len(ids), dtype=np.int16), offsets)


def depth_sequences(
    encoded: EncodedPassages, vocabulary: Vocabulary, max_length: int, sentence_tokens: np.ndarray
) -> Sequences:
    """`EOSEN SENT_a x .. EOSEN SENT_b .. EOSEN EOS` for each passage, cut to `max_length`.

    The leading EOSEN makes every SENT follow an EOSEN. Types number the sentences from 1; the leading EOSEN is 1, EOS
    belongs to the last sentence. Sentences beyond the number of sentence tokens are dropped. Cut rows have no EOS:
    `objectives.corruption.close_truncated` gives them an end.

    Args:
        sentence_tokens: [passages, sentences] SENT ids in the order of use.
    """
    encoded = encoded.first_sentences(vocabulary.sentences)
    blocks = encoded.lengths + 2
    totals = np.bincount(encoded.passages, weights=blocks, minlength=encoded.count).astype(np.int64) + 2
    offsets = np.concatenate([[0], np.cumsum(totals)])
    ids = np.full(offsets[-1], vocabulary.eosen_id, dtype=np.int32)
    types = np.ones(offsets[-1], dtype=np.int16)
    # Before the block of a sentence come all blocks before it, and of each passage so far the EOSEN and the EOS.
    starts = np.cumsum(blocks) - blocks + 2 * encoded.passages + 1
    ids[starts] = sentence_tokens[encoded.passages, encoded.numbers]
    within = np.arange(len(encoded.ids)) - np.repeat(np.cumsum(encoded.lengths) - encoded.lengths, encoded.lengths)
    ids[np.repeat(starts + 1, encoded.lengths) + within] = encoded.ids
    ids[offsets[1:] - 1] = vocabulary.eos_id
    block_place = np.arange(int(blocks.sum())) - np.repeat(np.cumsum(blocks) - blocks, blocks)
    types[np.repeat(starts, blocks) + block_place] = np.repeat(encoded.numbers + 1, blocks)
    types[offsets[1:] - 1] = types[offsets[1:] - 2]
    place = np.arange(len(ids)) - np.repeat(offsets[:-1], totals)
    kept = place < max_length
    cut = np.concatenate([[0], np.cumsum(np.minimum(totals, max_length))])
    return Sequences(ids[kept], types[kept], cut)
