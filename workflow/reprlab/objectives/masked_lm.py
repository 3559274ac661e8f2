"""Plugin `masked_lm`: masked tokens from those around them (Devlin et al. 2019, section 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field

from reprlab.objectives.masking import MaskedObjective
from reprlab.objectives.objective import Rows

if TYPE_CHECKING:
    import numpy as np


class Settings(BaseModel):
    """Which tokens are predicted."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    mask_probability: float = Field(default=0.15, gt=0, lt=1)
    """Share of the tokens that are predicted; of these 80 % are masked, 10 % replaced and 10 % left as they are."""
    mask_padding: Literal[True] = True
    """An encoder never sees padding."""


class Objective(MaskedObjective[Settings]):
    """Batches and loss of an encoder; special tokens are never predicted."""

    def corrupt(self, rows: Rows) -> dict[str, np.ndarray]:
        """The batch of `masked_batch`; `shuffled` and `fixed_length` have no meaning here."""
        ids, rng = rows.ids, rows.rng
        chosen = (rng.random(ids.shape) < self.settings.mask_probability) & rows.inside & ~self.masks.is_special(ids)
        fate = rng.random(ids.shape)
        return self.masked_batch(ids, rows.inside, chosen, fate, self.masks.draw(rng, ids.shape))
