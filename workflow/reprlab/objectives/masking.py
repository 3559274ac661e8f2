"""Masking that the objectives of an encoder share: chosen tokens are masked, replaced or left, and predicted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from reprlab.objectives.objective import IGNORED, PretrainingObjective
from reprlab.text.mask_vocabulary import MaskVocabulary
from reprlab.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    import torch

S = TypeVar("S", bound=BaseModel)
MASKED, REPLACED = 0.8, 0.1
"""Shares of what is chosen that become the mask token, or a drawn one; the rest stays as it is (Devlin et al. 2019)."""


class MaskedObjective(PretrainingObjective[S]):
    """The base of the plugins that train an encoder."""

    token_format = "causal"  # noqa: S105 (not a secret)

    def __init__(
        self, settings: S, vocabulary: Vocabulary | MaskVocabulary, input_length: int, target_length: int
    ) -> None:
        super().__init__(settings, vocabulary, input_length, target_length)
        self.masks = MaskVocabulary.of(vocabulary)

    @classmethod
    def open_vocabulary(cls, tokenizer: Path) -> MaskVocabulary:
        """That of a published tokenizer as well."""
        return MaskVocabulary.load(tokenizer)

    def masked_batch(
        self, ids: np.ndarray, inside: np.ndarray, chosen: np.ndarray, fate: np.ndarray, drawn: np.ndarray
    ) -> dict[str, np.ndarray]:
        """The batch: int64 `input_ids`, `labels` (-100 where nothing is predicted), `attention_mask`, and
        `ordinary`, true at tokens that are not special, all [B, L].

        Args:
            ids: [B, L]; `inside` [B, L]: true where a row has a token; `chosen` [B, L]: what is predicted.
            fate: [B, L] in [0, 1): which treatment a chosen token gets.
            drawn: [B, L] ids for those that are replaced.
        """
        import numpy as np

        found = np.where(chosen & (fate < MASKED), self.masks.mask_id, ids)
        found = np.where(chosen & (fate >= MASKED) & (fate < MASKED + REPLACED), drawn, found)
        return {
            "input_ids": found.astype(np.int64),
            "labels": np.where(chosen, ids, IGNORED).astype(np.int64),
            "attention_mask": inside.astype(np.int64),
            "ordinary": inside & ~self.masks.is_special(ids),
        }

    def logits(self, model: Any, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """[N, V] scores at the chosen tokens, in their order."""
        states = model.base_model(
            input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]
        ).last_hidden_state
        return model.cls(states[batch["labels"] != IGNORED]).float()

    def loss(self, model: Any, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Mean cross-entropy over the chosen tokens, and its parts as in `causal_lm.causal_loss`; without any, 0."""
        import torch
        from torch.nn import functional

        counted = batch["labels"] != IGNORED
        logits, target = self.logits(model, batch), batch["labels"][counted]
        total, count = functional.cross_entropy(logits, target, reduction="sum"), counted.sum()
        with torch.no_grad():
            hits = (logits.argmax(-1) == target).sum()
            parts = {"loss_sum": total.detach(), "count": count, "correct": hits, "total": count}
            parts |= {"masked_part": count, "masked_whole": batch["ordinary"].sum()}
        return total / count.clamp(min=1), parts
