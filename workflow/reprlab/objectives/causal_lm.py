"""Plugin `causal_lm`: every token from those before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from reprlab.objectives.objective import IGNORED, PretrainingObjective, Rows

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import torch


class Settings(BaseModel):
    """Plain language modelling has nothing to set."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    mask_padding: Literal[True] = True
    """Padding is behind the text, where a causal model does not see it."""


class Objective(PretrainingObjective[Settings]):
    """Batches and loss of a decoder: ids as they are, each the label of the position before it."""

    token_format = "causal"  # noqa: S105 (not a secret)

    @classmethod
    def open_vocabulary(cls, tokenizer: Path) -> None:
        """Nothing: ids stay as they are, so that any published tokenizer will do."""

    def corrupt(self, rows: Rows) -> dict[str, np.ndarray]:
        """The batch: `input_ids` [B, L] and `labels` [B, L], the same with -100 on padding; nothing is drawn."""
        import numpy as np

        found = rows.ids.astype(np.int64)
        return {"input_ids": found, "labels": np.where(rows.inside, found, IGNORED)}

    def loss(self, model: Any, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Mean cross-entropy over the labels but the first of each row; see `causal_loss`."""
        return causal_loss(model, batch["input_ids"], batch["labels"])


def causal_loss(
    model: Any, input_ids: torch.Tensor, labels: torch.Tensor, **attention: torch.Tensor
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Mean cross-entropy of `labels` [B, L] (-100 left out) predicted at the position before each.

    Rows are padded at the right: what is behind a token never reaches it, so that no mask is needed, unless
    `attention` says otherwise. Only the states that have a label are multiplied with the output layer.

    Returns:
        the scalar to minimise, and detached scalars `loss_sum`, `count`, `correct` (hits of the argmax), `total`.
    """
    import torch
    from torch.nn import functional

    states = model.base_model(input_ids=input_ids, use_cache=False, **attention).last_hidden_state[:, :-1]
    wanted = labels[:, 1:]
    counted = wanted != IGNORED
    logits = model.get_output_embeddings()(states[counted]).float()
    target = wanted[counted]
    total = functional.cross_entropy(logits, target, reduction="sum")
    count = counted.sum()
    with torch.no_grad():
        parts = {
            "loss_sum": total.detach(),
            "count": count,
            "correct": (logits.argmax(-1) == target).sum(),
            "total": count,
        }
    return total / count.clamp(min=1), parts
