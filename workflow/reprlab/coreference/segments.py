"""Documents in words become segments of sub-tokens that end where sentences end (Joshi et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from reprlab.coreference.documents import SPECIAL_SPEAKER, Document
from reprlab.coreference.rows import AnnotatedText
from reprlab.coreference.settings import SegmentSettings
from reprlab.data.splits import drawn_places
from reprlab.runtime.errors import ReprlabError
from reprlab.text.encoding import encode


def chosen_texts(texts: Sequence[AnnotatedText], settings: SegmentSettings) -> dict[str, list[AnnotatedText]]:
    """Texts by split, at most so many of each as the settings say, drawn once and for all."""
    found: dict[str, list[AnnotatedText]] = {}
    for text in texts:
        found.setdefault(text.split, []).append(text)
    places = {split: drawn_places(len(own), settings.documents.get(split), 0) for split, own in found.items()}
    return {split: [found[split][place] for place in kept] for split, kept in places.items()}


def segment_text(text: AnnotatedText, tokenizer: Any, settings: SegmentSettings) -> Document:
    """Cut one document into segments of at most `segment_length` sub-tokens, [CLS] and [SEP] included.

    A segment ends at the last end of a sentence that fits, or, where none does, at the last end of a word. [SEP] is
    numbered with the sentence and the word before it, [CLS] with the word before it; behind the end of a
    sentence both belong to the next sentence, as in the authors' code.

    Raises:
        ReprlabError: one word has more sub-tokens than a segment.
    """
    words = text.words
    pieces = encode(tokenizer, words)["input_ids"] if words else []
    # A word of characters that the tokenizer drops keeps its place.
    pieces = [ids or [tokenizer.unk_token_id] for ids in pieces]
    counts = np.array([len(ids) for ids in pieces])
    ends = np.cumsum(counts)
    sentence_ends = ends[np.cumsum([len(sentence) for sentence in text.sentences]) - 1]
    cuts = _cuts(ends, sentence_ends, settings.segment_length - 2, text.key)
    flat = tokenizer.convert_ids_to_tokens(list(chain.from_iterable(pieces)))
    word = np.repeat(np.arange(len(words)), counts)
    # Sentences that have ended before each sub-token.
    sentence = np.searchsorted(sentence_ends, np.arange(ends[-1]), side="right")
    spoken = [text.speakers[number] for number in word]
    parts = list(zip([0, *cuts[:-1]], cuts, strict=True))
    after = np.searchsorted(sentence_ends, cuts, side="right")
    marks = [(tokenizer.cls_token, tokenizer.sep_token)] * len(parts)
    before_word = np.concatenate([[0], word[np.array(cuts[:-1], dtype=int) - 1]])
    before_sentence = np.concatenate([[0], after[:-1]])
    # Each segment before a piece adds two special tokens, and its own [CLS] one.
    shift = 2 * np.searchsorted(np.array(cuts), np.arange(ends[-1]), side="right") + 1
    clusters = [
        tuple((_place(ends - counts, shift, first), _place(ends - 1, shift, last)) for first, last in one)
        for one in text.clusters
        if len(one) > 1 or settings.singletons
    ]
    return Document(
        text.key,
        tuple((first, *flat[start:end], last) for (first, last), (start, end) in zip(marks, parts, strict=True)),
        tuple(one for start, end in parts for one in (SPECIAL_SPEAKER, *spoken[start:end], SPECIAL_SPEAKER)),
        _framed(sentence, parts, before_sentence, after),
        _framed(word, parts, before_word, word[np.array(cuts) - 1]),
        tuple(sorted(clusters)),
    )


def _cuts(word_ends: np.ndarray, sentence_ends: np.ndarray, room: int, key: str) -> list[int]:
    """Where each segment ends, in sub-tokens of the text."""
    cuts = [0]
    while cuts[-1] < word_ends[-1]:
        limit = cuts[-1] + room
        for ends in (sentence_ends, word_ends):
            cut = int(ends[max(int(np.searchsorted(ends, limit, side="right")) - 1, 0)])
            if cuts[-1] < cut <= limit:
                break
        else:
            raise ReprlabError(f"{key}: a word has more than {room} sub-tokens; raise segment_length")
        cuts.append(cut)
    return cuts[1:]


def _place(places: np.ndarray, shift: np.ndarray, word: int) -> int:
    return int(places[word] + shift[places[word]])


def _framed(values: np.ndarray, parts: Sequence[tuple[int, int]], first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Values of the sub-tokens, segment by segment with those of [CLS] and [SEP] around."""
    framed = [
        np.concatenate([[one], values[start:end], [other]])
        for (start, end), one, other in zip(parts, first, last, strict=True)
    ]
    return np.concatenate(framed).astype(np.int64)
