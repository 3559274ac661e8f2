"""The items of a collection: what was asked, what the model answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
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


def score_rows(step: int, items: pyarrow.Table) -> Iterator[dict[str, Any]]:
    """Accuracy of one variant and that of its most frequent class, in percent, as rows of `scores.tsv`.

    `low` and `high` bound the 95 % bootstrap interval over items; `tokens` are those of the prompts.
    """
    from reprlab.evaluation.bootstrap import bootstrap_interval

    gold, predicted = items["label"].to_pylist(), items["prediction"].to_pylist()
    right = sum(one == other for one, other in zip(gold, predicted, strict=True))
    low, high = bootstrap_interval("accuracy", gold, predicted)
    values = {
        "model": (100 * right / len(gold), low, high),
        "majority": (100 * max(Counter(gold).values()) / len(gold), float("nan"), float("nan")),
    }
    tokens = sum(items["tokens"].to_pylist())
    for name, (value, low, high) in values.items():
        about = {"name": name, "step": step, "metric": "accuracy", "value": value, "low": low, "high": high}
        yield about | {"n": len(gold), "steps": step, "tokens": tokens}
