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
    labels = torch.cat([_predicted(batch)[0] for batch in batches])
    return torch.bincount(labels, minlength=size).double() + 1


def unigram_rows(
    held_out: Sequence[FixedBatch], fit: Sequence[FixedBatch], counts: torch.Tensor, mask_id: int
) -> list[dict[str, Any]]:
    """A row for each batch of a rule that reads no text around: word frequencies, and a token that is seen is itself.

    A tenth of what is predicted stays as it is, a tenth is replaced: what is seen is right as often as it was in `fit`,
    and what is left of its probability, as all of that behind a mask, goes to `counts`, the label counts of `fit`.
    """
    frequencies = counts / counts.sum()
    seen, same = 0, 0
    for batch in fit:
        target, given = _predicted(batch)
        seen, same = seen + int((given != mask_id).sum()), same + int((given == target).sum())
    # One more of each, so that neither is impossible.
    share = (same + 1) / (seen + 2)
    rows = []
    for batch in held_out:
        _, given = _predicted(batch)
        copied = torch.where(given == mask_id, 0.0, share).double()
        chances = (1 - copied)[:, None] * frequencies
        chances.scatter_add_(1, given[:, None], copied[:, None])
        rows.append(_row(batch, chances.log().float(), mask_id))
    return rows


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


def _predicted(batch: FixedBatch) -> tuple[torch.Tensor, torch.Tensor]:
    """[N] what is to be predicted in a batch, and [N] what the model is given in its place."""
    counted = batch.tensors["labels"] != IGNORED
    return batch.tensors["labels"][counted], batch.tensors["input_ids"][counted]


def _row(batch: FixedBatch, logits: torch.Tensor, mask_id: int) -> dict[str, Any]:
    """Sums and counts of a batch, from logits [N, V] of its labelled tokens."""
    target, given = _predicted(batch)
    right, hidden = logits.argmax(-1) == target, given == mask_id
    loss = functional.cross_entropy(logits, target, reduction="sum")
    found = {"loss_sum": float(loss), "count": len(target), "correct": int(right.sum()), "total": len(target)}
    return {"batch": batch.number, **found, "hidden_correct": int(right[hidden].sum()), "hidden": int(hidden.sum())}
