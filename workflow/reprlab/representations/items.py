"""The items of a collection: what was asked, what the model answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow


def item_table(
    variant: str, rows: Sequence[dict[str, Any]], labels: Sequence[str], logits: np.ndarray, tokens: Sequence[int]
) -> pyarrow.Table:
    """One row an item: variant, id, label, prediction (label of the largest logit), tokens, logits [labels]."""
    import pyarrow

    return pyarrow.table(
        {
            "variant": [variant] * len(rows),
            "id": [row["id"] for row in rows],
            "label": [row["label"] for row in rows],
            "prediction": [labels[choice] for choice in logits.argmax(1)],
            "tokens": pyarrow.array(tokens, pyarrow.int32()),
            "logits": pyarrow.array(logits.tolist(), pyarrow.list_(pyarrow.float32())),
        }
    )
