"""Contrastive loss with in-batch and hard negatives, and batches larger than memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def contrastive_loss(
    anchors: torch.Tensor, positives: torch.Tensor, negatives: torch.Tensor | None, temperature: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean cross-entropy of each anchor's own positive among all positives and negatives (Gao et al. 2021, eq. 5).

    Scores are cosines over `temperature`, in float32 at least; hard negatives weigh as much as others, and nothing is
    asked the other way round. Equal vectors give ln of the number of candidates.

    Args:
        anchors, positives, negatives: [N, d].

    Returns:
        The loss in nats, and how many anchors find their positive first.
    """
    import torch
    from torch.nn import functional

    candidates = positives if negatives is None else torch.cat([positives, negatives])
    exact = torch.promote_types(anchors.dtype, torch.float32)
    # A network's own arithmetic does not reach here: a cosine of eight bits, over the temperature, is off by 0.1.
    with torch.autocast(anchors.device.type, enabled=False):
        cosines = functional.normalize(anchors.to(exact), dim=1) @ functional.normalize(candidates.to(exact), dim=1).T
    labels = torch.arange(len(anchors), device=anchors.device)
    logits = cosines / temperature
    return functional.cross_entropy(logits, labels), (logits.detach().argmax(1) == labels).sum()


def vectors_in_parts(encode: Callable[..., torch.Tensor], parts: Sequence[tuple[torch.Tensor, ...]]) -> torch.Tensor:
    """[B, d]: `encode` over the parts of a batch, with the memory of one part and the gradient of all at once.

    The forward pass of a part is done again when its gradient is taken, with the same dropout (gradient caching, Gao
    et al. 2021b, by activation checkpointing). The last part is not done twice: its gradient is taken first.
    """
    import torch
    from torch.utils.checkpoint import checkpoint

    again = parts[:-1] if torch.is_grad_enabled() else []
    earlier = [checkpoint(encode, *part, use_reentrant=False) for part in again]
    return torch.cat([*earlier, *(encode(*part) for part in parts[len(again) :])])


def share_read_twice(texts: int, part_size: int) -> float:
    """Share of a batch's texts whose forward pass `vectors_in_parts` makes twice: all but those of the last part."""
    return (texts - 1) // part_size * part_size / texts
