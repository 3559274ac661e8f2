"""What a masked language model's held-out losses are compared with: word frequencies, refitted output biases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional

from reprlab.objectives.objective import IGNORED
from reprlab.training.validation import FixedBatch

if TYPE_CHECKING:
    from reprlab.objectives.masking import MaskedObjective

UNIGRAM, TRAINED, REFITTED = "unigram", "as trained", "bias refitted"
_PASSES = 30
# What a token that a model never answers is taken for.
_TINY = 1e-12


def label_counts(batches: Sequence[FixedBatch], size: int) -> torch.Tensor:
    """[V] how often each token is predicted in some batches, one more than it is: none is impossible."""
    labels = torch.cat([batch.tensors["labels"].flatten() for batch in batches])
    return torch.bincount(labels[labels != IGNORED], minlength=size).double() + 1


def unigram_rows(held_out: Sequence[FixedBatch], counts: torch.Tensor, mask_id: int) -> list[dict[str, Any]]:
    """A row for each batch: the loss of answering every mask with the frequencies of what was masked in training."""
    logits = counts.log().float()
    return [_row(batch, logits.expand(_labelled(batch), -1), mask_id) for batch in held_out]


def control_rows(
    model: torch.nn.Module,
    objective: MaskedObjective[Any],
    held_out: Sequence[FixedBatch],
    fit: Sequence[FixedBatch],
    counts: torch.Tensor,
    device: torch.device,
) -> list[dict[str, Any]]:
    """Rows of a model as it is, and with a bias refitted to `counts`, the label counts of `fit`; each tells of
    `mask_id` alone as well, since a tenth of what is predicted can be copied.

    A bias alone is fitted by iterative scaling: it changes by the log of what is counted over what is expected, so that
    the likelihood rises in every pass. The weights, and what they know of the text around a mask, stay.
    """
    model.to(device).eval()
    with torch.inference_mode():
        known = [objective.logits(model, _on(batch, device)) for batch in fit]
        # A model may have more rows than its vocabulary has tokens.
        counts = functional.pad(counts, (0, known[0].shape[-1] - len(counts)), value=1.0)
        wanted = counts / counts.sum() * sum(len(logits) for logits in known)
        bias = torch.zeros_like(counts)
        for _ in range(_PASSES):
            expected = torch.full_like(counts, _TINY)
            for logits in known:
                expected += (logits + bias.to(logits)).softmax(-1).sum(0).double().cpu()
            bias += (wanted / expected).log()
        rows = []
        for batch in held_out:
            logits = objective.logits(model, _on(batch, device)).cpu()
            for name, added in ((TRAINED, 0), (REFITTED, bias.float())):
                rows.append({"control": name, **_row(batch, logits + added, objective.masks.mask_id)})
    return rows


def _on(batch: FixedBatch, device: torch.device) -> dict[str, torch.Tensor]:
    return {name: value.to(device) for name, value in batch.tensors.items()}


def _labelled(batch: FixedBatch) -> int:
    return int((batch.tensors["labels"] != IGNORED).sum())


def _row(batch: FixedBatch, logits: torch.Tensor, mask_id: int) -> dict[str, Any]:
    """Sums and counts of a batch, from logits [N, V] of its labelled tokens."""
    counted = batch.tensors["labels"] != IGNORED
    target, hidden = batch.tensors["labels"][counted], batch.tensors["input_ids"][counted] == mask_id
    right = logits.argmax(-1) == target
    loss = functional.cross_entropy(logits, target, reduction="sum")
    found = {"loss_sum": float(loss), "count": len(target), "correct": int(right.sum()), "total": len(target)}
    return {"batch": batch.number, **found, "hidden_correct": int(right[hidden].sum()), "hidden": int(hidden.sum())}
