"""Scores of the labels that a decoder would write next (TokenProb; Amuro & Char, appendix C.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reprlab.inference.causal_batches import PaddedBatch
from reprlab.runtime.errors import ReprlabError
from reprlab.text.encoding import ids_behind

if TYPE_CHECKING:
    import torch


def label_candidates(tokenizer: Any, labels: Sequence[str], *, all_subtokens: bool = False) -> list[list[int]]:
    """Ids of the tokens that stand for each label: of the word with and without a space before it.

    Args:
        all_subtokens: every sub-token of the word, as the released code has it; else the first, as the paper says.

    Raises:
        ReprlabError: two labels share a token, so that it would not tell them apart.
    """
    found = []
    for label in labels:
        variants = ids_behind(tokenizer, [label, f" {label}"])
        tokens = [index for ids in variants for index in (ids if all_subtokens else ids[:1])]
        found.append(sorted(set(tokens)))
    for place, label in enumerate(labels):
        for other in range(place):
            shared = set(found[place]) & set(found[other])
            if shared:
                token = tokenizer.convert_ids_to_tokens(sorted(shared)[0])
                wanted = "set all_subtokens to false" if all_subtokens else "use other words"
                raise ReprlabError(
                    f"the labels {labels[other]!r} and {label!r} share the token {token!r}: their scores cannot be "
                    f"told apart; {wanted} or another tokenizer"
                )
    return found


def label_scores(
    model: Any, batches: Iterable[PaddedBatch], candidates: Sequence[Sequence[int]], rows: int
) -> np.ndarray:
    """[rows, labels] float32: the highest logit of each label's tokens at the position after the prompt."""
    import torch

    scores = np.zeros((rows, len(candidates)), dtype=np.float32)
    with torch.inference_mode():
        for batch in batches:
            logits = next_logits(model, batch).float()
            best = torch.stack([logits[:, list(tokens)].max(1).values for tokens in candidates], dim=1)
            scores[batch.rows] = best.cpu().numpy()
    return scores


def next_logits(model: Any, batch: PaddedBatch) -> torch.Tensor:
    """[B, V]: logits at the last position."""
    return batch.forward(model).logits[:, -1]
