"""Where a decoder stops that is to write up to a text, whatever tokens its tokenizer makes of it."""

from __future__ import annotations

from typing import Any

from reprlab.text.encoding import ids_behind


def stop_options(tokenizer: Any, text: str) -> dict[str, Any]:
    """Options of `generate` with which a row ends at the end token or once it holds `text`, but for white space.

    A token stands for the text where the tokenizer has one for it as it goes on behind others, which may be another one
    than at the beginning (Llama's differ by a space); otherwise what is written is compared as text.
    """
    ends = [] if tokenizer.eos_token_id is None else [int(tokenizer.eos_token_id)]
    last = ids_behind(tokenizer, [text], "a.")[0][-1]
    if tokenizer.decode([last]).strip() == text.strip():
        ends.insert(0, last)
        return {"eos_token_id": ends, "pad_token_id": ends[-1]}
    return {"eos_token_id": ends or None, "pad_token_id": ends[-1] if ends else last, "stop_strings": [text.strip()],
            "tokenizer": tokenizer}  # fmt: skip
