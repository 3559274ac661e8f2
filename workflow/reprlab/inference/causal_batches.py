"""Prompts of decoders in left-padded batches, and solved examples before them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reprlab.inference.generation import sorted_batches
from reprlab.text.encoding import piece_ids
from reprlab.text.prompt_formats import joined
from reprlab.text.tokenizer_folder import start_ids

if TYPE_CHECKING:
    import torch

    from reprlab.inference.shared_start import SharedStart


@dataclass(frozen=True)
class PaddedBatch:
    """Rows of the whole and their inputs, padded at the left; positions count from the first token.

    Attributes:
        rows: [B] places in the whole.
        ids: [B, L] tokens after the shared start.
        mask: [B, S + L], for the S tokens of the start too.
        positions: [B, L].
        start: the start, whose tokens are not in `ids`.
    """

    rows: np.ndarray
    ids: torch.Tensor
    mask: torch.Tensor
    positions: torch.Tensor
    start: SharedStart | None = None

    def forward(self, model: Any, *, kept: int = 1, use_cache: bool = False) -> Any:
        """The model's output, with the logits of the last `kept` positions.

        Args:
            use_cache: whether generation goes on with the keys and values of the batch.
        """
        past = None
        if self.start is not None:
            past = self.start.to_grow(len(self.rows)) if use_cache else self.start.to_read()
        return model(
            input_ids=self.ids,
            attention_mask=self.mask,
            position_ids=self.positions,
            past_key_values=past,
            use_cache=use_cache or past is not None,
            logits_to_keep=kept,
        )


def padded_batches(
    texts: Sequence[Sequence[int]], size: int, pad: int, device: Any, start: SharedStart | None = None
) -> Iterator[PaddedBatch]:
    """Batches of similar length. Padding is masked and not counted as a position: a text gives what it gives alone.

    Args:
        start: what all of the texts begin with, where it was run through the model before.
    """
    import torch

    before = start.length if start is not None else 0
    lengths = np.array([len(text) for text in texts]) - before
    for rows in sorted_batches(lengths, size):
        width = int(lengths[rows].max())
        ids = torch.full((len(rows), width), pad, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for place, row in enumerate(rows.tolist()):
            ids[place, width - lengths[row] :] = torch.tensor(list(texts[row][before:]))
            mask[place, width - lengths[row] :] = 1
        positions = before + (mask.cumsum(1) - 1).clamp(min=0)
        whole = torch.cat([mask.new_ones(len(rows), before), mask], 1)
        yield PaddedBatch(rows, ids.to(device), whole.to(device), positions.to(device), start)


@dataclass(frozen=True)
class ShotPrompts:
    """Encoded prompts with their shots, and how many shots were left out because a prompt was too long."""

    ids: list[list[int]]
    dropped: int


def shot_prompts(tokenizer: Any, shots: Sequence[tuple[str, str]], prompts: Sequence[str], room: int) -> ShotPrompts:
    """Prompts behind solved examples, each of which ends with a line end (spec 2.3).

    Args:
        shots: prompt and completion of each example, the same for all prompts.
        prompts: the questions.
        room: tokens of a prompt at most. Examples are left out from the left until it fits; a prompt that is too long
            by itself loses its beginning.
    """
    start = start_ids(tokenizer)
    solved = [f"{joined(prompt, completion)}\n" for prompt, completion in shots]
    prefixes = ["".join(solved[first:]) for first in range(len(solved) + 1)]
    found: list[list[int]] = [[] for _ in prompts]
    waiting, dropped = list(range(len(prompts))), 0
    for left_out, prefix in enumerate(prefixes):
        encoded = piece_ids(tokenizer, [prefix + prompts[row] for row in waiting])
        last = left_out == len(solved)
        too_long = []
        for row, ids in zip(waiting, encoded, strict=True):
            fits = len(start) + len(ids) <= room
            if not fits and not last:
                too_long.append(row)
                continue
            found[row] = start + (ids if fits else ids[-(room - len(start)) :])
            dropped += left_out
        waiting = too_long
        if not waiting:
            break
    return ShotPrompts(found, dropped)
