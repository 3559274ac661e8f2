"""Documents with event mentions and their relations, and which of them are trained on and tested on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.data.schema import read_rows
from reprlab.runtime.errors import ReprlabError


@dataclass(frozen=True)
class EventDocument:
    """One document. Mentions are numbered in textual order; `relations` maps (head, tail) to the label."""

    name: str
    group: str
    split: str
    tokens: tuple[str, ...]
    sentence_starts: tuple[int, ...]
    triggers: tuple[tuple[int, ...], ...]
    chains: tuple[int, ...]
    relations: dict[tuple[int, int], str]

    def __len__(self) -> int:
        return len(self.triggers)

    @cached_property
    def sentences(self) -> tuple[tuple[int, int], ...]:
        """First token and end of each sentence."""
        return tuple(zip(self.sentence_starts, (*self.sentence_starts[1:], len(self.tokens)), strict=True))

    @cached_property
    def sentence_of(self) -> np.ndarray:
        """[mentions]: the sentence in which each trigger begins."""
        first = [trigger[0] for trigger in self.triggers]
        return np.searchsorted(np.asarray(self.sentence_starts), first, side="right") - 1

    @cached_property
    def related(self) -> np.ndarray:
        """[mentions, mentions] bool: whether any relation holds between the two, in either direction."""
        found = np.zeros((len(self), len(self)), dtype=bool)
        for head, tail in self.relations:
            found[head, tail] = found[tail, head] = True
        return found

    def around(self, mention: int) -> tuple[int, int]:
        """First token and end of the sentence in which a trigger begins, or of the trigger if that ends behind."""
        first, end = self.sentences[self.sentence_of[mention]]
        return first, max(end, max(self.triggers[mention]) + 1)

    @cached_property
    def words_in_common(self) -> np.ndarray:
        """[mentions, mentions] share of the words of both sentences that are in both, case aside (Jaccard)."""
        words = [{word.lower() for word in self.tokens[slice(*self.around(one))]} for one in range(len(self))]
        return np.array([[len(one & other) / len(one | other) for other in words] for one in words])

    def trigger(self, mention: int) -> str:
        """The text of a trigger."""
        return " ".join(self.tokens[token] for token in self.triggers[mention])

    def pairs(self, directed: bool) -> np.ndarray:
        """[pairs, 2] every pair of mentions: both orders where `directed`, else the earlier mention first."""
        first, second = np.triu_indices(len(self), 1)
        one = np.stack([first, second], axis=1)
        return np.concatenate([one, one[:, ::-1]]) if directed else one

    def labels(self, pairs: np.ndarray, numbers: dict[str, int], directed: bool) -> np.ndarray:
        """[pairs]: 0 for no relation, the number of the label, or -1 for a label that is not in `numbers`.

        Where not `directed`, a relation counts for its pair whichever end is its head.
        """
        found = np.zeros((len(self), len(self)), dtype=np.int64)
        for (head, tail), label in self.relations.items():
            found[head, tail] = numbers.get(label, -1)
            if not directed and not found[tail, head]:
                found[tail, head] = found[head, tail]
        return found[pairs[:, 0], pairs[:, 1]]


def load_events(path: Path) -> tuple[list[EventDocument], dict[str, Any]]:
    """Documents and metadata of a table of the kind `events`.

    Raises:
        ReprlabError: the file is not such a table.
    """
    table, about = read_rows(path, "events")
    return [event_document(row) for row in table.to_pylist()], about


def event_document(row: dict[str, Any]) -> EventDocument:
    """The document of a row of the kind `events`."""
    pairs = zip(row["heads"], row["tails"], strict=True)
    return EventDocument(
        row["id"],
        row["group"],
        row["split"],
        tuple(row["tokens"]),
        tuple(row["sentence_starts"]),
        tuple(tuple(map(int, trigger.split("_"))) for trigger in row["triggers"]),
        tuple(row["chains"]),
        dict(zip(pairs, row["relations"], strict=True)),
    )


def split_events(documents: Sequence[EventDocument], folds: int, fold: int) -> dict[str, list[EventDocument]]:
    """Documents of each split: those of the data, or its training part folded by group.

    Groups are sorted (numbers as numbers) and cut into `folds` runs, so that no group (topic) is on both sides. Where
    `folds` is 0, the data has a test split of its own.

    Raises:
        ReprlabError: a split is empty, or there are fewer groups than folds.
    """
    parts: dict[str, list[EventDocument]] = {"train": [], "validation": [], "test": []}
    for document in documents:
        parts[document.split].append(document)
    if folds:
        groups = sorted({document.group for document in parts["train"]}, key=_natural)
        if parts["test"] or len(groups) < folds or not 0 <= fold < folds:
            raise ReprlabError(
                f"folds: fold {fold} of {folds} over {len(groups)} groups beside {len(parts['test'])} test documents "
                "cannot be made; set folds to 0 for data with a test split of its own"
            )
        held_out = {str(group) for group in np.array_split(np.array(groups), folds)[fold]}
        parts["test"] = [document for document in parts["train"] if document.group in held_out]
        parts["train"] = [document for document in parts["train"] if document.group not in held_out]
    for name, found in parts.items():
        if not found:
            raise ReprlabError(f"events: no document is in the {name} split")
    return parts


def _natural(group: str) -> tuple[int, str]:
    return (int(group), "") if group.isdecimal() else (10**9, group)
