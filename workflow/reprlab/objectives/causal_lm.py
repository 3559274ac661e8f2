"""Plugin `causal_lm`: every token from those before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from reprlab.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    import torch

IGNORED = -100


class Settings(BaseModel):
    """Plain language modelling has nothing to set."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    mask_padding: Literal[True] = True
    """Padding stands behind the text, where a causal model does not see it."""


class Objective:
    """Batches and loss of a decoder: ids as they are, each the label of the position before it."""

    token_format = "causal"  # noqa: S105 (not a secret)

    def __init__(self, settings: Settings, vocabulary: Vocabulary, input_length: int, target_length: int) -> None:
        self.settings = settings
        self.vocabulary = vocabulary
        self.input_length = input_length
        self.target_length = target_length

    def collate(
        self,
        ids: np.ndarray,
        types: np.ndarray,
        lengths: np.ndarray,
        rng: np.random.Generator,
        *,
        shuffled: bool | None = None,
        fixed_length: bool = False,
    ) -> dict[str, np.ndarray]:
        """The batch.

        Args:
            ids: [B, L] int32 padded at the right; types is not used; lengths: [B].
            rng: not used: nothing is drawn.
            shuffled: has no meaning here.
            fixed_length: has no meaning here either.

        Returns:
            int64 arrays `input_ids` [B, L] and `labels` [B, L], the same with -100 on padding.
        """
        import numpy as np

        inside = np.arange(ids.shape[1]) < lengths[:, None]
        found = ids.astype(np.int64)
        return {"input_ids": found, "labels": np.where(inside, found, IGNORED)}

    def loss(self, model: Any, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Mean cross-entropy over the labels but the first of each row; see `causal_loss`."""
        return causal_loss(model, batch["input_ids"], batch["labels"])


def causal_loss(
    model: Any, input_ids: torch.Tensor, labels: torch.Tensor
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Mean cross-entropy of `labels` [B, L] (-100 left out) predicted at the position before each.

    Rows are padded at the right: what stands behind a token never reaches it, so that no mask is needed. Only the
    states that have a label are multiplied with the output layer.

    Returns:
        the scalar to minimise, and detached scalars `loss_sum`, `count`, `correct` (hits of the argmax), `total`.
    """
    import torch
    from torch.nn import functional

    states = model.base_model(input_ids=input_ids, use_cache=False).last_hidden_state[:, :-1]
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
