"""Scores of answers to pairs: precision, recall and F1 by task, with intervals, and malformed answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from reprlab.evaluation.resampling import percentiles, resample_sums
from reprlab.structure import formats, scorers
from reprlab.structure.seq2seq_settings import PairScoring, PairTask

MEASURES = ("precision", "recall", "f1")
UPSTREAM = "upstream_"
MODEL = "model"
COLUMNS = ["name", "task", "split", "metric", "value", "low", "high", "n", "seen", "steps", "tokens"]

Texts = Sequence[str]
Sums = tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]


def counts_of(task: PairTask, sources: Texts, gold: Texts, written: Texts) -> tuple[Sums, Sums, np.ndarray]:
    """Counts of each example with what makes scores of their sums: ours, upstream's; and malformed answers.

    Of restoration these are the excerpts whose words cannot be aligned, of tags the answers of another length, of
    boundaries those with other words.
    """
    if task == "restoration":
        own, malformed = scorers.restoration_counts(sources, written, gold)
        upstream, _ = scorers.restoration_counts(sources, written, gold, upstream=True)
    elif task == "sbd":
        own, malformed = scorers.boundary_counts(gold, written)
        sets = scorers.label_set_counts(gold, written).reshape(len(gold), -1)
        return (own, scorers.scores), (sets, _macro), malformed > 0
    elif task in formats.TAG_TASKS:
        own, malformed = scorers.tag_counts(gold, written)
        upstream, _ = scorers.tag_counts(gold, written, upstream=True)
    else:
        own, malformed = scorers.item_counts(task, gold, written)
        upstream, _ = scorers.item_counts(task, gold, written, upstream=True)
    return (own, scorers.scores), (upstream, scorers.scores), malformed > 0


def _macro(sums: np.ndarray) -> np.ndarray:
    return scorers.macro_scores(sums.reshape(*sums.shape[:-1], len(scorers.POSITIONS), len(scorers.COUNTS)))


def score_rows(
    task: PairTask, sources: Texts, gold: Texts, written: Texts, settings: PairScoring
) -> Iterator[dict[str, Any]]:
    """A row for each measure, ours and upstream's, in percent, and one for the share of malformed answers."""
    own, upstream, malformed = counts_of(task, sources, gold, written)
    n = len(gold)
    for prefix, (counts, finish) in (("", own), (UPSTREAM, upstream)):
        drawn = finish(resample_sums(counts, settings.resamples, settings.seed))
        values = finish(counts.sum(0))
        for place, measure in enumerate(MEASURES):
            low, high = percentiles(drawn[..., place], n)
            yield {"metric": prefix + measure, "value": values[place], "low": low, "high": high, "n": n}
    yield {"metric": "malformed", "value": 100 * malformed.mean(), "n": n}
