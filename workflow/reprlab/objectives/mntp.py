"""Plugin `mntp`: masked tokens from the state before each, with bidirectional attention (LLM2Vec, section 2)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.objectives.causal_lm import causal_loss
from reprlab.objectives.objective import IGNORED, PretrainingObjective, Rows
from reprlab.runtime.errors import ReprlabError

if TYPE_CHECKING:
    import numpy as np
    import torch


class Settings(BaseModel):
    """Which tokens are predicted, and what is in their place."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    mask: str = "_"
    """Token of the vocabulary that stands for a masked one: decoders have none of their own."""
    mask_probability: float = Field(default=0.2, gt=0, lt=1)
    """Share of the tokens that are predicted; of these 80 % are masked, 10 % replaced and 10 % left as they are."""
    mask_padding: Literal[True] = True
    """No token sees padding."""


class Objective(PretrainingObjective[Settings]):
    """Batches and loss of a decoder whose tokens see each other; special tokens are never predicted."""

    token_format = "causal"  # noqa: S105 (not a secret)

    def __init__(self, settings: Settings, vocabulary: Any, input_length: int, target_length: int) -> None:
        super().__init__(settings, vocabulary, input_length, target_length)
        found = vocabulary.get_vocab().get(settings.mask)
        if found is None:
            raise ReprlabError(f"mntp: the vocabulary has no token {settings.mask!r}; set mask to one that it has")
        self.mask_id, self.special = int(found), sorted(vocabulary.all_special_ids)

    @classmethod
    def open_vocabulary(cls, tokenizer: Path) -> Any:
        """The tokenizer itself."""
        from reprlab.text.model_tokenizers import load_tokenizer

        return load_tokenizer(tokenizer)

    def corrupt(self, rows: Rows) -> dict[str, np.ndarray]:
        """The batch: `input_ids`, `labels` (-100 on what is not predicted) and `attention_mask`, all [B, L]."""
        import numpy as np

        ids, rng = rows.ids.astype(np.int64), rows.rng
        chosen = (rng.random(ids.shape) < self.settings.mask_probability) & rows.inside & ~np.isin(ids, self.special)
        # Nothing is before the first token, from whose state it could be predicted.
        chosen[:, 0] = False
        fate, drawn = rng.random(ids.shape), rng.integers(0, len(self.vocabulary), ids.shape)
        seen = np.where(chosen & (fate < 0.8), self.mask_id, np.where(chosen & (fate >= 0.9), drawn, ids))
        labels = np.where(chosen, ids, IGNORED)
        return {"input_ids": seen, "labels": labels, "attention_mask": rows.inside.astype(np.int64)}

    def loss(self, model: Any, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Mean cross-entropy over the labels; see `causal_loss`."""
        from reprlab.objectives.decoder_attention import attention_inputs

        inputs = attention_inputs(batch["attention_mask"], model.dtype, bidirectional=True)
        return causal_loss(model, batch["input_ids"], batch["labels"], **inputs)
