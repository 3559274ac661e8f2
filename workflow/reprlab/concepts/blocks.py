"""Documents into blocks of tokens that end with whole words, and the words beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reprlab.concepts.marks import FIRST, FURTHER
from reprlab.concepts.matching import Tokens
from reprlab.text.encoding import encode
from reprlab.text.encoding import surrounding_ids as special_ends


@dataclass
class Blocks:
    """Some blocks: ids, token types (`marks.FIRST`, `marks.FURTHER`, 0 at special tokens), lower-case words, and which
    of them an occurrence can pass on to (`Tokens.joined`)."""

    ids: list[np.ndarray] = field(default_factory=list)
    types: list[np.ndarray] = field(default_factory=list)
    words: list[list[str]] = field(default_factory=list)
    joined: list[list[bool]] = field(default_factory=list)


def cut_blocks(tokenizer: Any, texts: list[str], length: int) -> Iterator[tuple[int, Blocks]]:
    """The blocks of each text that has a word, with its place in `texts`.

    A block holds as many whole words as fit; a word without a piece is left out, and so is one longer than a block.
    """
    split = [Tokens.of(text) for text in texts]
    before, behind = special_ends(tokenizer)
    room = length - len(before) - len(behind)
    filled = [row for row, tokens in enumerate(split) if tokens.text]
    if not filled:
        return
    words = [split[row].text for row in filled]
    encoded = encode(tokenizer, words, is_split_into_words=True, return_attention_mask=False)
    for row, ids, encoding in zip(filled, encoded["input_ids"], encoded.encodings, strict=True):
        owner = np.array(encoding.word_ids, dtype=np.int64)
        pieces = np.bincount(owner, minlength=len(split[row].text))
        fit = (pieces > 0) & (pieces <= room)
        kept = np.array(ids, dtype=np.int32)[fit[owner]]
        tokens = split[row].where(fit.tolist())
        if tokens.text:
            yield row, _cut(kept, tokens, pieces[fit], room, before, behind)


def _cut(
    ids: np.ndarray, tokens: Tokens, pieces: np.ndarray, room: int, before: list[int], behind: list[int]
) -> Blocks:
    ends = np.concatenate([[0], np.cumsum(pieces)])
    types = np.full(len(ids), FURTHER, dtype=np.int16)
    types[ends[:-1]] = FIRST
    found, first = Blocks(), 0
    left, right = (np.zeros(len(part), dtype=np.int16) for part in (before, behind))
    while first < len(tokens.text):
        last = int(np.searchsorted(ends, ends[first] + room, side="right")) - 1
        part = slice(ends[first], ends[last])
        found.ids.append(np.concatenate([np.array(before, np.int32), ids[part], np.array(behind, np.int32)]))
        found.types.append(np.concatenate([left, types[part], right]))
        found.words.append([word.lower() for word in tokens.text[first:last]])
        found.joined.append(tokens.joined[first:last])
        first = last
    return found
