"""Plugin `masked_lm`: masked tokens from those around them (Devlin et al. 2019, section 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.objectives.objective import IGNORED, PretrainingObjective, Rows

if TYPE_CHECKING:
    import numpy as np
    import torch


class Settings(BaseModel):
    """Which tokens are predicted."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)

    mask_probability: float = Field(default=0.15, gt=0, lt=1)
    """Share of the tokens that are predicted; of these 80 % are masked, 10 % replaced and 10 % left as they are."""
    mask_padding: Literal[True] = True
    """An encoder never sees padding."""


class Objective(PretrainingObjective[Settings]):
    """Batches and loss of an encoder; the first sentinel of the vocabulary stands for a masked token."""

    token_format = "causal"  # noqa: S105 (not a secret)

    def corrupt(self, rows: Rows) -> dict[str, np.ndarray]:
        """The batch: int64 `input_ids`, `labels` (-100 where nothing is predicted) and `attention_mask`, all [B, L].

        Special tokens are never predicted; `shuffled` and `fixed_length` have no meaning here.
        """
        import numpy as np

        ids, inside, rng = rows.ids, rows.inside, rows.rng
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
