"""Batches of unequal texts, read in parts of similar length so that little padding is computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

# Texts of a part and parts of a batch, of those tried on one CPU thread with the fewest seconds an update.
_TEXTS = 16
_PARTS = 8


def read_by_length(
    read: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], ids: torch.Tensor, mask: torch.Tensor
) -> torch.Tensor:
    """`read(ids, mask)` [B, ...], on a CPU computed in up to eight parts of the texts, the longest texts first.

    Values and gradients are those of one pass but for rounding. An update on windows of passages, three fifths of whose
    batch are tokens, takes a third less. Read at once are texts of one length; a few texts, for which a pass costs more
    than padding; all texts on a GPU, which waits for each pass to be launched; and those of which no gradient is
    wanted: who scores or embeds sorts all texts, not those of a batch.

    Args:
        read: gives a text what it gives it alone, however much padding follows.
        ids, mask: [B, L], padding at the right.
    """
    import torch

    parts = min(_PARTS, len(ids) // _TEXTS)
    if ids.device.type != "cpu" or parts < 2 or not torch.is_grad_enabled() or bool(mask.all()):
        return read(ids, mask)
    lengths = mask.sum(1)
    order = lengths.argsort(descending=True, stable=True)
    found = []
    for rows in order.tensor_split(parts):
        longest = int(lengths[rows[0]])
        found.append(read(ids[rows, :longest], mask[rows, :longest]))
    return torch.cat(found)[order.argsort()]


def of_similar_length(batch: dict[str, torch.Tensor]) -> list[dict[str, torch.Tensor]]:
    """Texts that are sorted by length, in groups as wide as their longest, whose shortest has half its length or more.

    So words are not filled to the length of a definition: a third of such a batch were tokens. There are few
    groups, on a GPU too; `read_by_length` has more of them, of texts more alike.

    Args:
        batch: values by text [B, ...], `attention_mask` among them, padding at the left.
    """
    import torch

    lengths = batch["attention_mask"].sum(1)
    # Lengths from a power of two to the next one are together.
    sizes = torch.frexp(lengths.float()).exponent.unique_consecutive(return_counts=True)[1].tolist()
    groups = zip(*(values.split(sizes) for values in batch.values()), strict=True)
    widths = [int(group.max()) for group in lengths.split(sizes)]
    return [
        {name: rows[:, -width:] for name, rows in zip(batch, group, strict=True)}
        for group, width in zip(groups, widths, strict=True)
    ]
