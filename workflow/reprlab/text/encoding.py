"""Texts as ids of a tokenizer: the one place where a text is given to one.

Text is data. The name of a special token in it (`</s>`, `[PAD]`, `<|im_end|>`) is read as text, and where a vocabulary
has it as a piece all the same it is unknown: it never ends, pads or masks anything. Special tokens come from the
tokenizer, around a text, or from a part that is named as one (`Control`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import compress, pairwise
from operator import not_
from typing import Any

from reprlab.runtime.errors import ReprlabError

LINE_END = "\n"
_BLANKS = r"\s*"
_BYTE = re.compile(r"<0x[0-9A-F]{2}>")


class Control(str):
    """A part of a text that means a special token; with a tokenizer that has none of the name it is text."""

    __slots__ = ()


def encode(tokenizer: Any, *texts: Sequence[Any], closed: bool = False, **options: Any) -> Any:
    """The tokenizer's output for a batch of texts, of words of texts, or of pairs, all of it read as text.

    Args:
        closed: whether the tokenizer's own special tokens are put around each text.
        options: as the tokenizer takes them.

    Raises:
        ReprlabError: a text spells a special token that the tokenizer cannot write in another way.
    """
    options = {"verbose": False, "return_special_tokens_mask": closed, **options}
    found = tokenizer(*texts, add_special_tokens=closed, split_special_tokens=True, **options)
    added = found.pop("special_tokens_mask") if closed else None
    # A SentencePiece vocabulary holds `</s>` among its pieces, so that splitting the name is not enough.
    special = _special(tokenizer)
    for row, ids in enumerate(found["input_ids"]):
        own = ids if added is None else compress(ids, map(not_, added[row]))
        if not special.isdisjoint(own):
            _hide(tokenizer, ids, special, added[row] if added is not None else [0] * len(ids))
    return found


def _special(tokenizer: Any) -> frozenset[int]:
    """The ids that act: special tokens but the unknown one, and but those of bytes, which spell rare characters."""
    named = {index: token.content for index, token in tokenizer.added_tokens_decoder.items() if token.special}
    added = {index for index, name in named.items() if not _BYTE.fullmatch(name)}
    return frozenset(added.union(tokenizer.all_special_ids) - {tokenizer.unk_token_id})


def _hide(tokenizer: Any, ids: list[int], special: frozenset[int], added: Sequence[int]) -> None:
    for place, (index, own) in enumerate(zip(ids, added, strict=True)):
        if index in special and not own:
            if tokenizer.unk_token_id is None:
                name = tokenizer.convert_ids_to_tokens(index)
                raise ReprlabError(
                    f"{tokenizer.name_or_path}: a text holds {name!r}, which this tokenizer knows only as a special "
                    "token, and it has no unknown token; take a tokenizer that has one"
                )
            ids[place] = tokenizer.unk_token_id


def piece_ids(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Ids of each text without any special token."""
    if not texts:
        return []
    options = {"return_attention_mask": False, "return_token_type_ids": False}
    return encode(tokenizer, list(texts), **options)["input_ids"]


def surrounding_ids(tokenizer: Any) -> tuple[list[int], list[int]]:
    """The ids that the tokenizer puts before a text and behind it: BERT's two, T5's one behind, Llama's one before."""
    if not tokenizer("", verbose=False)["input_ids"]:
        return [], []
    # Around a letter: of an empty text a single id could be either.
    whole, letter = (tokenizer("a", add_special_tokens=own, verbose=False)["input_ids"] for own in (True, False))
    size = len(letter)
    start = next(place for place in range(len(whole)) if whole[place : place + size] == letter)
    return [int(index) for index in whole[:start]], [int(index) for index in whole[start + size :]]


def closed_ids(tokenizer: Any, texts: Sequence[str], max_length: int | None = None) -> list[list[int]]:
    """Ids of each text with the tokenizer's own around it; one longer than `max_length` loses the text's end."""
    before, behind = surrounding_ids(tokenizer)
    room = None if max_length is None else max(max_length - len(before) - len(behind), 0)
    return [[*before, *ids[:room], *behind] for ids in piece_ids(tokenizer, texts)]


def ids_behind(tokenizer: Any, texts: Sequence[str], prompt: str = LINE_END, *, remedy: str = "") -> list[list[int]]:
    """Ids of each text as it goes on behind a prompt, which are not always those that it has alone.

    Tokenizers such as Llama-2's put a space before a text themselves: alone, ` yes` would have two.

    Args:
        prompt: the text that they follow; a line end will do for any.
        remedy: advice where the tokenizer joins the end of the prompt with a text. Without it, such a text has the ids
            that it has alone.

    Raises:
        ReprlabError: prompt and text share a token, and there is a remedy to name.
    """
    before, *together = piece_ids(tokenizer, [prompt, *(prompt + text for text in texts)])
    size = len(before)
    joined = [ids[:size] != before or len(ids) == size for ids in together]
    if remedy and any(joined):
        text = texts[joined.index(True)]
        raise ReprlabError(f"the tokenizer joins the end of the prompt with the label {text!r}; {remedy}")
    alone = iter(piece_ids(tokenizer, list(compress(texts, joined))))
    return [next(alone) if apart else ids[size:] for apart, ids in zip(joined, together, strict=True)]


def padding_id(tokenizer: Any) -> int:
    """The id that fills up batches, whose masks are made by length: any does where the tokenizer has none for it."""
    for index in (tokenizer.pad_token_id, tokenizer.eos_token_id):
        if index is not None:
            return int(index)
    return 0


def part_ids(tokenizer: Any, texts: Sequence[Sequence[str]], prompt: str = "") -> list[list[int]]:
    """Ids of texts in parts: `Control` parts become the special tokens of their names, all else is read as text.

    Neighbouring parts of text are one text, and so is a `Control` that the tokenizer does not know.

    Args:
        prompt: the text that they follow, as in `ids_behind`; empty: they are the beginning.
    """
    known = tokenizer.get_added_vocab()
    runs = [list(_runs(parts, known)) for parts in texts]
    first = [own[0] for own in runs if own and isinstance(own[0], str)]
    opening = iter(ids_behind(tokenizer, first, prompt) if prompt and first else piece_ids(tokenizer, first))
    later = [run for own in runs for run in own[1:] if isinstance(run, str)]
    others = iter(ids_behind(tokenizer, later) if later and _goes_on(tokenizer, runs) else piece_ids(tokenizer, later))
    return [
        [
            index
            for place, run in enumerate(own)
            for index in (next(others if place else opening) if isinstance(run, str) else [run])
        ]
        for own in runs
    ]


def format_parts(tokenizer: Any, text: str) -> list[str]:
    """A format of ours, such as the turn of a chat, in parts: the special tokens that it names are `Control`."""
    special = [token for token in tokenizer.added_tokens_decoder.values() if token.special]
    names = [
        rf"{_BLANKS * token.lstrip}{re.escape(token.content)}{_BLANKS * token.rstrip}"
        for token in sorted(special, key=lambda token: -len(token.content))
    ]
    if not names:
        return [text]
    places = [0, *(end for found in re.finditer("|".join(names), text) for end in found.span()), len(text)]
    parts = [text[start:end] for start, end in pairwise(places)]
    return [Control(part.strip() or part) if place % 2 else part for place, part in enumerate(parts)]


def _goes_on(tokenizer: Any, runs: Sequence[Sequence[str | int]]) -> bool:
    """Whether a text behind a control token goes on, as this tokenizer has it, and does not begin anew."""
    control = next(run for own in runs for run in own if not isinstance(run, str))
    name = tokenizer.convert_ids_to_tokens(control)
    whole = tokenizer(f"{name}a", add_special_tokens=False, split_special_tokens=False, verbose=False)["input_ids"]
    return whole[1:] != piece_ids(tokenizer, ["a"])[0]


def _runs(parts: Sequence[str], known: dict[str, int]) -> Iterator[str | int]:
    """Texts, and the ids of control tokens between them."""
    text = ""
    for part in parts:
        if isinstance(part, Control) and part in known:
            if text:
                yield text
            yield known[part]
            text = ""
        else:
            text += part
    if text:
        yield text
