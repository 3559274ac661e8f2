"""The token by which a label is scored.

SentencePiece tokenizers put a space before a word that stands alone: the first token of "No" by itself is "▁No", while
after a line end a model writes "No". The authors' code takes the first, so that its scores are of tokens that the model
does not write (docs/papers/intrinsic-dimension.md, T1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reprlab.representations.settings import LabelIds
from reprlab.runtime.errors import ReprlabError
from reprlab.text.encoding import ids_behind, piece_ids


def label_token_ids(tokenizer: Any, labels: Sequence[str], mode: LabelIds, prompt: str) -> list[int]:
    """First token of each label, for any tokenizer of transformers.

    Args:
        mode: `in_context` takes the first token after the tokens of `prompt`, `bare` that of the label by itself.
        prompt: any prompt of the set; all end with a line end, so that what follows is the same after each.

    Raises:
        ReprlabError: prompt and label share a token, or two labels have the same first token.
    """
    in_context = mode == "in_context"
    found = (
        ids_behind(tokenizer, labels, prompt, remedy="set label_ids: bare")
        if in_context
        else piece_ids(tokenizer, labels)
    )
    ids = [int(own[0]) for own in found]
    if len(set(ids)) < len(ids):
        names = ", ".join(f"{label}: {token}" for label, token in zip(labels, ids, strict=True))
        raise ReprlabError(f"two labels begin with the same token ({names}); give them other words by `words`")
    return ids
