"""Predictions of encoder-decoders: greedy generation, and the argmax of teacher-forced logits.

The encoder is called with its own mask (2-D, or the 4-D additive mask of the DEPTH format), and its output is handed to
`generate` together with the 2-D mask that cross-attention uses, because `forward` has one mask argument for both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import torch

MaskOf = Callable[["torch.Tensor", "torch.Tensor", "torch.dtype"], "tuple[torch.Tensor, torch.Tensor]"]


@dataclass(frozen=True)
class EncoderBatch:
    """Rows of the table and their encoder inputs: ids [B, L], mask [B, L] or [B, 1, L, L], cross mask [B, L]."""

    rows: np.ndarray
    ids: torch.Tensor
    mask: torch.Tensor
    cross_mask: torch.Tensor


def sorted_batches(lengths: np.ndarray, batch_size: int) -> Iterator[np.ndarray]:
    """Row numbers in batches of similar length, longest first (so that a batch that does not fit fails at once)."""
    import numpy as np

    order = np.argsort(-lengths, kind="stable")
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]


def encode(model: Any, ids: torch.Tensor, mask: torch.Tensor) -> Any:
    """The encoder's output for ids [B, L] under a 2-D 0/1 mask or a 4-D additive float mask."""
    return model.get_encoder()(input_ids=ids, attention_mask=mask, return_dict=True)


def generate(model: Any, batches: Iterable[EncoderBatch], max_new_tokens: int, rows: int) -> list[list[int]]:
    """Greedy output ids of each of `rows` examples, without start and padding, up to and without the end token."""
    import torch

    found: list[list[int]] = [[] for _ in range(rows)]
    with torch.inference_mode():
        for batch in batches:
            output = model.generate(
                encoder_outputs=encode(model, batch.ids, batch.mask),
                attention_mask=batch.cross_mask,
                max_new_tokens=max_new_tokens,
                do_sample=False,
                num_beams=1,
            )
            for row, ids in zip(batch.rows, output[:, 1:].tolist(), strict=True):
                found[row] = until_end(ids, model.config.eos_token_id, model.config.pad_token_id)
    return found


def teacher_forced(model: Any, batches: Iterable[tuple[EncoderBatch, torch.Tensor]], rows: int) -> list[list[int]]:
    """Argmax ids at the label positions (labels [B, T], -100 ignored) when the model is fed the true labels.

    This is how upstream evaluates (spec 2.6). It sees the answer's beginning: a first piece of one label can be
    followed by the forced pieces of another.
    """
    import torch

    found: list[list[int]] = [[] for _ in range(rows)]
    with torch.inference_mode():
        for batch, labels in batches:
            logits = model(
                encoder_outputs=encode(model, batch.ids, batch.mask), attention_mask=batch.cross_mask, labels=labels
            ).logits
            chosen = logits.argmax(-1).masked_fill(labels == -100, model.config.pad_token_id)
            for row, ids in zip(batch.rows, chosen.tolist(), strict=True):
                found[row] = until_end(ids, model.config.eos_token_id, model.config.pad_token_id)
    return found


def until_end(ids: list[int], end: int, pad: int) -> list[int]:
    """The ids before the first `end`, without `pad`."""
    stop = ids.index(end) if end in ids else len(ids)
    return [token for token in ids[:stop] if token != pad]


def decode(tokenizer: Any, outputs: list[list[int]]) -> list[str]:
    """Texts of output ids, special tokens left out, outer blanks stripped."""
    if not outputs:
        return []  # the tokenizer takes an empty list for one empty text
    return [text.strip() for text in tokenizer.batch_decode(outputs, skip_special_tokens=True)]
