"""Plugin `masked_lm`: masked tokens from those around them (Devlin et al. 2019, section 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from reprlab.objectives.causal_lm import IGNORED
from reprlab.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    import torch


class Settings(BaseModel):
    """Which tokens are predicted."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)

    mask_probability: float = Field(default=0.15, gt=0, lt=1)
    """Share of the tokens that are predicted; of these 80 % are masked, 10 % replaced and 10 % left as they are."""


class Objective:
    """Batches and loss of an encoder; the first sentinel of the vocabulary stands for a masked token."""

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
        """The batch: int64 `input_ids`, `labels` (-100 where nothing is predicted) and `attention_mask`, all [B, L].

        Args:
            ids: [B, L] int32 padded at the right; types is not used; lengths: [B].
            rng: draws which tokens are predicted; special ones never are.
            shuffled: has no meaning here.
            fixed_length: has no meaning here either.
        """
        import numpy as np

        inside = np.arange(ids.shape[1]) < lengths[:, None]
        chosen = (rng.random(ids.shape) < self.settings.mask_probability) & inside & ~self.vocabulary.is_special(ids)
        fate = rng.random(ids.shape)
        found = np.where(chosen & (fate < 0.8), self.vocabulary.first_sentinel, ids)
        drawn = rng.integers(self.vocabulary.unk_id + 1, self.vocabulary.pieces, ids.shape)
        found = np.where(chosen & (fate >= 0.8) & (fate < 0.9), drawn, found)
        return {
            "input_ids": found.astype(np.int64),
            "labels": np.where(chosen, ids, IGNORED).astype(np.int64),
            "attention_mask": inside.astype(np.int64),
        }

    def loss(self, model: Any, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Mean cross-entropy over the chosen tokens, and its parts as in `causal_lm.causal_loss`."""
        import torch
        from torch.nn import functional

        states = model.base_model(
            input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]
        ).last_hidden_state
        counted = batch["labels"] != IGNORED
        logits, target = model.cls(states[counted]).float(), batch["labels"][counted]
        total, count = functional.cross_entropy(logits, target, reduction="sum"), counted.sum()
        with torch.no_grad():
            hits = (logits.argmax(-1) == target).sum()
            parts = {"loss_sum": total.detach(), "count": count, "correct": hits, "total": count}
        return total / count.clamp(min=1), parts
