"""Triples of anchor, positive and hard negative from examples of the kind `choice`, and batches of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reprlab.runtime.errors import ReprlabError
from reprlab.sentences.batch_plan import mixed_batches, plan_batches
from reprlab.sentences.settings import TextForm
from reprlab.sentences.texts import EncodedTexts, encode_texts

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Triples:
    """Triples of several data sets, one after another.

    Anchors, positives and negatives of triple i are the texts i, n + i and 2 n + i.
    """

    texts: EncodedTexts
    sizes: dict[str, int]

    @property
    def count(self) -> int:
        """n."""
        return len(self.texts) // 3

    def rows(self, batch_size: int, seed: int, turn: int, *, mixed: bool) -> np.ndarray:
        """[batches, batch_size] triples of one pass over all, in an order of its own."""
        key = seed * 1_000_003 + turn
        if mixed:
            return mixed_batches(self.count, batch_size, self.count // batch_size, key)
        plan = plan_batches(self.sizes, batch_size, key)
        first = dict(zip(self.sizes, np.cumsum([0, *self.sizes.values()]).tolist(), strict=False))
        return plan.rows + np.array([first[name] for name in plan.dataset])[:, None]

    def sample(self, batch_size: int, batches: int, seed: int) -> np.ndarray:
        """[batches, batch_size] triples over all data together, none twice."""
        return mixed_batches(self.count, batch_size, batches, seed)

    def batch(self, rows: np.ndarray) -> dict[str, torch.Tensor]:
        """The texts of some triples [3 B, L]: anchors, positives, negatives."""
        return self.texts.batch(np.concatenate([rows + part * self.count for part in range(3)]))


def read_triples(
    files: Sequence[Path],
    tokenizer: Any,
    form: TextForm,
    *,
    split: str,
    instructions: dict[str, list[str]],
    separator: str,
    both_sides: Sequence[str] = (),
    max_length: int | None = None,
    limit: int | None = None,
) -> Triples:
    """The triples of each file, named by its folder: question, right choice, first wrong choice.

    Anchors have an instruction (of several, each row takes the next), and of data sets named in `both_sides` the others
    too: L3Prune's text says so of symmetric ones, and its code does not.

    Raises:
        ReprlabError: a file has no such example, or one without a wrong choice.
    """
    import pyarrow.compute

    from reprlab.data.schema import read_rows
    from reprlab.data.splits import drawn

    sides: tuple[list[EncodedTexts], ...] = ([], [], [])
    sizes: dict[str, int] = {}
    for path in files:
        table, _ = read_rows(path, "choice")
        found = drawn(table.filter(pyarrow.compute.equal(table["split"], split)), limit).to_pylist()
        if not found:
            raise ReprlabError(f"{path}: no triple in the split {split}")
        name = path.parent.name
        sizes[name] = len(found)
        wrong = [[one for place, one in enumerate(row["choices"]) if place != row["answer"]] for row in found]
        if not all(wrong):
            raise ReprlabError(f"{path}: example {found[wrong.index([])]['id']} has no wrong choice, a hard negative")
        asked = [f"{one}{separator}" if one else "" for one in instructions.get(name) or [""]]
        others = asked if name in both_sides else [""]
        texts = (
            ([row["question"] for row in found], asked),
            ([row["choices"][row["answer"]] for row in found], others),
            ([one[0] for one in wrong], others),
        )
        for side, (one, turns) in zip(sides, texts, strict=True):
            side.append(_in_turn(tokenizer, one, form, turns, max_length))
    return Triples(EncodedTexts.joined([part for side in sides for part in side]), sizes)


def _in_turn(
    tokenizer: Any, texts: list[str], form: TextForm, turns: list[str], max_length: int | None
) -> EncodedTexts:
    """Texts that take the instructions in turn."""
    parts = [
        encode_texts(tokenizer, texts[turn :: len(turns)], form, ask, max_length) for turn, ask in enumerate(turns)
    ]
    order = np.argsort(np.concatenate([np.arange(turn, len(texts), len(turns)) for turn in range(len(turns))]))
    return EncodedTexts.joined(parts).chosen(order)
