"""Two sets of answers to the same documents: which of them scores higher, by the paired bootstrap over documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from reprlab.artifacts.tables import read_parquet
from reprlab.evaluation.paired_bootstrap import paired_bootstrap
from reprlab.evaluation.relation_scores import all_pair_scores, related_scores
from reprlab.events.documents import EventDocument
from reprlab.events.pairs import LabelledPairs
from reprlab.events.scoring import confusions
from reprlab.events.settings import ALL, RELATED, AnswerContrast, PairTask
from reprlab.runtime.errors import ReprlabError

# Scores of both regimes whose difference is told; p goes with the F1.
_SCORES = {RELATED: ("precision", "recall", "f1"), ALL: ("accuracy", "weighted_f1")}


def answer_tables(path: Path, seed: int, documents: Sequence[EventDocument], settings: PairTask) -> np.ndarray:
    """[documents, C * C] confusions over all pairs of each document; what was not answered has no relation.

    Raises:
        ReprlabError: the file has no answers of this seed, or a label that is not one of the settings.
    """
    table = read_parquet(path, ["seed", "document", "head", "tail", "predicted"]).to_pandas()
    table = table[table["seed"] == seed]
    numbers = {name: number for number, name in enumerate([settings.none, *settings.labels])}
    labels = table["predicted"].map(numbers)
    if table.empty or labels.isna().any():
        raise ReprlabError(f"{path}: no answers of seed {seed} with the labels {', '.join(numbers)}; delete it")
    answers = table.assign(label=labels.astype(int)).groupby("document")[["head", "tail", "label"]]
    named = {str(name): found.to_numpy() for name, found in answers}
    found = []
    for document in documents:
        rows = named.get(document.name, np.zeros((0, 3), dtype=np.int64))
        pairs = LabelledPairs(rows[:, :2], rows[:, 2])
        found.append(confusions(document, pairs, rows[:, 2], settings)[0].ravel())
    return np.array(found)


def contrast_rows(first: np.ndarray, second: np.ndarray, settings: AnswerContrast) -> list[dict[str, Any]]:
    """First less second under both regimes, with interval and p over documents."""
    classes = len(settings.labels) + 1
    rows = []
    for subset, scores in ((RELATED, related_scores), (ALL, all_pair_scores)):
        found = paired_bootstrap(first, second, partial(_of_sums, scores, classes), resamples=settings.resamples)
        about = {"split": "test", "subset": subset, "n": len(first)}
        for name in _SCORES[subset]:
            gap = found[name]
            rows.append({**about, "metric": f"{name}_gain", "value": gap.value, "low": gap.low, "high": gap.high})
            if name.endswith("f1"):
                rows.append({**about, "metric": f"{name}_p", "value": gap.p})
    return rows


def _of_sums(
    scores: Callable[[np.ndarray], dict[str, np.ndarray]], classes: int, sums: np.ndarray
) -> dict[str, np.ndarray]:
    return scores(sums.reshape(*sums.shape[:-1], classes, classes))
