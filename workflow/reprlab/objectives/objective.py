"""The interface of every pre-training objective: batches made from rows of tokens, and a loss."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel

from reprlab.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    import torch

IGNORED = -100
"""The label of a position that is not predicted."""
EMPTY, EMPTY_OF = "empty_part", "empty_whole"
"""Sums of a loss: batches without a label, and all of them. Without these such a batch is an error."""

S = TypeVar("S", bound=BaseModel)


@dataclass(frozen=True)
class Rows:
    """Rows of tokens as the corpus stores them, and the chance that one batch of them is given."""

    ids: np.ndarray
    """[B, L] int32, padded at the right with 0."""
    types: np.ndarray
    """[B, L] sentence numbers, 0 on padding; only the `depth` format has them."""
    lengths: np.ndarray
    """[B]: tokens of each row."""
    rng: np.random.Generator
    """All that is drawn comes from here, so that a resumed run sees the same batches."""
    shuffled: bool | None = None
    """Shuffle the sentences, or do not; None lets the objective's own coin decide."""
    fixed_length: bool = False
    """Pad to the objective's lengths instead of those of the longest row."""

    @property
    def inside(self) -> np.ndarray:
        """[B, L]: true where a row has a token."""
        import numpy as np

        return np.arange(self.ids.shape[1]) < self.lengths[:, None]


class PretrainingObjective(Generic[S]):
    """The base of the plugins: they say which stored format they read, and fill in `corrupt` and `loss`."""

    token_format: str

    def __init__(self, settings: S, vocabulary: Any, input_length: int, target_length: int) -> None:
        self.settings = settings
        self.vocabulary = vocabulary
        self.input_length = input_length
        self.target_length = target_length

    @classmethod
    def open_vocabulary(cls, tokenizer: Path) -> Any:
        """The objective's view of the ids in a tokenizer's folder."""
        return Vocabulary.load(tokenizer)

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
        """The batch of these rows (see `Rows` for the arguments): int64 arrays by name."""
        return self.corrupt(Rows(ids, types, lengths, rng, shuffled, fixed_length))

    def corrupt(self, rows: Rows) -> dict[str, np.ndarray]:
        """The batch, as `loss` reads it."""
        raise NotImplementedError

    def loss(self, model: Any, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """The scalar to minimise, and detached scalars: `loss_sum`, `count` and the plugin's other parts."""
        raise NotImplementedError
