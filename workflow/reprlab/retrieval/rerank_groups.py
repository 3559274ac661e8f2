"""Groups of one relevant document and m others that a first stage found, and their batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reprlab.retrieval.bi_encoder import padded
from reprlab.retrieval.rerank_inputs import PairInputs, sequences
from reprlab.retrieval.trec import Judgements, Run, ordered

if TYPE_CHECKING:
    import numpy as np
    import torch


@dataclass(frozen=True)
class Group:
    """A query with documents, the relevant one first."""

    query: str
    documents: list[str]


def mine_groups(run: Run, judgements: Judgements, negatives: int, seed: int) -> list[Group]:
    """A group for each relevant document: `negatives` others of the query's run, drawn once without replacement.

    With replacement where there are fewer; a query whose run has no other document gives no group.
    """
    import numpy as np

    found = []
    for place, (query, grades) in enumerate(judgements.items()):
        relevant = [document for document, grade in grades.items() if grade > 0]
        others = [document for document in ordered(run.get(query, {})) if document not in relevant]
        for number, document in enumerate(relevant if others else []):
            rng = np.random.Generator(np.random.Philox(key=[seed, place * 1_000_003 + number]))
            drawn = rng.choice(len(others), negatives, replace=len(others) < negatives)
            found.append(Group(query, [document, *(others[index] for index in drawn.tolist())]))
    return found


def only_judged(run: Run, judgements: Judgements) -> Run:
    """The documents of a run that are relevant to some query."""
    relevant = {document for grades in judgements.values() for document, grade in grades.items() if grade > 0}
    return {query: {name: score for name, score in run[query].items() if name in relevant} for query in run}


@dataclass(frozen=True)
class GroupBatches:
    """Batches of groups: a pure function of their numbers."""

    groups: Sequence[Group]
    inputs: PairInputs
    pad: int

    def __call__(self, rows: np.ndarray, step: int) -> dict[str, torch.Tensor]:
        """Sequences [groups * (1 + m), L], their mask [groups * (1 + m), L], and the numbers of the groups."""
        import numpy as np
        import torch

        chosen = [self.groups[number] for number in rows.tolist()]
        ids = sequences(self.inputs, [(group.query, name, 0) for group in chosen for name in group.documents])
        tokens, mask = padded(ids, np.arange(len(ids)), self.pad)
        return {"input_ids": tokens, "attention_mask": mask, "groups": torch.from_numpy(rows)}
