"""Log-likelihood of continuations: which of several choices a decoder finds likeliest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from reprlab.inference.causal_batches import padded_batches
from reprlab.inference.shared_start import shared_start

Normalisation = Literal["none", "tokens", "characters"]


def continuation_ids(tokenizer: Any, prompt: list[int], continuation: str) -> tuple[list[int], int]:
    """Ids of prompt and continuation, and how many belong to the continuation.

    The continuation begins with a space and the prompt ends without one, so that every tokenizer which keeps words
    apart cuts between them.
    """
    added = [int(index) for index in tokenizer(continuation, add_special_tokens=False)["input_ids"]]
    return [*prompt, *added], len(added)


def log_likelihoods(model: Any, texts: Sequence[tuple[list[int], int]], size: int, pad: int, device: Any) -> np.ndarray:
    """[texts] float64: sum of the log-probabilities of the last tokens of each text.

    Args:
        texts: ids, and how many of the last ones are summed.
    """
    import torch

    sums = np.zeros(len(texts))
    counts = np.array([count for _, count in texts])
    with torch.inference_mode():
        # The token before a continuation gives the logits of its first.
        start = shared_start(model, [ids for ids, _ in texts], device, own=int(counts.max()) + 1)
        for batch in padded_batches([ids for ids, _ in texts], size, pad, device, start):
            kept = int(counts[batch.rows].max())
            output = batch.forward(model, kept=kept + 1)
            scores = output.logits[:, :-1].float().log_softmax(-1)
            wanted = batch.ids[:, -kept:]
            found = scores.gather(2, wanted[..., None])[..., 0].double().cpu().numpy()
            # Texts end at the right edge: the continuation of each is its last columns.
            inside = np.arange(kept) >= kept - counts[batch.rows, None]
            sums[batch.rows] = (found * inside).sum(1)
    return sums


def normalised(sums: np.ndarray, tokens: np.ndarray, characters: np.ndarray, how: Normalisation) -> np.ndarray:
    """Log-likelihoods divided by the length of their continuation, or as they are."""
    if how == "none":
        return sums
    return sums / np.maximum(tokens if how == "tokens" else characters, 1)
